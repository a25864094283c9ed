"""The routes of carts. A cart's id is what lets its caller use it, so no log has it."""

from chalicelib.http import Created, Ok, Request, Route
from chalicelib.http.paging import Cursors, paged
from chalicelib.identity import Principal
from chalicelib.limits import CARTS
from chalicelib.shop.carts import carts, holds, lines
from chalicelib.shop.carts.answers import CartAnswer, cart_answer
from chalicelib.shop.carts.errors import CartClosed, CartFull, NotForSale, UnknownCart
from chalicelib.shop.carts.hold_forms import FreedAnswer, FreeQuery, HoldsAnswer, HoldsQuery
from chalicelib.shop.carts.ids import CartId
from chalicelib.shop.carts.models import LineQty, NewCart
from chalicelib.shop.carts.shapes import Cart
from chalicelib.shop.carts.sources import source_of
from chalicelib.shop.errors import UnknownShop
from chalicelib.shop.ids import SkuId
from chalicelib.shop.sites import settings
from chalicelib.shop.stock.errors import OutOfStock, UnknownSku
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import Publisher, check_publisher

_SECRET = ("cart",)


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_carts(route)
    _declare_lines(route)
    _declare_holds(route)


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
        """Put this many of a SKU into a cart, which holds its share of them for a time.

        The call says how many there are in the cart, so that it may be repeated. `held` says how
        many are held. The others can be checked out, too, unless somebody else does so before.
        """
        source = source_of(request)
        return Ok(_answer(request, lines.put(request.runtime, cart, sku, body.qty, source)))

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
        """Hold all lines from now on, to twice the shop's time from their first hold at most.

        If a line was sold, the others are held, and the answer says which and how many there are.
        """
        return Ok(_answer(request, lines.hold_all(request.runtime, cart, source_of(request))))


def _declare_holds(route: Route) -> None:
    @route("GET", "/shops/{site}/holds")
    def list_holds(
        request: Request, site: SiteId, publisher: Publisher, query: HoldsQuery
    ) -> Ok[HoldsAnswer]:
        """List the SKUs that carts and unpaid orders hold, with the carts that hold most."""
        check_publisher(publisher, site)
        cursors = Cursors(f"holds:{site}", request.runtime.settings.signing_keys)
        after = cursors.position(query)
        behind = str(after[0]) if after else ""
        found = holds.page(request.runtime, site, behind, query.limit + 1)
        shown, last = paged(found, query.limit)
        following = cursors.following([last["sku"]] if last else None)
        return Ok({"holds": [*shown], "next": following})

    @route("DELETE", "/shops/{site}/holds")
    def end_holds(
        request: Request, site: SiteId, publisher: Publisher, query: FreeQuery
    ) -> Ok[FreedAnswer]:
        """End the holds of carts: of the whole shop, of one SKU, or of one cart.

        The lines stay in the carts, which hold these SKUs no more. Unpaid orders keep theirs.
        """
        check_publisher(publisher, site)
        return Ok(holds.free(request.runtime, site, query.sku, query.cart))


def _answer(request: Request, cart: Cart) -> CartAnswer:
    shop = settings.find(request.runtime.database, cart["site"])
    return cart_answer(cart, shop["currency"], request.runtime.now())
