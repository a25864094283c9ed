"""Movements: units that come in, are returned, or are corrected by a count. Each has a key."""

from typing import NamedTuple

from pymongo.client_session import ClientSession

from chalicelib.database import in_transaction
from chalicelib.errors import FieldError, IdempotencyKeyReused, InvalidRequest
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import StockIsCarted
from chalicelib.shop.stock.shapes import MOVEMENTS, STOCKS, Movement, Stock

# Units of one SKU.


class Change(NamedTuple):
    """A change of a stock: by a number of units, or to what a count found."""

    key: str
    by: int | None
    counted: int | None
    reason: str


def move(runtime: Runtime, stock_id: str, change: Change) -> Stock:
    """Change a stock once for each key, and return it as it is then.

    Raises StockIsCarted if less would be left than is held, IdempotencyKeyReused for another
    change with the key, and InvalidRequest if there would be too many units.
    """

    def work(session: ClientSession) -> Stock:
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
        STOCKS.of(runtime.database).replace_one(
            {"_id": stock_id}, moved, upsert=True, session=session
        )
        row = _movement(runtime, stock_id, change, by)
        MOVEMENTS.of(runtime.database).insert_one(row, session=session)
        return moved

    return in_transaction(runtime.database, work)


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


def _is_repeated(runtime: Runtime, stock_id: str, change: Change, session: ClientSession) -> bool:
    key = {"_id": f"{stock_id}:{change.key}", "stock": stock_id}
    row = MOVEMENTS.of(runtime.database).find_one(key, session=session)
    if row is None:
        return False
    if row["counted"] != change.counted or change.by not in {None, row["by"]}:
        raise IdempotencyKeyReused
    return True


def _units(change: Change, stock: Stock, most: int) -> int:
    """Return by how many units a stock changes; raises StockIsCarted and InvalidRequest."""
    by = change.by if change.by is not None else (change.counted or 0) - stock["on_hand"]
    if stock["available"] + by < 0:
        raise StockIsCarted(stock["on_hand"], stock["available"])
    if stock["on_hand"] + by > most:
        told = f"there are at most {most} units of a SKU"
        raise InvalidRequest(errors=[FieldError("change", "too_many", told)])
    return by


def _movement(runtime: Runtime, stock_id: str, change: Change, by: int) -> Movement:
    return {
        "_id": f"{stock_id}:{change.key}",
        "stock": stock_id,
        "by": by,
        "counted": change.counted,
        "reason": change.reason,
        "ts": runtime.now(),
    }
