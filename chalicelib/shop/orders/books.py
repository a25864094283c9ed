"""The audit of a stock: it compares the counters with the movements and the orders."""

from typing import TypedDict

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.ids import key_of
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.shop.stock import audit
from chalicelib.shop.stock.audit import Differences


class _Total(TypedDict):
    units: int


def verify(runtime: Runtime, site: str, sku: str) -> Differences:
    """Return the differences of a stock's counters from entries, movements and sales; 0 if sound.

    An order in `paid` may count as a difference: some of its units may have left the shelf already.
    """
    sold: list[Document] = [
        {"$match": {"site": site, "state": "done", "lines.sku": sku}},
        {"$unwind": "$lines"},
        {"$match": {"lines.sku": sku}},
        {"$group": {"_id": None, "units": {"$sum": "$lines.qty"}}},
    ]
    rows = ORDERS.read_as(_Total, runtime.database).aggregate(sold)
    return audit.audit(runtime, key_of(site, sku), sum(row["units"] for row in rows))
