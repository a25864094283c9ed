"""Carts in the API. The id of a guest's cart grants its use, so no log contains the id."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from chalicelib.http import Created, Input, Ok, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.http.paging import Cursors, page_of
from chalicelib.identity import Principal
from chalicelib.ids import Id
from chalicelib.limits import CARTS
from chalicelib.shop import settings
from chalicelib.shop.carts import carts, holds, lines
from chalicelib.shop.carts.hold_forms import FreedAnswer, FreeQuery, HoldsAnswer, HoldsQuery
from chalicelib.shop.carts.shapes import MAX_LINES, MAX_QTY, Cart, CartId, Line, State
from chalicelib.shop.carts.sources import buyer_of
from chalicelib.shop.errors import (
    CartClosed,
    CartFull,
    NotForSale,
    OutOfStock,
    UnknownCart,
    UnknownShop,
    UnknownSku,
)
from chalicelib.shop.ids import SkuId
from chalicelib.shop.money import Currency
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher
from chalicelib.texts import ShownLine


class NewCart(Input):
    """A cart of a site."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"site": "harbour-post"}]})

    site: SiteId


class LineQty(Input):
    """How many of a SKU a cart is to have."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"qty": 2}]})

    qty: int = Field(
        ge=1,
        le=MAX_QTY,
        strict=True,
        description="All there are of it in the cart then, and not how many are added.",
    )


class MergedCart(Input):
    """The cart whose lines another cart takes."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"source": "dGhpcyBpcyBhIGNhcnQhIQ"}]}
    )

    source: CartId


class LineAnswer(TypedDict):
    """A line of a cart."""

    sku: SkuId
    title: ShownLine
    qty: int
    price_micros: Annotated[int, Field(description="Of one, when the line was written.")]
    until: datetime
    held: Annotated[
        int,
        Field(ge=0, description="Units of it that are held: others check out before them alone."),
    ]
    lapsed: Annotated[
        bool, Field(description="Whether none of it is held; the checkout holds it if it can.")
    ]


class CartAnswer(TypedDict):
    """A cart."""

    id: CartId
    site: SiteId
    state: State
    lines: Annotated[list[LineAnswer], Field(max_length=MAX_LINES)]
    lines_micros: Annotated[int, Field(description="What its lines cost.")]
    currency: Currency
    order: Annotated[
        Annotated[str, Id] | None,
        Field(description="The order that it is checked out with, or became."),
    ]


def cart_answer(cart: Cart, currency: str, now: datetime) -> CartAnswer:
    """Return a cart as the API shows it."""
    by_sku = sorted(cart["lines"].items())
    is_open = cart["state"] == "open"
    held = {sku: _held_units(cart, line, now) for sku, line in by_sku}
    return {
        "id": cart["_id"],
        "site": cart["site"],
        "state": cart["state"],
        "lines": [
            {
                "sku": sku,
                "title": line["title"],
                "qty": line["qty"],
                "price_micros": line["price_micros"],
                "until": line["until"],
                "held": held[sku],
                "lapsed": is_open and not held[sku],
            }
            for sku, line in by_sku
        ],
        "lines_micros": sum(line["qty"] * line["price_micros"] for _, line in by_sku),
        "currency": currency,
        "order": None if is_open else cart["order"],
    }


def _held_units(cart: Cart, line: Line, now: datetime) -> int:
    """Return the held units of a line; in a checkout, all its units."""
    if cart["state"] == "checkout":
        return line["qty"]
    is_held = cart["state"] == "open" and line["until"] > now
    return line.get("held", line["qty"]) if is_held else 0


_SECRET = ("cart",)


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_carts(route)
    _declare_lines(route)
    _declare_merge(route)
    _declare_renewal(route)
    _declare_holds(route)


def _declare_carts(route: Route) -> None:
    @route("POST", "/carts", limit=CARTS, raises=(UnknownShop,))
    def open_cart(request: Request, caller: Principal | None, body: NewCart) -> Created[CartAnswer]:
        """Open an empty cart of the caller; the id of a guest's cart alone grants its use."""
        cart = carts.open_cart(request.runtime, body.site, caller.id if caller else None)
        return Created(_answer(request, cart))

    @route("GET", "/carts/{cart}", raises=(UnknownCart,))
    def get_cart(request: Request, cart: CartId, caller: Principal | None) -> Ok[CartAnswer]:
        """Read a cart; `lapsed` marks a line without a hold. A claimed cart is its user's alone."""
        user = caller.id if caller else None
        return Ok(_answer(request, carts.find_for(request.runtime.database, cart, user)))


def _declare_lines(route: Route) -> None:
    @route(
        "PUT",
        "/carts/{cart}/lines/{sku}",
        secrets=_SECRET,
        raises=(UnknownCart, CartClosed, CartFull, UnknownSku, NotForSale, OutOfStock),
    )
    def put_line(
        request: Request, cart: CartId, sku: SkuId, caller: Principal | None, body: LineQty
    ) -> Ok[CartAnswer]:
        """Put this many of a SKU into a cart, which holds its share of them for a time.

        `qty` is the new quantity, so a repeated call changes nothing. `held` counts the held units.
        A checkout can buy the other units, too, unless another buyer is faster.
        """
        buyer = buyer_of(request, caller)
        return Ok(_answer(request, lines.put(request.runtime, cart, sku, body.qty, buyer)))

    @route(
        "DELETE",
        "/carts/{cart}/lines/{sku}",
        secrets=_SECRET,
        raises=(UnknownCart, CartClosed),
    )
    def delete_line(
        request: Request, cart: CartId, sku: SkuId, caller: Principal | None
    ) -> Ok[CartAnswer]:
        """Take a SKU out of a cart."""
        buyer = buyer_of(request, caller)
        return Ok(_answer(request, lines.remove(request.runtime, cart, sku, buyer)))


def _declare_merge(route: Route) -> None:
    @route(
        "POST",
        "/carts/{cart}/merge",
        secrets=_SECRET,
        raises=(UnknownCart, CartClosed),
    )
    def merge_carts(
        request: Request, cart: CartId, caller: Principal | None, body: MergedCart
    ) -> Ok[CartAnswer]:
        """Move the lines of another cart of yours into a cart, such as those of before a sign-in.

        Of a SKU in both, the larger quantity counts, so a repeated call changes nothing. A line
        that this cart cannot take stays in the other, such as a line of a SKU that is sold out.
        """
        buyer = buyer_of(request, caller)
        return Ok(_answer(request, lines.merge(request.runtime, cart, body.source, buyer)))


def _declare_renewal(route: Route) -> None:
    @route(
        "POST",
        "/carts/{cart}/hold",
        secrets=_SECRET,
        raises=(UnknownCart, CartClosed, OutOfStock),
    )
    def hold_cart(request: Request, cart: CartId, caller: Principal | None) -> Ok[CartAnswer]:
        """Renew the holds of all lines, up to twice the shop's hold time after each first hold.

        If orders have a line's units, the call holds the other lines, and its error names the SKU.
        """
        buyer = buyer_of(request, caller)
        return Ok(_answer(request, lines.hold_all(request.runtime, cart, buyer)))


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
        shown, last = page_of(found, query.limit)
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
    shop = settings.recall(request.runtime, cart["site"])
    return cart_answer(cart, shop["currency"], request.runtime.now())
