"""The stored shapes and collections of stock.

At every instant, `available` plus the held units equals `on_hand`; no number is negative.
"""

from datetime import datetime
from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

StoreName = Literal["embedded", "documents"]
# The most entries that a stock's document embeds (decision 0148).
MAX_EMBEDDED = 128


class StockEntry(TypedDict):
    """A cart's hold on units of a SKU.

    - `until`: the end of a cart's hold; an order's hold lasts until the order ends
    - `order`: the id of the order that holds the units; None: the cart alone holds them
    - `since`: the time of the cart's first hold of the SKU
    - `source`: a keyed digest of the buyer's network

    Entries of earlier releases lack `since` and `source`.
    """

    cart: str
    qty: int
    until: datetime
    order: str | None
    since: NotRequired[datetime]
    source: NotRequired[str]


class Stock(TypedDict):
    """The stock of a SKU; `_id` is `site:sku`.

    Movements, moves between the stores, and most writes of the store `documents` raise
    `version`, so that two concurrent transactions conflict.
    """

    _id: str
    on_hand: int
    available: int
    store: StoreName
    carted: Annotated[list[StockEntry], AtMost(MAX_EMBEDDED)]
    version: int


class HoldId(TypedDict):
    """The id of a hold in the store `documents`: a stock and a cart."""

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
    """A stored movement of a stock; `_id` is `stock:key`, `by` the change in units.

    `counted` is the publisher's count. None: the publisher sent a change, not a count.
    """

    _id: str
    stock: str
    by: int
    counted: int | None
    reason: str
    ts: datetime


class StockClaim(NamedTuple):
    """A request to hold `qty` units of a stock for a cart, or for its order.

    `share` holds at most `most` units, and no more than `shares.shares_of` allows with `percent`.
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
    """Return the entry of a claim, with `qty` units in place of the claim's own number."""
    entry = StockEntry(cart=claim.cart, qty=qty, until=claim.until, order=claim.order)
    if claim.since is not None:
        entry["since"] = claim.since
    if claim.source is not None:
        entry["source"] = claim.source
    return entry


def find(database: Database[Document], stock_id: str) -> Stock | None:
    """Return a stock. None: the SKU never had a movement."""
    return STOCKS.of(database).find_one({"_id": stock_id})
