"""Money after a restore: payments without an order, transfers and credit lines of after the point.

The payment provider's books and those of a bank go on while the database goes back.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from chalicelib.ads.accounts import ACCOUNTS
from chalicelib.ads.billing.transfers import TRANSFERS
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from chalicelib.shop.orders.reconciliation import RECONCILIATIONS
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.shop.payments import providers
from chalicelib.shop.payments.port import Charge, ListedPayment, PaymentRefused, Provider
from deploy.replay import OVERLAP, CreditSet, MoneyMoved, Replay

# One key for each payment, so that a second run refunds nothing more.
_REFUND_KEY = "restored"


class Refusal(NamedTuple):
    """A payment that the provider did not give back or cancel, and the reason."""

    intent: str
    reason: str

    def __str__(self) -> str:
        return f"{self.intent} ({self.reason})"


def payments_without_order(runtime: Runtime, since: datetime) -> list[ListedPayment] | None:
    """Return the provider's payments since a time that have no order. None: no provider.

    The shop's schedule finds the payments of the other orders by itself.
    """
    name = runtime.settings.payments
    if name is None:
        return None
    provider, after, found = providers.provider_of(runtime, name), None, list[ListedPayment]()
    while True:
        page = provider.list_payments(since - OVERLAP, after)
        known = {"_id": {"$in": [each.order for each in page.found]}}
        orders = {row["_id"] for row in ORDERS.of(runtime.database).find(known, {"_id": 1})}
        found += (each for each in page.found if each.order not in orders)
        after = page.after
        if after is None:
            return found


def give_back(runtime: Runtime, payments: Sequence[ListedPayment]) -> Iterator[Refusal]:
    """Refund payments, and cancel those that a buyer has yet to finish.

    Yields a Refusal for each failure, and goes on with the others.
    """
    provider = providers.provider_of(runtime, runtime.settings.payments or "fake")
    for payment in payments:
        try:
            _give_back(provider, payment)
        except PaymentRefused as refused:
            yield Refusal(payment.intent, refused.reason)
        except Unavailable as failure:
            yield Refusal(payment.intent, failure.code)


def _give_back(provider: Provider, payment: ListedPayment) -> None:
    """Cancel an open payment, or refund the rest of a payment, once.

    Raises Unavailable, and PaymentRefused, also for a payment that cannot be cancelled now.
    """
    if payment.is_open:
        status = provider.cancel(payment.order, payment.intent)
        if status == "pending":
            raise PaymentRefused("under_way")
        if status != "succeeded":
            return
    charge = Charge(payment.order, payment.amount_micros, payment.currency, email="")
    refunds = provider.statement(charge, payment.intent).refunds
    given = sum(each.amount_micros for each in refunds if not each.is_failed)
    left = payment.amount_micros - given
    if left > 0:
        provider.refund(charge, payment.intent, left, _REFUND_KEY)


def read_refunds_again(runtime: Runtime, since: datetime) -> None:
    """Have the shop's schedule read the provider's refunds since a time, at its next run.

    Otherwise a refund of after the point could be paid a second time for up to a day.
    """
    for row in RECONCILIATIONS.of(runtime.database).find():
        begin = min(row["since"], since - OVERLAP)
        change = {"since": begin, "after": None, "due": runtime.now()}
        RECONCILIATIONS.of(runtime.database).update_one({"_id": row["_id"]}, {"$set": change})


def missing_transfers(runtime: Runtime, replay: Replay) -> list[MoneyMoved]:
    """Return the transfers of the log that the database lacks, in order of time."""
    known = {"_id": {"$in": list(replay.transfers)}, "state": "retired"}
    found = {row["_id"] for row in TRANSFERS.of(runtime.database).find(known, {"_id": 1})}
    return [each for name, each in replay.transfers.items() if name not in found]


def other_credit_lines(runtime: Runtime, replay: Replay) -> list[CreditSet]:
    """Return the credit lines of the log that differ from those of the database."""
    named = {"_id": {"$in": list(replay.credit_lines)}}
    rows = ACCOUNTS.of(runtime.database).find(named, {"credit_micros": 1})
    stored = {row["_id"]: row.get("credit_micros") for row in rows}
    return [
        each
        for account, each in sorted(replay.credit_lines.items())
        if stored.get(account) != each.credit_micros
    ]
