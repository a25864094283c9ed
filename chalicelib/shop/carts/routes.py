"""The routes of carts. A cart's id is what lets its caller use it, so no log has it."""

from chalicelib.http import Created, Ok, Request, Route
from chalicelib.identity import Principal
from chalicelib.limits import CARTS
from chalicelib.shop.carts import carts, lines
from chalicelib.shop.carts.answers import CartAnswer, cart_answer
from chalicelib.shop.carts.errors import CartClosed, CartFull, NotForSale, UnknownCart
from chalicelib.shop.carts.ids import CartId
from chalicelib.shop.carts.models import LineQty, NewCart
from chalicelib.shop.carts.shapes import Cart
from chalicelib.shop.errors import UnknownShop
from chalicelib.shop.ids import SkuId
from chalicelib.shop.sites import settings
from chalicelib.shop.stock.errors import OutOfStock, UnknownSku

_SECRET = ("cart",)


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_carts(route)
    _declare_lines(route)


def _declare_carts(route: Route) -> None:
    @route("POST", "/carts", limit=CARTS, raises=(UnknownShop,))
    def open_cart(request: Request, caller: Principal | None, body: NewCart) -> Created[CartAnswer]:
        """Open an empty cart. Whoever has its id may use it."""
        cart = carts.open_cart(request.runtime, body.site, caller.id if caller else None)
        return Created(_answer(request, cart))

    @route("GET", "/carts/{cart}", raises=(UnknownCart,))
    def get_cart(request: Request, cart: CartId) -> Ok[CartAnswer]:
        """Read a cart; a line that is held no more says so."""
        return Ok(_answer(request, carts.find(request.runtime.database, cart)))


def _declare_lines(route: Route) -> None:
    @route(
        "PUT",
        "/carts/{cart}/lines/{sku}",
        secrets=_SECRET,
        raises=(UnknownCart, CartClosed, CartFull, UnknownSku, NotForSale, OutOfStock),
    )
    def put_line(request: Request, cart: CartId, sku: SkuId, body: LineQty) -> Ok[CartAnswer]:
        """Have a cart hold this many of a SKU, for as long as the shop says.

        The call says how many there are in the cart, so that it may be repeated.
        """
        return Ok(_answer(request, lines.put(request.runtime, cart, sku, body.qty)))

    @route(
        "DELETE",
        "/carts/{cart}/lines/{sku}",
        secrets=_SECRET,
        raises=(UnknownCart, CartClosed),
    )
    def delete_line(request: Request, cart: CartId, sku: SkuId) -> Ok[CartAnswer]:
        """Take a SKU out of a cart."""
        return Ok(_answer(request, lines.remove(request.runtime, cart, sku)))

    @route(
        "POST",
        "/carts/{cart}/hold",
        secrets=_SECRET,
        raises=(UnknownCart, CartClosed, OutOfStock),
    )
    def hold_cart(request: Request, cart: CartId) -> Ok[CartAnswer]:
        """Hold all lines from now on.

        If one cannot be held, the others are, and the answer says which and how many there are.
        """
        return Ok(_answer(request, lines.hold_all(request.runtime, cart)))


def _answer(request: Request, cart: Cart) -> CartAnswer:
    shop = settings.find(request.runtime.database, cart["site"])
    return cart_answer(cart, shop["currency"], request.runtime.now())
