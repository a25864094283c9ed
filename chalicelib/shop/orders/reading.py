"""Reads of orders: a single order for its readers, and lists by shop and by buyer."""

from datetime import datetime

from pymongo import DESCENDING

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors, page_of
from chalicelib.identity import Principal
from chalicelib.instants import milliseconds, moment
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import UnknownOrder
from chalicelib.shop.orders.forms import OrdersAnswer, order_answer
from chalicelib.shop.orders.shapes import ORDERS, Order, State, find
from chalicelib.shop.payments.records import PAYMENTS
from chalicelib.sites.permissions import owns


def seen_by(runtime: Runtime, order_id: str, caller: Principal | None, cart: str | None) -> Order:
    """Return an order for its buyer, its publisher, or a caller with the cart's id.

    The cart's id opens only an order without a user. Raises UnknownOrder, also for other callers.
    """
    order = find(runtime.database, order_id)
    if order is None:
        raise UnknownOrder
    is_buyer = caller is not None and order["user"] == caller.id
    is_guests = order["user"] is None and cart == order["cart"]
    if is_guests or is_buyer or (caller is not None and owns(caller, order["site"])):
        return order
    raise UnknownOrder


def sold_by(runtime: Runtime, order_id: str, caller: Principal) -> Order:
    """Return an order for its publisher; raises UnknownOrder, also for other callers."""
    order = find(runtime.database, order_id)
    if order is None or not owns(caller, order["site"]):
        raise UnknownOrder
    return order


def of_site(runtime: Runtime, site: str, state: State | None, query: PageQuery) -> OrdersAnswer:
    """Return a page of a shop's orders, the newest first; raises InvalidCursor."""
    where: Document = {"site": site, **({"state": state} if state else {})}
    return _page(runtime, where, f"orders:{site}:{state or ''}", query)


def of_user(runtime: Runtime, user: str, query: PageQuery) -> OrdersAnswer:
    """Return a page of a buyer's orders, the newest first; raises InvalidCursor."""
    return _page(runtime, {"user": user}, f"my-orders:{user}", query)


def _page(runtime: Runtime, where: Document, scope: str, query: PageQuery) -> OrdersAnswer:
    cursors = Cursors(scope, runtime.settings.signing_keys)
    after = cursors.position(query)
    if after is not None:
        where = {**where, **_behind(moment(after[0]), str(after[1]))}
    found = ORDERS.of(runtime.database).find(where)
    rows = found.sort([("at", DESCENDING), ("_id", DESCENDING)]).limit(query.limit + 1)
    shown, last = page_of(list(rows), query.limit)
    ids = {"_id": {"$in": [each["_id"] for each in shown]}}
    payments = {each["_id"]: each for each in PAYMENTS.of(runtime.database).find(ids)}
    position = [milliseconds(last["at"]), last["_id"]] if last else None
    return {
        "orders": [order_answer(each, payments.get(each["_id"])) for each in shown],
        "next": cursors.following(position),
    }


def _behind(at: datetime, order_id: str) -> Document:
    """Return the filter of the orders older than this position; the id decides between equals."""
    return {"$or": [{"at": {"$lt": at}}, {"at": at, "_id": {"$lt": order_id}}]}
