"""Resuming orders: a client, a webhook or the sweep continues an order from its stored state.

Each step reads the state, and ends with a write on the condition of that state. So any number of
callers may resume an order at once: for each step, a single caller changes the state.
"""

from datetime import datetime, timedelta
from typing import Any

from chalicelib.observability.logs import log
from chalicelib.observability.metrics import LATE_PAYMENTS
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts
from chalicelib.shop.errors import RefundRefused
from chalicelib.shop.ids import key_of
from chalicelib.shop.orders import refunds
from chalicelib.shop.orders.events import event_of
from chalicelib.shop.orders.reconciliation import reconcile
from chalicelib.shop.orders.shapes import ENDED, ORDERS, Order, State, charge_of, find
from chalicelib.shop.payments import providers, records
from chalicelib.shop.payments.port import Status
from chalicelib.shop.stock import shelf

# More than the steps from any state to the last.
_STEPS = 8
# The time until the last look at a declined order, which the buyer may still pay; and the longest
# time between two looks at an order after its deadline.
WATCHED = timedelta(hours=1)
# The sweep's lease for an order that it queues: the worker may have a backlog.
LEFT = timedelta(minutes=5)
_LET_GO: dict[Status, str] = {"failed": "declined", "cancelled": "cancelled"}


def resume(
    runtime: Runtime, order_id: str, *, cancels: bool = False, reconciles: bool = False
) -> Order | None:
    """Take every step of an order that is possible now; return the order. None: unknown.

    `cancels`: ask the provider to cancel a pending payment. `reconciles`: if the order becomes
    `done` in this call, also read its refunds and disputes, as after an event. Raises Unavailable
    in an outage of the provider; steps already taken stay.
    """
    order = find(runtime.database, order_id)
    # No step follows the end of an order in this call, except the reading of a `done` order.
    unread = ("void",) if reconciles else ENDED
    for number in range(_STEPS):
        if order is None or (number and order["state"] in unread):
            return order
        if not _step(runtime, order, cancels=cancels):
            return order
        order = find(runtime.database, order_id)
    return order


def advance(runtime: Runtime, order: Order, state: State, **changes: Any) -> bool:
    """Change an order's state and renew its lease; False if its state is not as read any more."""
    lease = runtime.bounds.shop.order_lease
    change = {"state": state, "due": runtime.now() + lease, **changes}
    this = {"_id": order["_id"], "state": order["state"]}
    return ORDERS.of(runtime.database).update_one(this, {"$set": change}).matched_count > 0


def is_abandoned(runtime: Runtime, at: datetime) -> bool:
    """Return whether a preparation that began at this time has outlived its lease."""
    return at + runtime.bounds.shop.order_lease <= runtime.now()


def _step(runtime: Runtime, order: Order, *, cancels: bool) -> bool:
    """Take an order's next step; return whether another step may be possible now."""
    match order["state"]:
        case "holding":
            if is_abandoned(runtime, order["at"]):
                advance(runtime, order, "refused", reason="abandoned")
                return True
        case "paying":
            return _decide(runtime, order, cancels=cancels)
        case "paid" | "declined" | "refused":
            _settle(runtime, order)
            return True
        case "done":
            reconcile(runtime, order)
        case "void":
            reconcile(runtime, order)
            _watch(runtime, order)
    return False


def _decide(runtime: Runtime, order: Order, *, cancels: bool) -> bool:
    """Make an order `paid` or `declined` by its payment's status; return whether it is decided.

    After the deadline, or with `cancels`, ask the provider to cancel an undecided payment first.
    """
    charge = charge_of(order)
    status = providers.look(runtime, order["provider"], charge)
    is_late = order["deadline"] is not None and order["deadline"] <= runtime.now()
    if status in {"pending", "unknown"} and (is_late or cancels):
        status = providers.cancel(runtime, order["provider"], charge)
    if status == "succeeded":
        paid = event_of(order, "order.paid", runtime.now())
        advance(runtime, order, "paid", due_events=[paid])
        return True
    if status in _LET_GO:
        cancelled = event_of(order, "order.cancelled", runtime.now())
        advance(runtime, order, "declined", reason=_LET_GO[status], due_events=[cancelled])
        return True
    _look_later(runtime, order, order["deadline"] if is_late else None)
    return False


def _look_later(runtime: Runtime, order: Order, late_since: datetime | None) -> None:
    """Set the time of the next look at an undecided order: about six looks until its deadline.

    The pause is the order's age, at least a lease, and ends at the deadline. After the deadline it
    is the time since then, at least a lease and at most an hour: a bank may take days to decide,
    and no cancellation ends a payment meanwhile.
    """
    lease = runtime.bounds.shop.order_lease
    now = runtime.now()
    if late_since is not None:
        due = now + min(max(now - late_since, lease), WATCHED)
    else:
        later = now + max(now - order["at"], lease)
        due = min(later, order["deadline"] or later)
    this = {"_id": order["_id"], "state": "paying"}
    ORDERS.of(runtime.database).update_one(this, {"$set": {"due": due}})


def _settle(runtime: Runtime, order: Order) -> None:
    """Sell or release the units, then close or reopen the cart, then end the order.

    Each part is idempotent: another caller may have done it already, or may do it now.
    """
    is_paid = order["state"] == "paid"
    part = shelf.sell if is_paid else shelf.release
    for line in order["lines"]:
        part(runtime, key_of(order["site"], line["sku"]), order["cart"], order["_id"])
    if is_paid:
        carts.close(runtime, order["cart"], order["_id"])
    else:
        carts.reopen(runtime, order["cart"], order["_id"])
    _end(runtime, order, "done" if is_paid else "void")


def _end(runtime: Runtime, order: Order, state: State) -> None:
    this = {"_id": order["_id"], "state": order["state"]}
    change: dict[str, Any] = {"$set": {"state": state}, "$unset": {"due": ""}}
    if order["state"] == "declined":
        change = {"$set": {"state": state, "due": runtime.now() + WATCHED}}
    ORDERS.of(runtime.database).update_one(this, change)


def _watch(runtime: Runtime, order: Order) -> None:
    """Look at the payment of an order in `void` once more, and refund it if it has succeeded."""
    payment = records.find(runtime.database, order["_id"])
    if payment is not None:
        status = providers.look(runtime, order["provider"], charge_of(order))
        if status == "succeeded" and records.left_micros(payment):
            fields = {"order": order["_id"], "late_payments": 1}
            log.error(
                "paid after it was let go", extra={"fields": fields, "metrics": LATE_PAYMENTS}
            )
            try:
                refunds.refund_late_payment(runtime, order)
            except RefundRefused:
                later = {"$set": {"due": runtime.now() + refunds.PATIENCE}}
                ORDERS.of(runtime.database).update_one({"_id": order["_id"]}, later)
                return
    # The sweep has set `due` to the end of its lease. A webhook before the look's time finds a
    # later `due`, which stays.
    this = {"_id": order["_id"], "state": "void", "due": {"$lte": runtime.now() + LEFT}}
    if "due" in order:
        ORDERS.of(runtime.database).update_one(this, {"$unset": {"due": ""}})
