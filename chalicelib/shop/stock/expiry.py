"""The end of what carts hold: each minute, by the entries' own times."""

from typing import NamedTuple

from chalicelib.runtime import Runtime
from chalicelib.shop.stock import documents, shelf
from chalicelib.shop.stock.shapes import HOLDS, STOCKS, Entry


class Overdue(NamedTuple):
    """An order's entry whose time is over: the order has to say what becomes of it."""

    stock: str
    entry: Entry


def end_lapsed(runtime: Runtime) -> tuple[int, list[Overdue]]:
    """End the entries of carts that are due; return their units, and the overdue of orders.

    A stock of documents of which nothing is held any more is kept in its document again.
    """
    units, overdue = 0, []
    for stock_id in _due(runtime):
        units += shelf.expire(runtime, stock_id)
        left = shelf.overdue(runtime, stock_id)
        overdue += [Overdue(stock_id, each) for each in left]
        documents.move_out(runtime.database, stock_id)
    return units, overdue


def _due(runtime: Runtime) -> list[str]:
    """Return the stocks with an entry whose time is over."""
    due, most = {"$lte": runtime.now()}, runtime.bounds.shop.tended_at_once
    embedded = STOCKS.of(runtime.database).find({"carted.until": due}, {"_id": 1}).limit(most)
    apart = HOLDS.of(runtime.database).find({"until": due}, {"_id": 1}).limit(most)
    return sorted({row["_id"] for row in embedded} | {row["_id"]["stock"] for row in apart})
