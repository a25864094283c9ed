"""The end of overdue holds, each minute, by the time of each entry."""

from typing import NamedTuple

from chalicelib.runtime import Runtime
from chalicelib.shop.stock import documents, shelf
from chalicelib.shop.stock.shapes import HOLDS, STOCKS, StockEntry


class Overdue(NamedTuple):
    """An overdue entry of an order; the order's state decides about it."""

    stock: str
    entry: StockEntry


def end_overdue(runtime: Runtime) -> tuple[int, list[Overdue]]:
    """End overdue entries of carts; return their units, and the overdue entries of orders.

    A stock in the store `documents` without entries moves back to `embedded`.
    """
    units, overdue = 0, []
    for stock_id in _due(runtime):
        units += shelf.expire(runtime, stock_id)
        left = shelf.overdue(runtime, stock_id)
        overdue += [Overdue(stock_id, each) for each in left]
        documents.move_out(runtime.database, stock_id)
    return units, overdue


def _due(runtime: Runtime) -> list[str]:
    """Return the stocks with an overdue entry."""
    due, most = {"$lte": runtime.now()}, runtime.bounds.shop.tended_at_once
    embedded = STOCKS.of(runtime.database).find({"carted.until": due}, {"_id": 1}).limit(most)
    apart = HOLDS.of(runtime.database).find({"until": due}, {"_id": 1}).limit(most)
    return sorted({row["_id"] for row in embedded} | {row["_id"]["stock"] for row in apart})
