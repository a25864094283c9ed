"""Any sequence of what happens to a stock, beside a dict that knows who holds what."""

import os
from datetime import datetime, timedelta
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from chalicelib.errors import IdempotencyKeyReused
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import HeldByOrder, OutOfStock, StockIsCarted
from chalicelib.shop.stock import audit, documents, expiry, movements, shelf
from chalicelib.shop.stock.movements import NewMovement
from chalicelib.shop.stock.shapes import StockClaim
from chalicelib.shop.stock.shares import shares_of
from tests.shop.support.shelves import key, stored, with_entries
from tests.support.clock import START, Clock
from tests.support.isolation import empty_collections

# A long run: PLAZA_TEST_EXAMPLES=500 pytest tests/shop/stock/test_machine.py
EXAMPLES = int(os.environ.get("PLAZA_TEST_EXAMPLES", "12"))
CARTS = st.sampled_from(["ann", "bob", "cho", "dee"])
ORDERS = st.sampled_from(["one", "two"])


def network(cart: str) -> str:
    """Return the network of a cart: Ann and Bob share one."""
    return "near" if cart in {"ann", "bob"} else cart


class Held(NamedTuple):
    """What the model knows of an entry."""

    qty: int
    until: datetime
    order: str | None


class Shelf(RuleBasedStateMachine):
    """One stock whose document takes two entries."""

    runtime: Runtime
    clock: Clock

    def __init__(self) -> None:
        super().__init__()
        empty_collections(self.runtime.database)
        self.clock.time = START
        self.on_hand, self.sold = 0, 0
        self.held: dict[str, Held] = {}
        self.keys: dict[str, int] = {}
        self.restock("opening", 6)

    def available(self) -> int:
        return self.on_hand - sum(each.qty for each in self.held.values())

    def lapse(self) -> int:
        """End in the model what has ended; return its units."""
        ended = [
            cart
            for cart, each in self.held.items()
            if each.order is None and each.until <= self.clock()
        ]
        return sum(self.held.pop(cart).qty for cart in ended)

    @rule(movement=st.sampled_from(["a", "b", "c"]), by=st.integers(-4, 5))
    def restock(self, movement: str, by: int) -> None:
        change = NewMovement(movement, by, None, "")
        try:
            movements.move(self.runtime, key(), change)
        except StockIsCarted:
            assert movement not in self.keys
            assert self.available() + by < 0
        except IdempotencyKeyReused:
            assert self.keys[movement] != by
        else:
            assert self.keys.setdefault(movement, by) == by
            self.on_hand = sum(self.keys.values()) - self.sold

    @rule(cart=CARTS, qty=st.integers(1, 5), seconds=st.integers(1, 90))
    def reserve(self, cart: str, qty: int, seconds: int) -> None:
        self._put(cart, qty, seconds, None)

    @rule(cart=CARTS, qty=st.integers(1, 5), seconds=st.integers(1, 90), order=ORDERS)
    def hold(self, cart: str, qty: int, seconds: int, order: str) -> None:
        self._put(cart, qty, seconds, order)

    def _put(self, cart: str, qty: int, seconds: int, order: str | None) -> None:
        until = self.clock() + timedelta(seconds=seconds)
        own = self.held.get(cart)
        # Orders of no known network are never beyond a share; tests of carts have the others.
        source = None if order else network(cart)
        claim = StockClaim(key(), cart, qty, until, order, source=source)
        refused = self._refusal(claim)
        if isinstance(refused, HeldByOrder):
            assert own is not None
            assert own.order == refused.order != order
            return
        assert own is None or own.order in {None, order}
        if self.available() + (own.qty if own else 0) < qty:
            self.lapse()
        own = self.held.get(cart)
        available = self.available() + (own.qty if own else 0)
        if refused is None:
            assert available >= qty
            self.held[cart] = Held(qty, until, order)
        else:
            assert refused.facts == {"sku": "moby", "available": available}
            assert available < qty

    @rule(
        cart=CARTS,
        qty=st.integers(1, 5),
        seconds=st.integers(1, 90),
        percent=st.sampled_from([1, 50, 80, 100]),
    )
    def share(self, cart: str, qty: int, seconds: int, percent: int) -> None:
        until = self.clock() + timedelta(seconds=seconds)
        claim = StockClaim(key(), cart, qty, until, source=network(cart), most=qty, percent=percent)
        own = self.held.get(cart)
        if own is not None and own.order is not None:
            with pytest.raises(HeldByOrder):
                shelf.share(self.runtime, claim)
            return
        if self._in_orders() + qty > self.on_hand:
            # What has ended is freed before a claim is refused.
            self.lapse()
            with pytest.raises(OutOfStock):
                shelf.share(self.runtime, claim)
            return
        units = self._share_of(cart, qty, percent)
        if units < qty and self.lapse():
            units = self._share_of(cart, qty, percent)
        assert shelf.share(self.runtime, claim) == units
        self.held.pop(cart, None)
        if units:
            self.held[cart] = Held(qty=units, until=until, order=None)

    @rule(cart=CARTS, qty=st.integers(1, 5), seconds=st.integers(1, 90), order=ORDERS)
    def hold_first(self, cart: str, qty: int, seconds: int, order: str) -> None:
        until = self.clock() + timedelta(seconds=seconds)
        own = self.held.get(cart)
        claim = StockClaim(key(), cart, qty, until, order)
        if own is not None and own.order not in {None, order}:
            with pytest.raises(HeldByOrder):
                shelf.put_first(self.runtime, claim)
            return
        others = self._in_orders() - (own.qty if own and own.order else 0)
        if others + qty > self.on_hand:
            self.lapse()
            with pytest.raises(OutOfStock):
                shelf.put_first(self.runtime, claim)
            return
        missing = qty - self.available() - (own.qty if own else 0)
        for other in shelf.put_first(self.runtime, claim):
            assert missing > 0
            gone = self.held.pop(other)
            assert gone.order is None
            missing -= gone.qty
        assert missing <= 0
        self.held[cart] = Held(qty, until, order)

    def _in_orders(self) -> int:
        return sum(each.qty for each in self.held.values() if each.order)

    def _share_of(self, cart: str, qty: int, percent: int) -> int:
        others = {name: each.qty for name, each in self.held.items() if each.order is None}
        own = others.pop(cart, 0)
        near = sum(units for name, units in others.items() if network(name) == network(cart))
        shares = shares_of(self.on_hand, percent)
        together, address = shares.together - sum(others.values()), shares.address - near
        return max(0, min(qty, shares.cart, together, address, self.available() + own))

    def _refusal(self, claim: StockClaim) -> HeldByOrder | OutOfStock | None:
        try:
            shelf.put(self.runtime, claim)
        except (HeldByOrder, OutOfStock) as refused:
            return refused
        return None

    @rule(cart=CARTS, order=st.one_of(st.none(), ORDERS))
    def release(self, cart: str, order: str | None) -> None:
        assert shelf.release(self.runtime, key(), cart, order) == self._taken(cart, order)

    @rule(cart=CARTS, order=ORDERS)
    def sell(self, cart: str, order: str) -> None:
        units = self._taken(cart, order)
        assert shelf.sell(self.runtime, key(), cart, order) == units
        self.on_hand -= units
        self.sold += units

    def _taken(self, cart: str, order: str | None) -> int:
        own = self.held.get(cart)
        return self.held.pop(cart).qty if own and own.order == order else 0

    @rule(seconds=st.integers(0, 60))
    def expire(self, seconds: int) -> None:
        self.clock.advance(seconds=seconds)
        units, overdue = expiry.end_overdue(self.runtime)
        assert units == self.lapse()
        orders = {cart for cart, each in self.held.items() if each.order}
        late = {cart for cart in orders if self.held[cart].until <= self.clock()}
        assert {each.entry["cart"] for each in overdue} == late

    @rule()
    def promote(self) -> None:
        documents.move_in(self.runtime.database, key())
        assert stored(self.runtime)["store"] == "documents"

    @rule()
    def move_back(self) -> None:
        was_apart = stored(self.runtime)["store"] == "documents"
        moved = documents.move_out(self.runtime.database, key())
        assert moved == (was_apart and not self.held)

    @invariant()
    def it_is_as_the_model_says(self) -> None:
        stock = stored(self.runtime)
        entries = shelf.entries(self.runtime, key())
        assert {
            each["cart"]: Held(each["qty"], each["until"], each["order"]) for each in entries
        } == self.held
        assert (stock["on_hand"], stock["available"]) == (self.on_hand, self.available())
        assert stock["available"] >= 0
        assert set(audit.audit(self.runtime, key(), self.sold).values()) == {0}


def test_any_sequence_keeps_what_is_held_and_what_is_there(runtime: Runtime, clock: Clock) -> None:
    shelves = {"runtime": with_entries(runtime, 2), "clock": clock}
    machine = type("Machine", (Shelf,), shelves)

    run_state_machine_as_test(
        machine, settings=settings(max_examples=EXAMPLES, stateful_step_count=25, deadline=None)
    )
