"""Overdue entries of orders: release the entry of an ended order, prolong any other."""

from datetime import datetime

from chalicelib.runtime import Runtime
from chalicelib.shop.orders.shapes import ENDED, Order, find
from chalicelib.shop.stock import shelf


def end_stray(runtime: Runtime, stock_id: str, cart: str, order_id: str) -> None:
    """Release the entry of an ended or unknown order; prolong the entry of any other.

    The new end is a lease after the order's deadline, or after now if that is later.
    """
    order = find(runtime.database, order_id)
    if order is None or order["state"] in ENDED:
        shelf.release(runtime, stock_id, cart, order_id)
    else:
        lease = runtime.bounds.shop.order_lease
        until = max(runtime.now(), _deadline(order, runtime)) + lease
        shelf.prolong(runtime, stock_id, cart, order_id, until)


def _deadline(order: Order, runtime: Runtime) -> datetime:
    return order["deadline"] or runtime.now()
