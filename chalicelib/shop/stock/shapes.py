"""The documents of stock as they are stored.

At every instant `available` and what is held make `on_hand`, and none of them is negative.
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


class Entry(TypedDict):
    """Units of a SKU that a cart holds until an instant. An `order` keeps them until it is decided.

    The cart has held some of the SKU `since` then. `source` is a keyed digest of the network that
    asked for it. Entries of earlier releases have neither.
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
    carted: Annotated[list[Entry], AtMost(MAX_EMBEDDED)]
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


class Movement(TypedDict):
    """Units that came in, were returned or were corrected; `_id` is `stock:key`.

    `counted` is what a count found, for a movement that corrects the stock to it.
    """

    _id: str
    stock: str
    by: int
    counted: int | None
    reason: str
    ts: datetime


class Claim(NamedTuple):
    """Units of a stock that a cart, or its order, is to hold.

    A cart's claim of a share holds `most` units at most, and as many as carts may hold together if
    they hold so many `percent` of a stock.
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
    Movement,
    indexes=(IndexModel([("stock", ASCENDING), ("_id", ASCENDING)]),),
    shard_key={"stock": 1, "_id": 1},
)


def entry_of(claim: Claim, qty: int) -> Entry:
    """Return the entry of a claim that holds so many units."""
    entry = Entry(cart=claim.cart, qty=qty, until=claim.until, order=claim.order)
    if claim.since is not None:
        entry["since"] = claim.since
    if claim.source is not None:
        entry["source"] = claim.source
    return entry


def find(database: Database[Document], stock_id: str) -> Stock | None:
    """Return a stock, or None if nothing was ever put on its shelf."""
    return STOCKS.of(database).find_one({"_id": stock_id})
