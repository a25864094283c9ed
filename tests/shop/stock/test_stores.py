"""Moving a stock between its stores, and stocks that are unknown."""

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.errors import OutOfStock
from chalicelib.shop.stock import documents, expiry, shelf
from chalicelib.shop.stock.shapes import StockClaim
from tests.shop.support.shelves import (
    HOLD,
    counted,
    fill,
    held,
    hold,
    key,
    move_to_documents,
    stored,
    with_entries,
)
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.commands import Commands, listening


def test_a_stock_with_more_carts_than_its_document_takes_is_kept_as_documents(
    runtime: Runtime,
) -> None:
    small = with_entries(runtime, 2)
    fill(small, 10)
    hold(small, "ann", 1)
    hold(small, "bob", 2, "order")
    assert stored(small)["store"] == "embedded"

    hold(small, "cho", 3)

    assert (stored(small)["store"], stored(small)["carted"]) == ("documents", [])
    assert held(small) == {"ann": (1, None), "bob": (2, "order"), "cho": (3, None)}
    assert counted(small) == (10, 4, 6)


def test_a_full_document_still_serves_those_who_are_in_it(runtime: Runtime) -> None:
    small = with_entries(runtime, 2)
    fill(small, 10)
    for cart in ("ann", "bob"):
        hold(small, cart, 1)

    hold(small, "ann", 5)

    assert stored(small)["store"] == "embedded"
    assert counted(small) == (10, 4, 6)


def test_a_cart_takes_the_stock_before_it_reads_what_other_carts_hold(runtime: Runtime) -> None:
    """A popular SKU has thousands of holds: a conflict after their reading would repeat it."""
    fill(runtime, 10)
    move_to_documents(runtime)
    commands = Commands()

    with listening(runtime, commands) as heard:
        shelf.share(heard, StockClaim(key(), "ann", 1, runtime.now() + HOLD))

    # The last read before the sum is that of the cart's own hold.
    before = commands.names[: commands.names.index("aggregate")]
    assert before[-2:] == ["findAndModify", "find"]


def test_refused_carts_and_empty_releases_write_nothing_to_a_stock(runtime: Runtime) -> None:
    """Else everybody who wants a SKU that is sold out conflicts with the orders of its units."""
    fill(runtime, 1)
    move_to_documents(runtime)
    hold(runtime, "bob", stored(runtime)["available"], "order")
    version = stored(runtime)["version"]
    claim = StockClaim(key(), "ann", 1, runtime.now() + HOLD)

    for take in (shelf.share, shelf.put):
        with pytest.raises(OutOfStock):
            take(runtime, claim)
    assert shelf.release(runtime, key(), "ann") == 0

    assert stored(runtime)["version"] == version


def test_a_stock_of_which_nothing_is_held_any_more_is_embedded_again(
    runtime: Runtime, clock: Clock
) -> None:
    fill(runtime, 10)
    move_to_documents(runtime)
    hold(runtime, "ann", 1)
    hold(runtime, "bob", 2, "order")
    clock.advance(seconds=HOLD.total_seconds())

    expiry.end_overdue(runtime)
    assert stored(runtime)["store"] == "documents"
    shelf.sell(runtime, key(), "bob", "order")
    hold(runtime, "ann", 1)
    clock.advance(seconds=HOLD.total_seconds())
    expiry.end_overdue(runtime)

    assert stored(runtime)["store"] == "embedded"
    assert counted(runtime) == (8, 8, 0)


def test_a_stock_moves_while_carts_come_and_go(runtime: Runtime) -> None:
    small = with_entries(runtime, 3)
    fill(small, 100)

    def trade(number: int) -> None:
        for _ in range(5):
            for cart in range(3):
                hold(small, f"{number}-{cart}", 2)
            for cart in range(3):
                shelf.release(small, key(), f"{number}-{cart}")
            documents.move_out(small.database, key())

    in_threads(trade, 3)

    assert counted(small) == (100, 100, 0)


def test_of_an_unknown_stock_there_is_nothing(runtime: Runtime) -> None:
    with pytest.raises(OutOfStock) as refused:
        hold(runtime, "ann", 1)

    assert refused.value.facts == {"sku": "moby", "available": 0}
    assert shelf.release(runtime, key(), "ann") == 0
    assert shelf.entries(runtime, key()) == []
