"""The expiry of entries in stocks: a step of the sweep, each minute."""

from typing import NamedTuple

from chalicelib import deadlines
from chalicelib.jobs.schedules import skip_failing
from chalicelib.runtime import Runtime
from chalicelib.shop.stock import documents, shelf
from chalicelib.shop.stock.shapes import HOLDS, STOCKS, StockEntry

# The shares of the remaining time for all stocks, and for each: other steps and stocks follow.
_ALL, _EACH = 0.3, 0.1


class Overdue(NamedTuple):
    """An overdue entry of an order; the order's state decides the end of the entry."""

    stock: str
    entry: StockEntry


def end_overdue(runtime: Runtime) -> tuple[int, list[Overdue]]:
    """End overdue entries of carts; return their units, and the overdue entries of orders.

    A stock in the store `documents` without entries moves back to `embedded`. The next run handles
    a stock that fails, and the stocks that no time is left for.
    """
    units, overdue, has_time = 0, list[Overdue](), deadlines.share(_ALL)
    for stock_id in _due(runtime):
        if not has_time():
            break
        failing = skip_failing("entries of a stock not ended", stock=stock_id)
        with failing, deadlines.within(_EACH):
            units += shelf.expire(runtime, stock_id)
            left = shelf.overdue(runtime, stock_id)
            overdue += [Overdue(stock_id, each) for each in left]
            documents.move_out(runtime.database, stock_id)
    return units, overdue


def _due(runtime: Runtime) -> list[str]:
    """Return stocks with an overdue entry, at most `tended_at_once` of the store `embedded`.

    The sequence is random: no stock waits behind the same failing stocks in every run.
    """
    due, most = {"$lte": runtime.now()}, runtime.bounds.shop.tended_at_once
    embedded = STOCKS.of(runtime.database).find({"carted.until": due}, {"_id": 1}).limit(most)
    apart = HOLDS.of(runtime.database).distinct("_id.stock", {"until": due})
    stocks = sorted({*(row["_id"] for row in embedded), *apart})
    runtime.random.shuffle(stocks)
    return stocks
