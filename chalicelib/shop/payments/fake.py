"""The provider `fake` takes no money; the name in the buyer's e-mail address selects a script.

declines@…      the payment fails
slow@…          it succeeds at the third look
lost-answer@…   the answer to its start is lost
late@…          it succeeds after its cancellation
refund-fails@…  its first refund fails at the next statement
any other       it succeeds at the first look
"""

from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pymongo import ReturnDocument
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.errors import Unavailable
from chalicelib.shop.payments.port import (
    Charge,
    DisputeState,
    Hint,
    Hints,
    ListedPayment,
    ListedPayments,
    PaymentRefused,
    Started,
    StatedDispute,
    StatedRefund,
    Statement,
    Status,
)

Script = Literal["pays", "declines", "slow", "late", "lost-answer", "refund-fails"]
_SCRIPTS: tuple[Script, ...] = ("declines", "slow", "late", "lost-answer", "refund-fails")
MAX_REFUNDS = 1_000
MAX_DISPUTES = 20
_SLOW_LOOKS = 3
_PAGE = 100
# ISO 4217's code for no currency: the provider stores none.
_CURRENCY = "XXX"


class FakeRefund(TypedDict):
    """A refund. `key` None: made without Plaza."""

    key: str | None
    amount_micros: int
    failed: NotRequired[bool]


class FakeDispute(TypedDict):
    """A dispute."""

    id: str
    amount_micros: int
    state: DisputeState
    at: datetime


class FakePayment(TypedDict):
    """A payment; `_id` is its order, and `looks` counts the reads of its status."""

    _id: str
    script: str
    status: Status
    amount_micros: int
    looks: int
    refunds: Annotated[list[FakeRefund], AtMost(MAX_REFUNDS)]
    disputes: NotRequired[Annotated[list[FakeDispute], AtMost(MAX_DISPUTES)]]


FAKE_PAYMENTS = Collection("shop.fake_payment", FakePayment, shard_key={"_id": "hashed"})


class FakeProvider:
    """A provider for tests and trials, without money."""

    def __init__(self, database: Database[Document]) -> None:
        self._rows = FAKE_PAYMENTS.of(database)

    def start(self, charge: Charge) -> Started:
        """Start a payment once for each order; raises Unavailable by script."""
        script = script_of(charge.email)
        fresh: Document = {
            "script": script,
            "status": "pending",
            "amount_micros": charge.amount_micros,
            "looks": 0,
            "refunds": [],
        }
        this = {"_id": charge.order}
        begun = self._rows.update_one(this, {"$setOnInsert": fresh}, upsert=True)
        if begun.upserted_id is not None and script == "lost-answer":
            raise Unavailable("The payment's provider did not answer")
        return Started(f"fake_{charge.order}", client_secret=f"fake_{charge.order}_secret")

    def status(self, order: str, intent: str) -> Status:
        """Return the status of a payment; this read may change it, by its script."""
        del intent
        row = self._rows.find_one_and_update(
            {"_id": order}, {"$inc": {"looks": 1}}, return_document=ReturnDocument.AFTER
        )
        if row is None:
            return "unknown"
        match row["script"], row["status"]:
            case "late", "cancelled":
                return self._decide(order, "cancelled", "succeeded")
            case "declines", "pending":
                return self._decide(order, "pending", "failed")
            case "pays" | "lost-answer" | "refund-fails", "pending":
                return self._decide(order, "pending", "succeeded")
            case "slow", "pending" if row["looks"] >= _SLOW_LOOKS:
                return self._decide(order, "pending", "succeeded")
        return row["status"]

    def cancel(self, order: str, intent: str) -> Status:
        """Cancel a pending payment; return its status after the call."""
        del intent
        return self._decide(order, "pending", "cancelled")

    def refund(self, charge: Charge, intent: str, amount_micros: int, key: str) -> None:
        """Refund a part of a payment once for each key.

        Raises PaymentRefused if the payment has not succeeded, or if all refunds and disputes would
        exceed it.
        """
        del intent
        back = {"key": key, "amount_micros": amount_micros}
        not_failed = {"$ne": ["$$this.failed", True]}
        taken = {"$in": ["$$this.state", ["opened", "lost"]]}
        disputes = {"$ifNull": ["$disputes", []]}
        given = {"$add": [_sum("$refunds", not_failed), _sum(disputes, taken), amount_micros]}
        this = {
            "_id": charge.order,
            "status": "succeeded",
            "refunds.key": {"$ne": key},
            "$expr": {"$lte": [given, "$amount_micros"]},
        }
        if self._rows.update_one(this, {"$push": {"refunds": back}}).matched_count:
            return
        if self._rows.find_one({"_id": charge.order, "refunds.key": key}, {"_id": 1}) is None:
            raise PaymentRefused("more_than_was_paid")

    def statement(self, charge: Charge, intent: str) -> Statement:
        """Return the refunds and disputes of a payment; the read may fail a refund by script."""
        del intent
        this: Any = {"_id": charge.order}
        fails = {**this, "script": "refund-fails", "refunds.0": {"$exists": True}}
        self._rows.update_one(fails, {"$set": {"refunds.0.failed": True}})
        row = self._rows.find_one(this)
        if row is None:
            raise PaymentRefused("unknown_payment")
        refunds = [
            StatedRefund(each["key"], each["amount_micros"], each.get("failed", False))
            for each in row["refunds"]
        ]
        return Statement(refunds, [StatedDispute(**each) for each in row.get("disputes", [])])

    def hints(self, since: datetime, until: datetime, after: str | None) -> Hints:
        """Return a page of all payments with disputes or with refunds made without Plaza."""
        del since, until
        moved: Any = {"$or": [{"disputes.0": {"$exists": True}}, {"refunds.key": None}]}
        behind: Document = {"_id": {"$gt": after or ""}}
        rows = list(self._rows.find({**moved, **behind}, {"_id": 1}).sort("_id", 1).limit(_PAGE))
        last = rows[-1]["_id"] if len(rows) == _PAGE else None
        return Hints([Hint(each["_id"], None) for each in rows], last)

    def list_payments(self, since: datetime, after: str | None) -> ListedPayments:
        """Return a page of all payments but cancelled ones; `since` is ignored."""
        del since
        behind: Document = {"_id": {"$gt": after or ""}, "status": {"$ne": "cancelled"}}
        rows = list(self._rows.find(behind).sort("_id", 1).limit(_PAGE))
        found = [
            ListedPayment(
                each["_id"],
                f"fake_{each['_id']}",
                each["amount_micros"],
                _CURRENCY,
                is_open=each["status"] == "pending",
            )
            for each in rows
        ]
        return ListedPayments(found, rows[-1]["_id"] if len(rows) == _PAGE else None)

    def _decide(self, order: str, before: Status, after: Status) -> Status:
        """Change a payment's status from `before` to `after`; return its current status."""
        self._rows.update_one({"_id": order, "status": before}, {"$set": {"status": after}})
        row = self._rows.find_one({"_id": order}, {"status": 1})
        return row["status"] if row else "unknown"


def _sum(rows: Any, condition: Document) -> Document:
    """Return the expression for the sum of the amounts of rows that meet a condition."""
    kept = {"$filter": {"input": rows, "as": "this", "cond": condition}}
    return {"$sum": {"$map": {"input": kept, "as": "this", "in": "$$this.amount_micros"}}}


def script_of(email: str) -> Script:
    """Return the script that a buyer's address selects."""
    local = email.partition("@")[0]
    return next((each for each in _SCRIPTS if each == local), "pays")
