"""The collection of orders, and the states of an order.

    holding ──all held──▶ paying ──succeeded──▶ paid ──sold──▶ done
       └──▶ refused          └──failed, cancelled──▶ declined
                └───────────────released────────────────┴──▶ void

Every change of state is one write on the condition of the former state.
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
from chalicelib.webhooks.rows import DUE_EVENTS, DueEvents

State = Literal["holding", "paying", "paid", "declined", "refused", "done", "void"]
# The states of orders that are over.
ENDED: tuple[State, ...] = ("done", "void")


class OrderLine(TypedDict):
    """Units of one SKU; `title` and `price_micros` (of one unit) are those of the checkout.

    `paid_micros`: the price of all units with their share of discounts and taxes, without shipping.
    Orders of earlier releases lack it.
    """

    sku: str
    title: str
    qty: int
    price_micros: int
    paid_micros: NotRequired[int]


class Address(TypedDict):
    """The destination of an order."""

    name: str
    street: str
    postal_code: str
    city: str
    region: str | None
    country: str


class Order(TypedDict):
    """An order. `due`: the time of its next sweep; absent without a next sweep.

    At `deadline` the sweep cancels a pending payment. `reason`: the cause of an end without
    payment: `out_of_stock:SKU`, `abandoned`, `declined` or `cancelled`.
    `sent`: the time of sending. `erased`: a claim of the cart does not set `user` again.
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
    erased: NotRequired[bool]
    due: NotRequired[datetime]
    due_events: NotRequired[DueEvents]


_NEWEST = (("at", DESCENDING), ("_id", DESCENDING))
ORDERS = Collection(
    "shop.order",
    Order,
    indexes=(
        IndexModel([("site", ASCENDING), *_NEWEST]),
        IndexModel([("site", ASCENDING), ("state", ASCENDING), *_NEWEST]),
        IndexModel([("user", ASCENDING), *_NEWEST], partialFilterExpression={"user": {"$gt": ""}}),
        # For the claim of a cart.
        IndexModel([("cart", ASCENDING)]),
        # For forgetting old addresses.
        IndexModel([("at", ASCENDING)], partialFilterExpression={"email": {"$gt": ""}}),
        # For the sweep: small, without finished orders.
        IndexModel([("due", ASCENDING)], partialFilterExpression={"due": {"$exists": True}}),
        DUE_EVENTS,
    ),
    shard_key={"_id": "hashed"},
)


def find(database: Database[Document], order_id: str) -> Order | None:
    """Return an order. None: unknown."""
    return ORDERS.of(database).find_one({"_id": order_id})


def charge_of(order: Order) -> Charge:
    """Return an order's charge for the provider; its e-mail is empty after an erasure."""
    return Charge(order["_id"], order["total_micros"], order["currency"], order["email"] or "")
