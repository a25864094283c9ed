"""What every store of stock does, in the same words."""

from contextlib import suppress
from datetime import timedelta

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.errors import HeldByOrder, OutOfStock
from chalicelib.shop.stock import documents, expiry, shelf
from chalicelib.shop.stock.shapes import StockClaim
from chalicelib.shop.stock.shares import shares_of
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

    units, overdue = expiry.end_overdue(shop)

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
    sold: list[int] = []

    def trade(number: int) -> None:
        for qty in (3, 1, 2):
            try:
                hold(shop, f"cart-{number}", qty)
                hold(shop, f"cart-{number}", qty, ORDER)
            except OutOfStock:
                continue
            cart = f"cart-{number}"
            if number:
                shelf.release(shop, key(), cart, ORDER)
            else:
                sold.append(shelf.sell(shop, key(), cart, ORDER))

    in_threads(trade, 4)

    # The first cart has bought all that it got, the others nothing.
    assert counted(shop) == (10 - sum(sold), 10 - sum(sold), 0)
    assert sold


def share(
    runtime: Runtime, cart: str, qty: int, source: str | None = None, percent: int = 50
) -> int:
    until = runtime.now() + HOLD
    claim = StockClaim(key(), cart, qty, until, since=runtime.now(), source=source)
    return shelf.share(runtime, claim._replace(most=qty, percent=percent))


def put_first(runtime: Runtime, cart: str, qty: int, order: str = ORDER) -> list[str]:
    return shelf.put_first(runtime, StockClaim(key(), cart, qty, runtime.now() + HOLD, order))


@pytest.mark.parametrize("on_hand", [1, 2, 3, 4, 5, 8, 9, 40, 100])
@pytest.mark.parametrize("percent", [1, 10, 50, 100])
def test_carts_hold_their_share_and_no_more(runtime: Runtime, on_hand: int, percent: int) -> None:
    fill(runtime, on_hand)
    shares = shares_of(on_hand, percent)

    for store in ("embedded", "documents"):
        one = share(runtime, f"{store}-first", on_hand, "here", percent)
        address = [share(runtime, f"{store}-{n}", on_hand, "here", percent) for n in range(9)]
        others = [
            share(runtime, f"{store}-{n}", on_hand, f"at-{n}", percent) for n in range(10, 30)
        ]
        assert one == shares.cart
        assert one + sum(address) == shares.address
        assert one + sum(address) + sum(others) == shares.together
        assert counted(runtime) == (on_hand, on_hand - shares.together, shares.together)
        for entry in shelf.entries(runtime, key()):
            assert entry["qty"] > 0
            shelf.release(runtime, key(), entry["cart"])
        move_to_documents(runtime)


def test_a_carts_share_is_counted_anew_each_time(shop: Runtime) -> None:
    assert [share(shop, "ann", qty, "here", 60) for qty in (9, 1, 9)] == [1, 1, 1]
    assert [share(shop, "ann", qty, "here", 100) for qty in (9, 1, 8)] == [9, 1, 8]
    assert held(shop) == {"ann": (8, None)}
    assert share(shop, "ann", 2, "here", 1) == 1
    assert counted(shop) == (10, 9, 1)


def test_a_claim_of_which_nothing_may_be_held_gives_its_cart_units_back(shop: Runtime) -> None:
    share(shop, "ann", 2, "here")
    claim = StockClaim(key(), "ann", 2, shop.now(), most=0, percent=50)

    assert shelf.share(shop, claim) == 0

    assert held(shop) == {}
    assert counted(shop) == (10, 10, 0)


def test_a_share_counts_carts_and_no_orders(shop: Runtime) -> None:
    hold(shop, "bob", 7, ORDER)

    assert share(shop, "ann", 3, "here", 75) == 3
    with pytest.raises(OutOfStock) as refused:
        share(shop, "cho", 4, "there")

    assert refused.value.facts == {"sku": "moby", "available": 3}
    assert counted(shop) == (10, 0, 10)


