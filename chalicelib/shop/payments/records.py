"""Payments as they are recorded: one for each order that was to be paid, with its refunds."""

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
    """Money to be given back, and whether it was; `units` are those of it by SKU.

    It is `whole` if it was asked for without units: all that was left, with what was added. `made`
    is money that was given back, of which units are still to be put back on the shelf: its provider
    is not asked again, who may have forgotten the key. One that has `failed` was taken on by the
    provider, and came back; `again` counts how often it was asked for anew.
    """

    key: str
    amount_micros: int
    units: dict[str, int]
    whole: bool
    restock: bool
    state: RefundState
    at: datetime
    again: NotRequired[int]


class Payment(TypedDict):
    """An order's payment. `refunded_micros` counts what is owed, too.

    While a refund is not finished, `owed` is when the sweep goes on with it.
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
    Payment,
    indexes=(
        IndexModel([("owed", ASCENDING)], partialFilterExpression={"owed": {"$exists": True}}),
    ),
    shard_key={"_id": "hashed"},
)


def find(database: Database[Document], order_id: str) -> Payment | None:
    """Return an order's payment, or None if it was never begun."""
    return PAYMENTS.of(database).find_one({"_id": order_id})


def note_status(database: Database[Document], order_id: str, status: Status) -> None:
    """Record what the provider has said last."""
    PAYMENTS.of(database).update_one({"_id": order_id}, {"$set": {"status": status}})
