"""The collection of payments: one document for each order, with its refunds and disputes."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.shop.payments.port import DisputeState, Name, Status
from chalicelib.webhooks.rows import DUE_EVENTS, DueEvents

MAX_REFUNDS = 100
# A payment stores the newest; `disputed_micros` counts all.
MAX_DISPUTES = 20

RefundState = Literal["owed", "made", "done", "refused", "failed"]


class Refund(TypedDict):
    """A refund; `units` are its units by SKU, `again` counts its repetitions.

    A repetition follows the state `refused` or `failed`, with a new key at the provider. A call
    that only continues an `owed` refund is no repetition.

    `whole`: a refund of all that was left, adjustments included. `at`: the time of its record.
    `asked`: the time of its last repetition. Its states:

        owed     Plaza has recorded it; next, call the provider
        made     the provider has paid; next, restock; do not call the provider again, which may
                 have forgotten the key
        done     finished
        refused  the provider did not accept it
        failed   the provider accepted it, and the money came back
    """

    key: str
    amount_micros: int
    units: dict[str, int]
    whole: bool
    restock: bool
    state: RefundState
    at: datetime
    again: NotRequired[int]
    asked: NotRequired[datetime]


class Dispute(TypedDict):
    """A dispute: the buyer's bank takes a payment back, or asks about it."""

    id: str
    amount_micros: int
    state: DisputeState
    at: datetime


class OrderPayment(TypedDict):
    """An order's payment. `refunded_micros`: Plaza's refunds, owed ones included.

    `owed`: the time of the next sweep of its unfinished refunds. `elsewhere_micros`: refunds made
    without Plaza. `disputed_micros`: the money of opened and lost disputes. `version` rises with
    each change of refunds or sums. A new payment has only `refunded_micros` of these.
    """

    _id: str
    provider: Name
    intent: str
    client_secret: str | None
    redirect_url: str | None
    status: Status
    amount_micros: int
    refunded_micros: int
    refunds: Annotated[list[Refund], AtMost(MAX_REFUNDS)]
    owed: NotRequired[datetime]
    elsewhere_micros: NotRequired[int]
    disputed_micros: NotRequired[int]
    disputes: NotRequired[Annotated[list[Dispute], AtMost(MAX_DISPUTES)]]
    version: NotRequired[int]
    due_events: NotRequired[DueEvents]


PAYMENTS = Collection(
    "shop.payment",
    OrderPayment,
    indexes=(
        IndexModel([("owed", ASCENDING)], partialFilterExpression={"owed": {"$exists": True}}),
        DUE_EVENTS,
        # For hints that name a payment alone, as of refunds in the provider's dashboard.
        IndexModel([("intent", ASCENDING)]),
    ),
    shard_key={"_id": "hashed"},
)


def find(database: Database[Document], order_id: str) -> OrderPayment | None:
    """Return an order's payment. None: it never started."""
    return PAYMENTS.of(database).find_one({"_id": order_id})


def version_filter(payment: OrderPayment) -> Document:
    """Return the filter that finds a payment only while its refunds and sums are as read."""
    return {
        "_id": payment["_id"],
        "version": payment.get("version"),
        "refunded_micros": payment["refunded_micros"],
        "refunds": {"$size": len(payment["refunds"])},
    }


def provider_key(refund: Refund) -> str:
    """Return a refund's key at the provider: it stays until the refund is owed again."""
    again = refund.get("again", 0)
    return f"{refund['key']}.{again}" if again else refund["key"]


def left_micros(payment: OrderPayment) -> int:
    """Return the money left for refunds, in micros: paid, less refunds and disputes; at least 0."""
    moved = payment.get("elsewhere_micros", 0) + payment.get("disputed_micros", 0)
    return max(payment["amount_micros"] - payment["refunded_micros"] - moved, 0)


def note_status(database: Database[Document], order_id: str, status: Status) -> None:
    """Record a payment's latest status at the provider; do nothing without a record."""
    PAYMENTS.of(database).update_one({"_id": order_id}, {"$set": {"status": status}})