def test_nobody_shares_an_orders_entry(shop: Runtime) -> None:
    hold(shop, "ann", 5, ORDER)

    with pytest.raises(HeldByOrder):
        share(shop, "ann", 1)
    with pytest.raises(HeldByOrder):
        put_first(shop, "ann", 1, OTHER)

    assert held(shop) == {"ann": (5, ORDER)}


def test_shares_that_have_ended_are_free_for_others(shop: Runtime, clock: Clock) -> None:
    for number in range(10):
        share(shop, f"cart-{number}", 1, f"at-{number}")
    clock.advance(seconds=HOLD.total_seconds())

    assert share(shop, "ann", 1, "here") == 1

    assert held(shop) == {"ann": (1, None)}


def test_who_checks_out_goes_before_who_only_holds(shop: Runtime, clock: Clock) -> None:
    for cart, qty in (("first", 3), ("second", 3), ("third", 3)):
        hold(shop, cart, qty)
        clock.advance(seconds=1)

    assert put_first(shop, "ann", 1) == []
    assert put_first(shop, "ann", 3) == ["first"]
    assert counted(shop) == (10, 1, 9)
    assert put_first(shop, "bob", 7, OTHER) == ["second", "third"]

    assert held(shop) == {"ann": (3, ORDER), "bob": (7, OTHER)}
    assert counted(shop) == (10, 0, 10)
    with pytest.raises(OutOfStock) as refused:
        put_first(shop, "cho", 1)
    assert refused.value.facts == {"sku": "moby", "available": 0}


def test_an_order_that_cannot_have_its_units_takes_none_from_carts(shop: Runtime) -> None:
    hold(shop, "first", 4)
    hold(shop, "bob", 4, ORDER)

    with pytest.raises(OutOfStock) as refused:
        put_first(shop, "ann", 7, OTHER)

    assert refused.value.facts == {"sku": "moby", "available": 6}
    assert held(shop) == {"first": (4, None), "bob": (4, ORDER)}


def test_no_order_gives_way_to_another_however_long_it_has_held(shop: Runtime) -> None:
    hold(shop, "bob", 4, ORDER)
    hold(shop, "first", 4)

    assert put_first(shop, "ann", 5, OTHER) == ["first"]

    assert held(shop) == {"ann": (5, OTHER), "bob": (4, ORDER)}
    assert counted(shop) == (10, 1, 9)


def test_an_order_that_goes_first_keeps_what_its_own_cart_held(shop: Runtime) -> None:
    hold(shop, "ann", 6)
    hold(shop, "bob", 4)

    assert put_first(shop, "ann", 7) == ["bob"]

    assert held(shop) == {"ann": (7, ORDER)}
    assert counted(shop) == (10, 3, 7)


def test_of_many_orders_at_once_no_more_have_units_than_there_are(shop: Runtime) -> None:
    """Carts hold and are ended all the while; each order has one unit."""
    served: list[str] = []

    def buy(number: int) -> None:
        for attempt in range(6):
            cart = f"cart-{number}-{attempt}"
            with suppress(OutOfStock):
                share(shop, f"{cart}-holds", 2, f"at-{number}", 100)
            try:
                put_first(shop, cart, 1, f"order-{cart}")
            except OutOfStock:
                continue
            served.append(cart)

    in_threads(buy, 4)

    assert len(served) == 10
    assert counted(shop) == (10, 0, 10)
    assert {cart for cart, (_, order) in held(shop).items() if order} == set(served)


def test_an_entry_says_since_when_and_from_where(shop: Runtime, clock: Clock) -> None:
    begun = clock()
    share(shop, "ann", 1, "here")
    hold(shop, "bob", 1)
    documents.move_in(shop.database, key())

    found = {each["cart"]: each for each in shelf.entries(shop, key())}

    assert (found["ann"].get("since"), found["ann"].get("source")) == (begun, "here")
    assert {"since", "source"}.isdisjoint(found["bob"])
