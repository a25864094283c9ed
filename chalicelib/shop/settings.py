"""The settings of shops, stored by site; almost every call reads them."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import AfterValidator, ConfigDict, Field
from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.database import Collection, Document
from chalicelib.http import Input
from chalicelib.memory import remember
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import CurrencyFixed, UnknownShop
from chalicelib.shop.money import Currency
from chalicelib.texts import Url

HOLD_PERCENT = 50
_ORDER = "{order}"


def _check_order(url: str) -> str:
    if _ORDER not in url:
        raise ValueError("the address must have {order} in place of the id")
    return url


OrderPage = Annotated[Url, AfterValidator(_check_order)]


class ShopSettings(Input):
    """How a shop sells."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"currency": "EUR"}]})

    currency: Currency
    hold_seconds: int = Field(
        900,
        ge=60,
        le=7_200,
        description="How long a cart holds its lines. It renews a hold to twice as long at most.",
    )
    hold_percent: int = Field(
        HOLD_PERCENT,
        ge=1,
        le=100,
        description="The share of a SKU's units, at least one, that carts hold together without an "
        "order. The carts of one network hold this share of it at most, and one cart this share of "
        "that: of 50, a half, a quarter and an eighth. Units beyond that are in the cart and not "
        "held. 100 is for shops that trust their visitors.",
    )
    payments: Literal["fake", "stripe"] = Field(
        "fake", description="Who takes the money: `fake` takes none."
    )
    order_page: OrderPage | None = Field(
        None,
        description="The address of an order's page, with `{order}` for its id. With it, buyers "
        "with an account are notified of their orders.",
        examples=["https://harbour-shop.example/orders/{order}"],
    )


LayoutName = Literal["details", "attributes"]


class ShopSite(TypedDict):
    """A shop's settings as stored; `layout` is the layout of its products' details.

    `is_rewriting`: some products may still have the former layout. `layout_chosen`: the time of the
    change to the current layout.
    """

    _id: str
    currency: str
    hold_seconds: int
    payments: Literal["fake", "stripe"]
    layout: LayoutName
    is_rewriting: NotRequired[bool]
    layout_chosen: NotRequired[datetime]
    hold_percent: NotRequired[int]
    order_page: NotRequired[str | None]


SITES = Collection("shop.site", ShopSite)


def put(database: Database[Document], site: str, given: ShopSettings) -> ShopSite:
    """Store a shop's settings and return them; raises CurrencyFixed if its currency differs."""
    this = {"_id": site, "currency": given.currency}
    change = {
        "$set": given.model_dump(exclude={"currency"}),
        "$setOnInsert": {"layout": "details"},
    }
    rows, after = SITES.of(database), ReturnDocument.AFTER
    try:
        found = rows.find_one_and_update(this, change, upsert=True, return_document=after)
    except DuplicateKeyError:
        # The shop has another currency, or another call has just opened it with this one.
        found = rows.find_one_and_update(this, change, return_document=after)
    if found is None:
        raise CurrencyFixed
    return found


def find(database: Database[Document], site: str, session: ClientSession | None = None) -> ShopSite:
    """Return a shop's settings; raises UnknownShop."""
    found = SITES.of(database).find_one({"_id": site}, session=session)
    if found is None:
        raise UnknownShop
    return found


@remember(seconds=5)
def recall(runtime: Runtime, site: str) -> ShopSite:
    """Return a shop's settings, up to five seconds old; raises UnknownShop."""
    return find(runtime.database, site)


def hold_percent(shop: ShopSite) -> int:
    """Return the percentage of a SKU's units that carts may hold without an order.

    50 for a shop that an earlier release stored.
    """
    return shop.get("hold_percent", HOLD_PERCENT)


def order_url(shop: ShopSite, order_id: str) -> str | None:
    """Return the address of an order's page; None: the shop has none."""
    page = shop.get("order_page")
    return page.replace(_ORDER, order_id) if page else None
