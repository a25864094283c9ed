"""Reconciliation with the provider's books: failed refunds, and money that moved without Plaza.

A publisher can refund in the provider's dashboard, and a buyer's bank can take a payment back.
Events may come twice, late or in any order: each is only a hint to read the payment's whole
statement again.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypedDict

from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.errors import Problem, Unavailable
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import DISPUTES, REFUNDS_FAILED
from chalicelib.runtime import Runtime
from chalicelib.shop.orders.events import event_of, refund_number
from chalicelib.shop.orders.messages import ResumeOrder
from chalicelib.shop.orders.shapes import ORDERS, Order, charge_of
from chalicelib.shop.payments import providers, records
from chalicelib.shop.payments.port import Hint, Name, PaymentRefused, StatedDispute, Statement
from chalicelib.shop.payments.records import (
    MAX_DISPUTES,
    PAYMENTS,
    Dispute,
    OrderPayment,
    Refund,
    provider_key,
)
from chalicelib.webhooks import due
from chalicelib.webhooks.kinds import OrderKind
from chalicelib.webhooks.rows import DueEvent

_ATTEMPTS = 10
_EACH = timedelta(days=1)
# Each reading repeats the last hour of the former: the provider may list an event late.
_OVERLAP = timedelta(hours=1)
# The span of the first reading: Stripe stores its events for 30 days.
_FIRST = timedelta(days=30)
_MADE = frozenset({"made", "done"})
_OURS = frozenset({"owed", "made", "done"})
_UNFINISHED = frozenset({"owed", "made"})
_AT_THE_BANK = frozenset({"opened", "lost"})


class Reconciliation(TypedDict):
    """The daily reading of a provider's changes from `since` to `until`.

    `after`: the position of the next page; None: the first. `due`: the next run, or a lease's end.
    """

    _id: Name
    since: datetime
    until: datetime
    after: str | None
    due: datetime


RECONCILIATIONS = Collection("shop.reconciliation", Reconciliation)


class _Sums(TypedDict):
    """The fields of a payment that follow from a statement."""

    refunds: list[Refund]
    refunded_micros: int
    elsewhere_micros: int
    disputed_micros: int
    disputes: list[Dispute]


def reconcile(runtime: Runtime, order: Order) -> None:
    """Record the refunds and disputes of an order's payment from the provider's books.

    Raises Unavailable in an outage, or if the payment changes during each of ten attempts.
    """
    for _ in range(_ATTEMPTS):
        # Read before the statement: a later refund by Plaza then makes the write fail.
        payment = records.find(runtime.database, order["_id"])
        if payment is None or not payment["amount_micros"]:
            return
        provider = providers.provider_of(runtime, payment["provider"])
        try:
            statement = provider.statement(charge_of(order), payment["intent"])
        except PaymentRefused as refusal:
            fields = {"order": order["_id"], "reason": refusal.reason}
            log.error("payment not found at its provider", extra={"fields": fields})
            return
        before, after = _sums_of(payment), _sums_in(payment, statement)
        if before == after:
            return
        if _record(runtime, payment, after, _events_of(runtime, order, payment, before, after)):
            _report(order, before, after)
            return
    raise Unavailable("The payment changes at this moment")


def orders_of(database: Database[Document], hints: Iterable[Hint]) -> list[str]:
    """Return the ids of the known orders that hints name, by order or by payment, each once."""
    given = list(hints)
    named = {"_id": {"$in": list({each.order for each in given if each.order})}}
    found = {row["_id"] for row in ORDERS.of(database).find(named, {"_id": 1})}
    intents = {each.intent for each in given if each.intent and each.order not in found}
    if intents:
        paid = {"intent": {"$in": list(intents)}}
        found |= {row["_id"] for row in PAYMENTS.of(database).find(paid, {"_id": 1})}
    return sorted(found)


def read_changes(runtime: Runtime, until: datetime) -> int:
    """Once a day, queue each order whose payment changed at the provider; return their number.

    Webhooks deliver the same events; this reading finds the events of failed webhooks. If a run
    ends at `until`, a later run continues at its page.
    """
    name = runtime.settings.payments
    row = _begin(runtime, name) if name else None
    resumed = 0
    while row is not None and runtime.now() < until:
        try:
            row, orders = _read_page(runtime, row)
        except Problem as problem:
            fields = {"provider": name, "reason": problem.code}
            log.warning("changes of payments not read", extra={"fields": fields})
            break
        resumed += orders
    return resumed


def _begin(runtime: Runtime, name: Name) -> Reconciliation | None:
    """Return the due reading under a lease. None: it is not due, or another run has the lease."""
    rows, now = RECONCILIATIONS.of(runtime.database), runtime.now()
    row = rows.find_one({"_id": name})
    if row is None:
        first = {"since": now - _FIRST, "until": now, "after": None, "due": now}
        rows.update_one({"_id": name}, {"$setOnInsert": first}, upsert=True)
        row = rows.find_one({"_id": name})
    if row is None or row["due"] > now:
        return None
    lease = runtime.bounds.shop.order_lease
    until = row["until"] if row["after"] else now
    taken: Document = {"until": until, "due": now + lease}
    this = {"_id": name, "due": row["due"]}
    is_taken = rows.update_one(this, {"$set": taken}).matched_count
    return {**row, "until": until} if is_taken else None


def _read_page(runtime: Runtime, row: Reconciliation) -> tuple[Reconciliation | None, int]:
    """Queue the orders of a page; return the remaining reading, and the number of orders.

    Reading None: this page was the last, or the provider refused. Raises Unavailable.
    """
    provider = providers.provider_of(runtime, row["_id"])
    try:
        page = provider.hints(row["since"], row["until"], row["after"])
    except PaymentRefused as refusal:
        fields = {"provider": row["_id"], "reason": refusal.reason}
        log.error("changes of payments refused", extra={"fields": fields})
        _move(runtime, row, {"after": None, "due": runtime.now() + _EACH})
        return None, 0
    orders = orders_of(runtime.database, page.found)
    if orders and not runtime.queues.send(*(ResumeOrder(order=each) for each in orders)):
        raise Unavailable
    if page.after is not None:
        _move(runtime, row, {"after": page.after})
        return {**row, "after": page.after}, len(orders)
    since, due = row["until"] - _OVERLAP, runtime.now() + _EACH
    _move(runtime, row, {"since": since, "after": None, "due": due})
    return None, len(orders)


def _move(runtime: Runtime, row: Reconciliation, change: Document) -> None:
    this = {"_id": row["_id"], "until": row["until"]}
    RECONCILIATIONS.of(runtime.database).update_one(this, {"$set": change})


def _sums_of(payment: OrderPayment) -> _Sums:
    return {
        "refunds": payment["refunds"],
        "refunded_micros": payment["refunded_micros"],
        "elsewhere_micros": payment.get("elsewhere_micros", 0),
        "disputed_micros": payment.get("disputed_micros", 0),
        "disputes": payment.get("disputes", []),
    }


def _sums_in(payment: OrderPayment, statement: Statement) -> _Sums:
    """Return the fields of a payment as the provider states them."""
    failed = {each.key for each in statement.refunds if each.is_failed}
    refunds = [
        Refund({**each, "state": "failed"}) if _is_failure(each, failed) else each
        for each in payment["refunds"]
    ]
    came_back = sum(
        each["amount_micros"] for each in payment["refunds"] if _is_failure(each, failed)
    )
    ours = {provider_key(each) for each in refunds if each["state"] in _OURS}
    disputes = sorted(statement.disputes, key=lambda each: (each.at, each.id))
    return {
        "refunds": refunds,
        "refunded_micros": payment["refunded_micros"] - came_back,
        "elsewhere_micros": sum(
            each.amount_micros
            for each in statement.refunds
            if not each.is_failed and each.key not in ours
        ),
        "disputed_micros": sum(
            each.amount_micros for each in disputes if each.state in _AT_THE_BANK
        ),
        "disputes": [_to_dispute(each) for each in disputes[-MAX_DISPUTES:]],
    }


def _to_dispute(stated: StatedDispute) -> Dispute:
    return {
        "id": stated.id,
        "amount_micros": stated.amount_micros,
        "state": stated.state,
        "at": stated.at,
    }


def _is_failure(refund: Refund, failed: set[str | None]) -> bool:
    return refund["state"] in _MADE and provider_key(refund) in failed


def _events_of(
    runtime: Runtime, order: Order, payment: OrderPayment, before: _Sums, after: _Sums
) -> list[DueEvent]:
    """Return the events of failed refunds, and of the change of refunds made without Plaza.

    The amounts of an order's refunds less those of its failed refunds are what its buyer has back.
    """
    changed: list[tuple[OrderKind, str, int]] = []
    for index, (old, new) in enumerate(zip(before["refunds"], after["refunds"], strict=True)):
        if old["state"] != new["state"]:
            number = refund_number(index, new)
            changed.append(("order.refund_failed", number, new["amount_micros"]))
    more = after["elsewhere_micros"] - before["elsewhere_micros"]
    if more:
        kind: OrderKind = "order.refunded" if more > 0 else "order.refund_failed"
        changed.append((kind, f"elsewhere-{payment.get('version', 0)}", abs(more)))
    now = runtime.now()
    return [
        event_of(order, kind, now, number=number, amount_micros=amount)
        for kind, number, amount in changed
    ]


def _record(
    runtime: Runtime, payment: OrderPayment, sums: _Sums, events: Sequence[DueEvent]
) -> bool:
    """Store the fields and events; return False if the payment has changed since the read."""
    change: Document = {"$set": dict(sums), "$inc": {"version": 1}}
    if events:
        change["$push"] = due.push(*events)
    if not any(each["state"] in _UNFINISHED for each in sums["refunds"]):
        change["$unset"] = {"owed": ""}
    this = records.version_filter(payment)
    return PAYMENTS.of(runtime.database).update_one(this, change).matched_count > 0


def _report(order: Order, before: _Sums, after: _Sums) -> None:
    """Log failed refunds, opened disputes, and refunds made without Plaza."""
    this = {"order": order["_id"], "site": order["site"]}
    for old, new in zip(before["refunds"], after["refunds"], strict=True):
        if old["state"] != new["state"]:
            fields = {**this, "refund": new["key"], "refunds_failed": 1}
            log.error("refund failed", extra={"fields": fields, "metrics": REFUNDS_FAILED})
    known = {each["id"] for each in before["disputes"] if each["state"] != "inquiry"}
    for dispute in after["disputes"]:
        if dispute["state"] in _AT_THE_BANK and dispute["id"] not in known:
            fields = {**this, "dispute": dispute["id"], "disputes": 1}
            log.error("payment disputed", extra={"fields": fields, "metrics": DISPUTES})
    if before["elsewhere_micros"] != after["elsewhere_micros"]:
        fields = {**this, "elsewhere_micros": after["elsewhere_micros"]}
        log.warning("refunded elsewhere", extra={"fields": fields})
