"""Movements: deliveries, returns, losses and counts; each takes effect once for its key."""

from typing import NamedTuple

from pymongo.client_session import ClientSession

from chalicelib.database import in_transaction
from chalicelib.errors import FieldError, IdempotencyKeyReused, InvalidRequest
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import StockIsCarted
from chalicelib.shop.stock.shapes import MOVEMENTS, STOCKS, Stock, StockMovement


class NewMovement(NamedTuple):
    """A movement to make: `by` some units, or to the number `counted`; the other is None."""

    key: str
    by: int | None
    counted: int | None
    reason: str


def move(runtime: Runtime, stock_id: str, change: NewMovement) -> Stock:
    """Change a stock once for each key, and return the stock.

    Raises StockIsCarted if fewer units would stay than carts and orders hold, IdempotencyKeyReused
    for another change with the key, and InvalidRequest for too many units.
    """

    def work(session: ClientSession) -> Stock:
        return move_within(runtime, stock_id, change, session)

    return in_transaction(runtime.database, work)


def move_within(
    runtime: Runtime, stock_id: str, change: NewMovement, session: ClientSession
) -> Stock:
    """Change a stock as `move`, within the caller's transaction."""
    stock = _stock(runtime, stock_id, session)
    if _is_repeated(runtime, stock_id, change, session):
        return stock
    by = _units(change, stock, runtime.bounds.shop.on_hand_units)
    moved: Stock = {
        **stock,
        "on_hand": stock["on_hand"] + by,
        "available": stock["available"] + by,
        "version": stock["version"] + 1,
    }
    STOCKS.of(runtime.database).replace_one({"_id": stock_id}, moved, upsert=True, session=session)
    row = _movement(runtime, stock_id, change, by)
    MOVEMENTS.of(runtime.database).insert_one(row, session=session)
    return moved


def _stock(runtime: Runtime, stock_id: str, session: ClientSession) -> Stock:
    found = STOCKS.of(runtime.database).find_one({"_id": stock_id}, session=session)
    empty: Stock = {
        "_id": stock_id,
        "on_hand": 0,
        "available": 0,
        "store": "embedded",
        "carted": [],
        "version": 0,
    }
    return found or empty


def _is_repeated(
    runtime: Runtime, stock_id: str, change: NewMovement, session: ClientSession
) -> bool:
    key = {"_id": f"{stock_id}:{change.key}", "stock": stock_id}
    row = MOVEMENTS.of(runtime.database).find_one(key, session=session)
    if row is None:
        return False
    if row["counted"] != change.counted or change.by not in {None, row["by"]}:
        raise IdempotencyKeyReused
    return True


def _units(change: NewMovement, stock: Stock, most: int) -> int:
    """Return the change of a stock in units; raises StockIsCarted and InvalidRequest."""
    by = change.by if change.by is not None else (change.counted or 0) - stock["on_hand"]
    if stock["available"] + by < 0:
        raise StockIsCarted(stock["on_hand"], stock["available"])
    if stock["on_hand"] + by > most:
        detail = f"there are at most {most} units of a SKU"
        raise InvalidRequest(errors=[FieldError("change", "too_many", detail)])
    return by


def _movement(runtime: Runtime, stock_id: str, change: NewMovement, by: int) -> StockMovement:
    return {
        "_id": f"{stock_id}:{change.key}",
        "stock": stock_id,
        "by": by,
        "counted": change.counted,
        "reason": change.reason,
        "ts": runtime.now(),
    }
