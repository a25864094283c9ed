"""Refunds: Plaza records a refund as owed, the provider pays it, then Plaza may restock its units.

If a call stops in between, the sweep finishes the refund. A refund's key makes calls idempotent.
"""

import contextlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from chalicelib.database import Document
from chalicelib.errors import IdempotencyKeyReused, Problem, Unavailable
from chalicelib.jobs.sweeping import Sweep, log_lag
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import OrderNotPaid, RefundRefused, RefundTooLarge
from chalicelib.shop.ids import key_of
from chalicelib.shop.orders import refund_sums
from chalicelib.shop.orders.events import event_of, refund_number
from chalicelib.shop.orders.reconciliation import reconcile
from chalicelib.shop.orders.shapes import Order, charge_of, find
from chalicelib.shop.payments import providers, records
from chalicelib.shop.payments.port import PaymentRefused
from chalicelib.shop.payments.records import (
    MAX_REFUNDS,
    PAYMENTS,
    OrderPayment,
    Refund,
    left_micros,
    provider_key,
)
from chalicelib.shop.stock import movements
from chalicelib.shop.stock.movements import NewMovement
from chalicelib.webhooks import due
from chalicelib.webhooks.rows import DueEvent

# The key of a late payment's refund; the payment succeeded after the end of its order.
LATE = "paid-late"
# The pause after a refusal, before another try.
PATIENCE = timedelta(hours=1)
_ATTEMPTS = 5
_OWED = Sweep(PAYMENTS, "owed")


class _Wanted(NamedTuple):
    """A refund to make, as its seller wants it. `units` None: all that is left."""

    key: str
    units: Mapping[str, int] | None
    restock: bool


def refund_order(
    runtime: Runtime, order: Order, key: str, units: Mapping[str, int] | None, *, restock: bool
) -> OrderPayment:
    """Refund units of a paid order once for each key, and return the payment.

    `units` None: all that is left. A call with the key of a failed refund tries it again, without a
    second restock. If the provider refuses because money moved elsewhere, refund the remainder.
    Raises OrderNotPaid, RefundTooLarge, RefundRefused, IdempotencyKeyReused for another refund with
    the key, and Unavailable.
    """
    if order["state"] not in {"paid", "done"}:
        raise OrderNotPaid
    wanted = _Wanted(key, units, restock)
    for _ in range(_ATTEMPTS):
        if not _record(runtime, order, wanted):
            continue
        try:
            return _settle(runtime, order, key)
        except RefundRefused:
            if not _owe_less(runtime, order, wanted):
                raise
    return _settle(runtime, order, key)


def _record(runtime: Runtime, order: Order, wanted: _Wanted) -> bool:
    """Record a refund as owed; do nothing for a known key, unless its refund failed.

    False: the payment has changed since the read; try again.
    """
    payment = records.find(runtime.database, order["_id"])
    if payment is None:
        raise OrderNotPaid
    known = refund_sums.find(payment, wanted.key)
    if known is not None:
        refund_sums.check_same(known, wanted.units, restock=wanted.restock)
        if known["state"] != "failed":
            return True
        # Since the failure, other refunds may have used the money.
        if known["amount_micros"] > left_micros(payment):
            raise RefundTooLarge
        return _owe_again(runtime, payment, known, known["units"], known["amount_micros"])
    if len(payment["refunds"]) >= MAX_REFUNDS:
        raise RefundTooLarge("A payment has at most 100 refunds")
    units = refund_sums.units_of(order, payment, wanted.units)
    is_whole = wanted.units is None
    amount = refund_sums.amount_of(order, payment, units, is_whole=is_whole)
    refund = _new(runtime, wanted.key, units, amount, restock=wanted.restock)
    refund["whole"] = is_whole
    return _owe(runtime, payment, refund)


