"""The end of overdue holds: no stock keeps another from it, and no run takes all the time."""

from threading import Thread
from typing import Any

import pytest
from pymongo import _csot
from pymongo.collection import Collection
from pymongo.errors import AutoReconnect, ExecutionTimeout

from chalicelib import deadlines
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.shop.stock import documents, expiry, shelf
from chalicelib.shop.stock.shapes import StockClaim
from tests.shop.support.shelves import HOLD, counted, fill, held, hold, key, move_to_documents
from tests.support.clock import Clock

# How long a transaction waits for another, which it may keep waiting in turn.
PATIENCE_SECONDS = 0.5


def hold_some(runtime: Runtime, sku: str, carts: int = 1) -> None:
    """Put units of a SKU on the shelf, and have carts hold one each."""
    fill(runtime, 10, sku)
    for number in range(carts):
        claim = StockClaim(key(sku), f"cart{number}", 1, runtime.now() + HOLD)
        shelf.put(runtime, claim)


@pytest.mark.parametrize("failure", [Unavailable(), ExecutionTimeout("time limit", 50)])
def test_a_stock_that_fails_keeps_no_other_from_its_end(
    runtime: Runtime,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    failure: Exception,
) -> None:
    for sku in ("a", "b", "c"):
        hold_some(runtime, sku)
    clock.advance(seconds=HOLD.total_seconds())
    expire = shelf.expire

    def fails(runtime: Runtime, stock_id: str) -> int:
        if stock_id == key("b"):
            raise failure
        return expire(runtime, stock_id)

    monkeypatch.setattr(shelf, "expire", fails)

    with caplog.at_level("WARNING", log.name):
        units, _ = expiry.end_overdue(runtime)

    assert units == 2
    assert [len(held(runtime, sku)) for sku in ("a", "b", "c")] == [0, 1, 0]
    told = [each.__dict__["fields"] for each in caplog.records]
    assert told == [{"stock": key("b"), "reason": type(failure).__name__}]


def test_an_outage_ends_the_run(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_some(runtime, "a")
    clock.advance(seconds=HOLD.total_seconds())

    def fail(*_: object) -> int:
        raise AutoReconnect

    monkeypatch.setattr(shelf, "expire", fail)

    with pytest.raises(AutoReconnect):
        expiry.end_overdue(runtime)


@pytest.mark.bounds(shop={"tended_at_once": 2})
def test_many_holds_of_one_stock_hide_no_other_stock(runtime: Runtime, clock: Clock) -> None:
    hold_some(runtime, "a", carts=3)
    move_to_documents(runtime, "a")
    clock.advance(seconds=1)
    hold_some(runtime, "b")
    move_to_documents(runtime, "b")
    clock.advance(seconds=HOLD.total_seconds())

    units, _ = expiry.end_overdue(runtime)

    assert units == 4


def test_a_run_leaves_the_time_to_the_steps_behind_it(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for sku in ("a", "b", "c"):
        hold_some(runtime, sku)
    clock.advance(seconds=HOLD.total_seconds())
    left, expire = 30.0, shelf.expire
    bounds: list[float] = []

    def slow(runtime: Runtime, stock_id: str) -> int:
        nonlocal left
        bounds.append(_csot.remaining() or 0)
        left -= 6
        return expire(runtime, stock_id)

    monkeypatch.setattr(deadlines, "remaining", lambda: left)
    monkeypatch.setattr(shelf, "expire", slow)

    units, _ = expiry.end_overdue(runtime)

    assert units == 2
    assert all(0 < each <= 3 for each in bounds)


def test_the_end_of_many_holds_goes_before_other_writers_of_the_stock(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(runtime, 10)
    move_to_documents(runtime)
    hold(runtime, "ann", 4)
    clock.advance(seconds=HOLD.total_seconds())
    writer, find, reads = Thread(target=hold, args=(runtime, "bob", 2)), Collection.find, []

    def read(self: Any, where: Any = None, *given: Any, **options: Any) -> Any:
        if options.get("session") and "until" in (where or {}):
            reads.append(where)
            if len(reads) == 1:
                writer.start()
                writer.join(PATIENCE_SECONDS)
        return find(self, where, *given, **options)

    monkeypatch.setattr(Collection, "find", read)

    assert shelf.expire(runtime, key()) == 4

    writer.join(30)
    assert len(reads) == 1
    assert held(runtime) == {"bob": (2, None)}
    assert counted(runtime) == (10, 8, 2)


def test_nothing_overdue_is_no_write(runtime: Runtime) -> None:
    fill(runtime, 10)
    move_to_documents(runtime)
    hold(runtime, "ann", 4)
    before = runtime.database["shop.stock"].find_one()

    assert shelf.expire(runtime, key()) == 0

    assert runtime.database["shop.stock"].find_one() == before
    assert not documents.move_out(runtime.database, key())
