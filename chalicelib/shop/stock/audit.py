"""The audit of a stock: its counters against its entries, its movements and its sales."""

from typing import TypedDict

from chalicelib.runtime import Runtime
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import MOVEMENTS, find


class Differences(TypedDict):
    """The differences of a stock's counters in units; both are 0 if the stock is sound.

    `held`: available units + units of all entries - `on_hand`. `moved`: units of all movements -
    units sold - `on_hand`.
    """

    held: int
    moved: int


class _Total(TypedDict):
    units: int


def audit(runtime: Runtime, stock_id: str, sold: int) -> Differences:
    """Return the differences of a stock; `sold` is the number of units that orders have taken.

    Writes during the audit can look like differences: the reads are separate.
    """
    stock = find(runtime.database, stock_id)
    on_hand, available = (stock["on_hand"], stock["available"]) if stock else (0, 0)
    held = sum(each["qty"] for each in shelf.entries(runtime, stock_id))
    total = {"$group": {"_id": None, "units": {"$sum": "$by"}}}
    rows = MOVEMENTS.read_as(_Total, runtime.database).aggregate(
        [{"$match": {"stock": stock_id}}, total]
    )
    moved = sum(row["units"] for row in rows)
    return {"held": available + held - on_hand, "moved": moved - sold - on_hand}
