"""The collection of payments: one record an order, with its refunds."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.shop.payments.port import Name, Status

MAX_REFUNDS = 100

RefundState = Literal["owed", "made", "done", "refused", "failed"]


class Refund(TypedDict):
    """A refund; `units` are its units by SKU, `again` counts its repetitions after a failure.

    `whole`: a refund of all that was left, adjustments included. Its states:

        owed     recorded; the provider comes next
        made     the provider has paid, the shelf comes next; do not call the provider again, which
                 may have forgotten the key
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


class OrderPayment(TypedDict):
    """An order's payment. `refunded_micros` includes owed refunds.

    `owed`: the next sweep of its unfinished refunds.
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


PAYMENTS = Collection(
    "shop.payment",
    OrderPayment,
    indexes=(
        IndexModel([("owed", ASCENDING)], partialFilterExpression={"owed": {"$exists": True}}),
    ),
    shard_key={"_id": "hashed"},
)


def find(database: Database[Document], order_id: str) -> OrderPayment | None:
    """Return an order's payment. None: it never started."""
    return PAYMENTS.of(database).find_one({"_id": order_id})


def note_status(database: Database[Document], order_id: str, status: Status) -> None:
    """Record the provider's latest status."""
    PAYMENTS.of(database).update_one({"_id": order_id}, {"$set": {"status": status}})