def _owe_less(runtime: Runtime, order: Order, wanted: _Wanted) -> bool:
    """Owe a refused refund again with the smaller remainder; return whether to try again.

    False: the amount is no smaller, or a dispute is open. If the seller wins the dispute, the
    money is there again.
    """
    reconcile(runtime, order)
    payment = records.find(runtime.database, order["_id"])
    refund = refund_sums.find(payment, wanted.key) if payment else None
    if payment is None or refund is None or refund["state"] != "refused":
        return True
    if any(each["state"] == "opened" for each in payment.get("disputes", [])):
        return False
    units = refund_sums.units_of(order, payment, wanted.units)
    amount = refund_sums.amount_of(order, payment, units, is_whole=wanted.units is None)
    if amount >= refund["amount_micros"]:
        return False
    _owe_again(runtime, payment, refund, units, amount)
    return True


def refund_late_payment(runtime: Runtime, order: Order) -> None:
    """Refund, once, all that is left of the late payment of an order that is over.

    Raises RefundRefused, and Unavailable if the payment changes meanwhile. Until an hour
    after the start of a refund that was refused or failed, each call raises RefundRefused; the next
    call tries again under a new key.
    """
    payment = records.find(runtime.database, order["_id"])
    if payment is None:
        return
    refused = [each for each in payment["refunds"] if each["state"] in {"refused", "failed"}]
    if refused and refused[-1]["at"] + PATIENCE > runtime.now():
        raise RefundRefused
    key = f"{LATE}-{len(refused) + 1}" if refused else LATE
    if refund_sums.find(payment, key) is None:
        if len(payment["refunds"]) >= MAX_REFUNDS:
            raise RefundRefused
        _owe(runtime, payment, _new(runtime, key, {}, left_micros(payment), restock=False))
    _settle(runtime, order, key)


def sweep(runtime: Runtime, until: datetime) -> int:
    """Settle the unfinished refunds of due payments; return the number of these payments.

    The longest overdue payment comes first. After `until`, the call takes no further payment.
    """
    swept, lease = 0, runtime.bounds.shop.order_lease
    for payment in _OWED.find(runtime, runtime.bounds.shop.tended_at_once, until):
        if _OWED.take(runtime, payment, lease):
            _settle_all(runtime, payment)
        swept += 1
    return swept


def _settle_all(runtime: Runtime, payment: OrderPayment) -> None:
    order = find(runtime.database, payment["_id"])
    if order is None:
        return
    for refund in payment["refunds"]:
        if refund["state"] in refund_sums.UNFINISHED:
            try:
                _settle(runtime, order, refund["key"])
            except Problem as problem:
                fields = {"order": order["_id"], "reason": problem.code}
                log.warning("refund not made", extra={"fields": fields})
                if not isinstance(problem, RefundRefused):
                    # Each try moves the due time on: the age alone shows the wait.
                    asked = refund.get("asked", refund["at"])
                    log_lag(PAYMENTS.name, 1, runtime.now() - asked)
                    # The provider may be away, and each call of it waits for seconds.
                    return


def _settle(runtime: Runtime, order: Order, key: str) -> OrderPayment:
    """Finish a recorded refund and return the payment.

    Raises RefundRefused, and Unavailable if the refund is not recorded, failed meanwhile, or is
    still unfinished.
    """
    payment = records.find(runtime.database, order["_id"])
    refund = refund_sums.find(payment, key) if payment else None
    if payment is None or refund is None or refund["state"] == "failed":
        raise Unavailable("The payment changes at this moment")
    if refund["state"] in refund_sums.UNFINISHED:
        _make(runtime, order, payment, refund)
        payment = records.find(runtime.database, order["_id"]) or payment
        refund = refund_sums.find(payment, key) or refund
    if refund["state"] == "refused":
        raise RefundRefused
    if refund["state"] in refund_sums.UNFINISHED:
        raise Unavailable("The payment changes at this moment")
    return payment


