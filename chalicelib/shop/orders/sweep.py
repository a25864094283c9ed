"""The sweep of all shops, each minute: entries, carts, refunds and orders that no call finishes.

A provider's answer may take seconds. So the steps for carts, refunds and orders share a time, and
the reading of the provider's books has its own. When the shared time is over, the worker
resumes the remaining orders, and the next run continues with the longest overdue refunds. The
delivery of events comes last.
"""

from datetime import datetime, timedelta
from functools import cache

from pymongo.errors import DuplicateKeyError

from chalicelib import deadlines
from chalicelib.jobs.schedules import Step, run_steps, skip_failing
from chalicelib.jobs.sweeping import Sweep
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts
from chalicelib.shop.carts.shapes import Cart
from chalicelib.shop.orders import (
    notifications,
    personal_data,
    reconciliation,
    refunds,
    resuming,
    strays,
)
from chalicelib.shop.orders.checkout import order_of
from chalicelib.shop.orders.messages import ResumeOrder
from chalicelib.shop.orders.shapes import ORDERS, Order, find
from chalicelib.shop.payments.records import PAYMENTS
from chalicelib.shop.stock import expiry
from chalicelib.webhooks import due

# The time in which a run may begin the next cart, refund or order. The Lambda's time-out leaves
# room for a last call without an answer.
_ASKING = timedelta(seconds=12)
# The separate time for reading the provider's books: the other steps may use up the shared time in
# every run.
_READING = timedelta(seconds=3)
# The shares of the remaining time for all overdue entries of orders, and for each entry.
_STRAYS, _STRAY = 0.3, 0.1
_DUE = Sweep(ORDERS, "due", fields={"due": 1})


def sweep(runtime: Runtime) -> dict[str, int]:
    """End overdue entries, resume stopped carts and orders, settle refunds; return the counts."""
    # The time for calls begins with the first step that asks for it, after the entries.
    until = cache(lambda: runtime.now() + _ASKING)
    steps: dict[str, Step] = {
        "entries": _end_entries,
        "carts_resumed": lambda _: _resume_carts(runtime, until()),
        "carts_expired": carts.expire_idle,
        "buyers_forgotten": personal_data.forget_buyers,
        "refunds_made": lambda _: refunds.sweep(runtime, until()),
        "orders_reconciled": _read_books,
        "orders_resumed": lambda _: _resume_orders(runtime, until()),
        # Each call of `deliver` uses at most half of the time that is left.
        "events_delivered": lambda _: sum(
            due.deliver(runtime, each, notifications.notify) for each in (ORDERS, PAYMENTS)
        ),
    }
    return run_steps(runtime, steps)


def _end_entries(runtime: Runtime) -> dict[str, int]:
    units, overdue = expiry.end_overdue(runtime)
    has_time, ended = deadlines.share(_STRAYS), 0
    for stock_id, entry in overdue:
        if not has_time():
            break
        with deadlines.within(_STRAY):
            _end_stray(runtime, stock_id, entry["cart"], str(entry["order"]))
        ended += 1
    return {"units_freed": units, "entries_of_orders": ended}


def _read_books(runtime: Runtime) -> int:
    return reconciliation.read_changes(runtime, runtime.now() + _READING)


def _resume_orders(runtime: Runtime, until: datetime) -> int:
    """Resume the longest overdue orders, each under a lease; return their number.

    After `until`, queue the rest for the worker: its runs call the provider in parallel.
    """
    lease = runtime.bounds.shop.order_lease
    resumed, left = 0, []
    for row in list(_DUE.find(runtime, runtime.bounds.shop.tended_at_once)):
        if runtime.now() >= until:
            left.append(row)
        elif _DUE.take(runtime, row, lease):
            _resume(runtime, row["_id"])
            resumed += 1
    if left and runtime.queues.send(*(ResumeOrder(order=row["_id"]) for row in left)):
        resumed += sum(_DUE.take(runtime, row, resuming.LEFT) for row in left)
    return resumed


def _resume_carts(runtime: Runtime, until: datetime) -> int:
    """Resume the orders of carts frozen for longer than a lease; return the number of carts.

    If the order is missing, insert it as refused: then a late checkout cannot insert it.
    """
    lease = runtime.bounds.shop.order_lease
    resumed = 0
    for cart in carts.frozen_before(runtime, lease):
        if runtime.now() >= until:
            break
        resumed += 1
        order_id = str(cart["order"])
        order = find(runtime.database, order_id) or _refuse(runtime, cart, order_id)
        carts.touch_frozen(runtime, cart["_id"], order_id)
        if order["state"] != "paying":
            _resume(runtime, order_id)
    return resumed


def _refuse(runtime: Runtime, cart: Cart, order_id: str) -> Order:
    order: Order = {
        **order_of(runtime, cart, order_id, None),
        "state": "refused",
        "reason": "abandoned",
    }
    try:
        ORDERS.of(runtime.database).insert_one(order)
    except DuplicateKeyError:
        return find(runtime.database, order_id) or order
    personal_data.follow_claim(runtime, order_id, cart["_id"])
    return order


def _resume(runtime: Runtime, order_id: str) -> None:
    with skip_failing("order not resumed", order=order_id):
        resuming.resume(runtime, order_id)


def _end_stray(runtime: Runtime, stock_id: str, cart: str, order_id: str) -> None:
    with skip_failing("entry of an order not ended", order=order_id):
        strays.end_stray(runtime, stock_id, cart, order_id)
