"""The collections of stock.

At every instant, `available` and the held units add up to `on_hand`, and none is negative.
"""

from datetime import datetime
from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

StoreName = Literal["embedded", "documents"]
# Entries within a stock's document (decision 0148).
MAX_EMBEDDED = 128


class StockEntry(TypedDict):
    """Units of a SKU that a cart holds `until` an instant; an `order` holds them until its end.

    `since` is the cart's first hold of the SKU, `source` a keyed digest of the buyer's network.
    Entries of earlier releases lack both.
    """

    cart: str
    qty: int
    until: datetime
    order: str | None
    since: NotRequired[datetime]
    source: NotRequired[str]


class Stock(TypedDict):
    """The stock of a SKU, `site:sku`; `version` rises with each write of the store `documents`."""

    _id: str
    on_hand: int
    available: int
    store: StoreName
    carted: Annotated[list[StockEntry], AtMost(MAX_EMBEDDED)]
    version: int


class HoldId(TypedDict):
    """A stock and a cart."""

    stock: str
    cart: str


class StoredHold(TypedDict):
    """An entry in the store `documents`."""

    _id: HoldId
    qty: int
    until: datetime
    order: str | None
    since: NotRequired[datetime]
    source: NotRequired[str]


class StockMovement(TypedDict):
    """A stored change of a stock by some units; `_id` is `stock:key`.

    `counted` is the result of a count. None: no count.
    """

    _id: str
    stock: str
    by: int
    counted: int | None
    reason: str
    ts: datetime


class StockClaim(NamedTuple):
    """Units of a stock for a cart, or for its order.

    Limits of a cart's share: at most `most` units, and within `percent` of the stock (`shares`).
    """

    stock: str
    cart: str
    qty: int
    until: datetime
    order: str | None = None
    since: datetime | None = None
    source: str | None = None
    most: int = 0
    percent: int = 100


STOCKS = Collection("shop.stock", Stock, indexes=(IndexModel([("carted.until", ASCENDING)]),))
HOLDS = Collection(
    "shop.hold",
    StoredHold,
    indexes=(
        IndexModel([("until", ASCENDING)]),
        IndexModel([("_id.stock", ASCENDING), ("until", ASCENDING)]),
    ),
    shard_key={"_id.stock": 1},
)
MOVEMENTS = Collection(
    "shop.movement",
    StockMovement,
    indexes=(IndexModel([("stock", ASCENDING), ("_id", ASCENDING)]),),
    shard_key={"stock": 1, "_id": 1},
)


def entry_of(claim: StockClaim, qty: int) -> StockEntry:
    """Return the entry of a claim that holds so many units."""
    entry = StockEntry(cart=claim.cart, qty=qty, until=claim.until, order=claim.order)
    if claim.since is not None:
        entry["since"] = claim.since
    if claim.source is not None:
        entry["source"] = claim.source
    return entry


def find(database: Database[Document], stock_id: str) -> Stock | None:
    """Return a stock. None: it never had units."""
    return STOCKS.of(database).find_one({"_id": stock_id})