def _make(runtime: Runtime, order: Order, payment: OrderPayment, refund: Refund) -> None:
    if refund["state"] == "owed":
        amount = refund["amount_micros"]
        try:
            # A refund of free units calls no provider: providers refuse an amount of 0.
            if amount:
                provider = providers.provider_of(runtime, payment["provider"])
                provider.refund(charge_of(order), payment["intent"], amount, provider_key(refund))
        except PaymentRefused:
            _note(runtime, payment, refund, "refused")
            return
        number = refund_number(payment["refunds"].index(refund), refund)
        event = event_of(
            order, "order.refunded", runtime.now(), number=number, amount_micros=amount
        )
        _note(runtime, payment, refund, "made" if refund["restock"] else "done", event)
    if refund["restock"]:
        # A publisher's movement cannot have this key: its keys have no colons.
        key = f"refund:{order['_id']}:{refund['key']}"
        for sku, units in refund["units"].items():
            change = NewMovement(key, units, None, "refund")
            # An earlier try, which failed at the bank, may have restocked more units.
            with contextlib.suppress(IdempotencyKeyReused):
                movements.move(runtime, key_of(order["site"], sku), change)
        _note(runtime, payment, {**refund, "state": "made"}, "done")


def _note(
    runtime: Runtime,
    payment: OrderPayment,
    refund: Refund,
    state: str,
    event: DueEvent | None = None,
) -> None:
    """Record the next state of a refund with its event, unless another call has changed the state.

    The provider's answer belongs to this try; a later try of the same refund stays as it is.
    """
    rows = PAYMENTS.of(runtime.database)
    this_try = {"key": refund["key"], "state": refund["state"], "again": refund.get("again")}
    before = {"$elemMatch": this_try}
    by_micros = -refund["amount_micros"] if state == "refused" else 0
    counted = {"refunded_micros": by_micros, "version": 1}
    change: Document = {"$set": {"refunds.$.state": state}, "$inc": counted}
    if event is not None:
        change["$push"] = due.push(event)
    rows.update_one({"_id": payment["_id"], "refunds": before}, change)
    if state in refund_sums.UNFINISHED:
        return
    unfinished = {"$elemMatch": {"state": {"$in": [*refund_sums.UNFINISHED]}}}
    finished = {"_id": payment["_id"], "refunds": {"$not": unfinished}}
    rows.update_one(finished, {"$unset": {"owed": ""}})


def _owe(runtime: Runtime, payment: OrderPayment, refund: Refund) -> bool:
    """Record a refund if the payment has not changed; return whether it is recorded."""
    this: Document = {**records.version_filter(payment), "refunds.key": {"$ne": refund["key"]}}
    change = {
        "$push": {"refunds": refund},
        "$inc": {"refunded_micros": refund["amount_micros"], "version": 1},
        "$set": {"owed": _next(runtime)},
    }
    return PAYMENTS.of(runtime.database).update_one(this, change).matched_count > 0


def _owe_again(
    runtime: Runtime,
    payment: OrderPayment,
    refund: Refund,
    units: Mapping[str, int],
    amount_micros: int,
) -> bool:
    """Record an ended refund as owed again; return False if the payment has changed meanwhile."""
    ended = {"$elemMatch": {"key": refund["key"], "state": refund["state"]}}
    this = {**records.version_filter(payment), "$and": [{"refunds": ended}]}
    owed: Document = {
        "state": "owed",
        "units": dict(units),
        "amount_micros": amount_micros,
        "asked": runtime.now(),
    }
    change = {
        "$set": {
            **{f"refunds.$.{name}": value for name, value in owed.items()},
            "owed": _next(runtime),
        },
        "$inc": {"refunds.$.again": 1, "refunded_micros": amount_micros, "version": 1},
    }
    return PAYMENTS.of(runtime.database).update_one(this, change).matched_count > 0


def _new(
    runtime: Runtime, key: str, units: Mapping[str, int], amount: int, *, restock: bool
) -> Refund:
    return {
        "key": key,
        "amount_micros": amount,
        "units": dict(units),
        "whole": False,
        "restock": restock,
        "state": "owed",
        "at": runtime.now(),
    }


def _next(runtime: Runtime) -> datetime:
    return runtime.now() + runtime.bounds.shop.order_lease
