"""What every store of stock does, in the same words."""

from datetime import timedelta

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.stock import expiry, shelf
from chalicelib.shop.stock.errors import HeldByOrder, OutOfStock
from tests.shop.support.shelves import (
    HOLD,
    counted,
    fill,
    held,
    hold,
    key,
    move_to_documents,
    stored,
)
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock

ORDER, OTHER = "order-1", "order-2"


@pytest.fixture(params=["embedded", "documents"])
def shop(runtime: Runtime, request: pytest.FixtureRequest) -> Runtime:
    """Ten units, kept in one of the stores."""
    fill(runtime, 10)
    if request.param == "documents":
        move_to_documents(runtime)
    assert stored(runtime)["store"] == request.param
    return runtime


def test_a_cart_holds_what_it_says_last(shop: Runtime) -> None:
    for qty, available in ((3, 7), (8, 2), (8, 2), (1, 9)):
        hold(shop, "ann", qty)

        assert held(shop) == {"ann": (qty, None)}
        assert counted(shop) == (10, available, qty)


def test_the_last_unit_can_be_held_and_no_more(shop: Runtime) -> None:
    hold(shop, "ann", 7)
    hold(shop, "bob", 3)

    with pytest.raises(OutOfStock) as refused:
        hold(shop, "bob", 4)

    assert refused.value.facts == {"sku": "moby", "available": 3}
    assert held(shop) == {"ann": (7, None), "bob": (3, None)}
    assert counted(shop) == (10, 0, 10)


def test_an_order_takes_over_the_entry_of_its_cart_at_its_own_quantity(shop: Runtime) -> None:
    hold(shop, "ann", 2)
    hold(shop, "ann", 5, ORDER)
    hold(shop, "ann", 5, ORDER)

    assert held(shop) == {"ann": (5, ORDER)}
    assert counted(shop) == (10, 5, 5)


def test_an_order_takes_what_its_cart_holds_no_more(shop: Runtime) -> None:
    hold(shop, "ann", 5, ORDER)

    assert held(shop) == {"ann": (5, ORDER)}


@pytest.mark.parametrize("order", [None, OTHER])
def test_nobody_else_changes_an_orders_entry(shop: Runtime, order: str | None) -> None:
    hold(shop, "ann", 5, ORDER)

    with pytest.raises(HeldByOrder) as refused:
        hold(shop, "ann", 1, order)

    assert refused.value.order == ORDER
    assert shelf.release(shop, key(), "ann", order) == 0
    assert held(shop) == {"ann": (5, ORDER)}
    assert counted(shop) == (10, 5, 5)


def test_what_is_released_is_available_again_once(shop: Runtime) -> None:
    hold(shop, "ann", 4)
    hold(shop, "bob", 2, ORDER)

    assert [shelf.release(shop, key(), "ann") for _ in range(2)] == [4, 0]
    assert [shelf.release(shop, key(), "bob", ORDER) for _ in range(2)] == [2, 0]
    assert counted(shop) == (10, 10, 0)


def test_what_is_sold_leaves_the_shelf_once(shop: Runtime) -> None:
    hold(shop, "ann", 4, ORDER)

    assert [shelf.sell(shop, key(), "ann", ORDER) for _ in range(2)] == [4, 0]
    assert counted(shop) == (6, 6, 0)


def test_a_carts_entry_ends_at_its_time_and_no_sooner(shop: Runtime, clock: Clock) -> None:
    hold(shop, "ann", 4)
    clock.advance(seconds=HOLD.total_seconds(), milliseconds=-1)
    assert shelf.expire(shop, key()) == 0

    clock.advance(milliseconds=1)

    assert [shelf.expire(shop, key()) for _ in range(2)] == [4, 0]
    assert counted(shop) == (10, 10, 0)


def test_an_orders_entry_does_not_end_by_itself(shop: Runtime, clock: Clock) -> None:
    hold(shop, "ann", 4, ORDER)
    hold(shop, "bob", 1)
    clock.advance(seconds=HOLD.total_seconds())

    units, overdue = expiry.end_lapsed(shop)

    assert units == 1
    assert [(each.stock, each.entry["cart"], each.entry["order"]) for each in overdue] == [
        (key(), "ann", ORDER)
    ]
    assert counted(shop) == (10, 6, 4)


def test_an_orders_entry_is_prolonged_and_never_shortened(shop: Runtime, clock: Clock) -> None:
    hold(shop, "ann", 4, ORDER)
    ends = clock() + 2 * HOLD
    shelf.prolong(shop, key(), "ann", ORDER, ends)
    shelf.prolong(shop, key(), "ann", ORDER, clock())
    shelf.prolong(shop, key(), "ann", OTHER, ends + HOLD)
    clock.advance(seconds=2 * HOLD.total_seconds(), milliseconds=-1)
    assert shelf.overdue(shop, key()) == []

    clock.advance(milliseconds=1)

    assert [each["until"] for each in shelf.overdue(shop, key())] == [ends]


def test_nobody_is_refused_for_what_has_ended(shop: Runtime, clock: Clock) -> None:
    hold(shop, "ann", 10)
    clock.advance(seconds=HOLD.total_seconds())

    hold(shop, "bob", 10)

    assert held(shop) == {"bob": (10, None)}


def test_an_entry_that_has_ended_can_still_be_renewed_by_its_cart(
    shop: Runtime, clock: Clock
) -> None:
    hold(shop, "ann", 10)
    clock.advance(seconds=HOLD.total_seconds())

    hold(shop, "ann", 10, span=timedelta(seconds=60))

    assert shelf.expire(shop, key()) == 0
    assert counted(shop) == (10, 0, 10)


def test_of_many_carts_at_once_no_more_are_served_than_there_are_units(shop: Runtime) -> None:
    served: list[int] = []

    def buy(number: int) -> None:
        for attempt in range(4):
            try:
                hold(shop, f"cart-{number}-{attempt}", 1)
            except OutOfStock:
                continue
            served.append(number)

    in_threads(buy, 4)

    assert len(served) == 10
    assert counted(shop) == (10, 0, 10)


def test_carts_come_and_go_at_once_and_the_counters_hold(shop: Runtime) -> None:
    def trade(number: int) -> None:
        for qty in (3, 1, 2):
            try:
                hold(shop, f"cart-{number}", qty)
                hold(shop, f"cart-{number}", qty, ORDER)
            except OutOfStock:
                continue
            done = shelf.sell if number == 0 else shelf.release
            done(shop, key(), f"cart-{number}", ORDER)

    in_threads(trade, 4)

    on_hand, _, _ = counted(shop)
    # The first cart has bought all that it got, the others nothing.
    assert 4 <= on_hand <= 10
