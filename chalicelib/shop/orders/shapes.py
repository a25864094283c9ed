"""Orders as they are stored.

    holding ──all held──▶ paying ──succeeded──▶ paid ──sold──▶ done
       └──▶ refused          └──failed, cancelled──▶ declined
                └───────────────released────────────────┴──▶ void

Every change of state is one write that is conditional on the state before it.
"""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.shop.carts.shapes import MAX_LINES
from chalicelib.shop.payments.port import Charge, Name
from chalicelib.shop.pricing import MAX_ADJUSTMENTS, Adjustment

State = Literal["holding", "paying", "paid", "declined", "refused", "done", "void"]


class OrderLine(TypedDict):
    """Units of one SKU, at the price of that day.

    `paid_micros` was paid for all of them: their price with their share of discounts and taxes.
    Orders of earlier releases have it not.
    """

    sku: str
    title: str
    qty: int
    price_micros: int
    paid_micros: NotRequired[int]


class Address(TypedDict):
    """Where an order goes."""

    name: str
    street: str
    postal_code: str
    city: str
    region: str | None
    country: str


class Order(TypedDict):
    """An order. While it is unfinished, `due` is when the sweep has it next.

    From `deadline` on its payment is cancelled if it was not made. `reason` says why it was let
    go: `out_of_stock:SKU`, `abandoned`, or what the provider said.
    """

    _id: str
    cart: str
    site: str
    user: str | None
    state: State
    lines: Annotated[list[OrderLine], AtMost(MAX_LINES)]
    adjustments: Annotated[list[Adjustment], AtMost(MAX_ADJUSTMENTS)]
    total_micros: int
    currency: str
    provider: Name
    email: str | None
    address: Address | None
    at: datetime
    deadline: datetime | None
    reason: str | None
    sent: datetime | None
    due: NotRequired[datetime]


_NEWEST = (("at", DESCENDING), ("_id", DESCENDING))
ORDERS = Collection(
    "shop.order",
    Order,
    indexes=(
        IndexModel([("site", ASCENDING), *_NEWEST]),
        IndexModel([("site", ASCENDING), ("state", ASCENDING), *_NEWEST]),
        IndexModel([("user", ASCENDING), *_NEWEST], partialFilterExpression={"user": {"$gt": ""}}),
        # Addresses whose time is over.
        IndexModel([("at", ASCENDING)], partialFilterExpression={"email": {"$gt": ""}}),
        # The sweep: small, as finished orders are not in it.
        IndexModel([("due", ASCENDING)], partialFilterExpression={"due": {"$exists": True}}),
    ),
    shard_key={"_id": "hashed"},
)


def find(database: Database[Document], order_id: str) -> Order | None:
    """Return an order as it is now."""
    return ORDERS.of(database).find_one({"_id": order_id})


def charge_of(order: Order) -> Charge:
    """Return what an order asks its buyer for."""
    return Charge(order["_id"], order["total_micros"], order["currency"], order["email"] or "")
