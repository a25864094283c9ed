"""A checkout that is cut at any of its writes is finished by whoever comes next.

Each write is cut before it is sent and once it is done, and then the client repeats its call, a
webhook's message comes, the sweep runs, or all three at once. In the end the shelf, the order, the
cart and the provider's books agree.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import pytest

from chalicelib.errors import Problem, Unavailable
from chalicelib.runtime import Runtime
from chalicelib.shop.carts.shapes import CARTS
from chalicelib.shop.ids import key_of
from chalicelib.shop.orders import checkout, resuming, sweep
from chalicelib.shop.orders.forms import Checkout
from chalicelib.shop.orders.shapes import ORDERS, Order
from chalicelib.shop.payments.fake import FAKE_PAYMENTS, FakeProvider
from chalicelib.shop.stock import documents, shelf
from chalicelib.shop.stock.shapes import StockClaim, StoreName
from tests.shop.support.buying import (
    OTHER,
    SKU,
    agreement,
    cart_of,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import SITE
from tests.shop.support.knife import Cut, Edge, cut
from tests.shop.support.ledger import figures
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.http_client import Client

pytestmark = pytest.mark.usefixtures("workers")

UNITS = 1_000
WANTED = Checkout.model_validate(agreement(3))
Resumer = Callable[[Runtime, str, Checkout], None]


def client_again(runtime: Runtime, cart: str, wanted: Checkout) -> None:
    order, _ = checkout.check_out(runtime, cart, wanted, "k1")
    resuming.resume(runtime, order["_id"])


def webhook(runtime: Runtime, _cart: str, _wanted: Checkout) -> None:
    for row in list(FAKE_PAYMENTS.of(runtime.database).find({})):
        resuming.resume(runtime, row["_id"])


def the_sweep(runtime: Runtime, _cart: str, _wanted: Checkout) -> None:
    sweep.sweep(runtime)


def all_at_once(runtime: Runtime, cart: str, wanted: Checkout) -> None:
    each = (client_again, webhook, the_sweep)

    def one(number: int) -> None:
        tolerant(each[number])(runtime, cart, wanted)

    in_threads(one, 3)


def tolerant(resumer: Resumer) -> Resumer:
    """Return a resumer that may be refused, as a call may be."""

    def calling(*arguments: Any) -> None:
        try:
            resumer(*arguments)
        except Problem:
            return

    return calling


def buy(runtime: Runtime, cart: str, wanted: Checkout) -> None:
    """Check out and look at the payment, as a client does whom nothing interrupts."""
    client_again(runtime, cart, wanted)


@dataclass(frozen=True)
class Shop:
    """A shop with more units than all carts take."""

    client: Client
    runtime: Runtime
    clock: Clock

    def come_to_rest(self) -> None:
        """Let every lease and every time end."""
        for minutes in (2, 2, 31, 2, 62, 2):
            self.clock.advance(minutes=minutes)
            sweep.sweep(self.runtime)

    def check_shelves(self) -> None:
        """Check that what is available and held is what is there."""
        for sku in (SKU, OTHER):
            shelf_of(self.runtime, sku)

    def check_end(self) -> None:
        """Check that nothing was lost, sold twice or charged for nothing, cart by cart."""
        found = figures(self.runtime)
        assert not any(found.wrong), found
        for cart in CARTS.of(self.runtime.database).find({}):
            orders = ORDERS.of(self.runtime.database).find({"cart": cart["_id"]})
            done = [order["_id"] for order in orders if order["state"] == "done"]
            assert len(done) <= 1
            assert cart["state"] == ("ordered" if done else "open"), cart


@pytest.fixture
def shop(client: Client, runtime: Runtime, clock: Clock) -> Shop:
    stocked(client, UNITS)
    return Shop(client, runtime, clock)


RESUMERS = [client_again, webhook, the_sweep, all_at_once]
EMAILS = ("ann@example.org", "declines@example.org")


@pytest.mark.parametrize("resumer", RESUMERS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("edge", ["before", "after"])
@pytest.mark.parametrize("store", get_args(StoreName))
def test_a_checkout_cut_at_any_write_ends_well(
    shop: Shop,
    monkeypatch: pytest.MonkeyPatch,
    resumer: Resumer,
    edge: Edge,
    store: StoreName,
) -> None:
    runtime = shop.runtime
    for email in EMAILS:
        wanted = Checkout.model_validate(agreement(3, email))
        number, was_cut = 0, True
        while was_cut:
            # A sweep keeps a stock of which nothing is held in its document again.
            for sku in (SKU, OTHER) if store == "documents" else ():
                documents.move_in(runtime.database, key_of(SITE, sku))
            cart = cart_of(shop.client, MOBY_HARD=2, PEQUOD=1)
            was_cut = cut_at(monkeypatch, number, edge, partial(buy, runtime, cart, wanted))
            if resumer in {the_sweep, all_at_once}:
                # The sweep finds it overdue, while the client's call comes again.
                shop.clock.advance(minutes=2)
            tolerant(resumer)(runtime, cart, wanted)
            shop.check_shelves()
            number += 1
        assert number > 8

    shop.come_to_rest()

    shop.check_end()
    declined = ORDERS.of(runtime.database).find({"email": EMAILS[1]})
    assert {order["state"] for order in declined} == {"void"}


def cut_at(
    monkeypatch: pytest.MonkeyPatch, number: int, edge: Edge, work: Callable[[], object]
) -> bool:
    """Do some work, cut at its write of this number; return whether it had so many."""
    with cut(monkeypatch, number, edge), suppress(Cut):
        work()
        return False
    return True


def test_a_preparer_who_wakes_after_the_sweep_gives_back_what_it_held(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    cart = cart_of(shop.client, MOBY_HARD=2, PEQUOD=1)
    hold = checkout._hold

    def late(*arguments: Any) -> Any:
        shop.clock.advance(minutes=2)
        sweep.sweep(shop.runtime)
        return hold(*arguments)

    monkeypatch.setattr(checkout, "_hold", late)

    order, _ = checkout.check_out(shop.runtime, cart, WANTED, "k1")

    assert (order["state"], order["reason"]) == ("void", "abandoned")
    assert (shelf_of(shop.runtime).held, shelf_of(shop.runtime, OTHER).held) == (0, 0)


def test_an_entry_of_a_preparer_who_died_late_keeps_nobody_from_buying(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    cart = cart_of(shop.client, MOBY_HARD=2, PEQUOD=1)
    hold = checkout._hold

    def late(*arguments: Any) -> Any:
        shop.clock.advance(minutes=2)
        sweep.sweep(shop.runtime)
        hold(*arguments)
        raise Cut

    with monkeypatch.context() as patch:
        patch.setattr(checkout, "_hold", late)
        with pytest.raises(Cut):
            checkout.check_out(shop.runtime, cart, WANTED, "k1")
    assert shelf_of(shop.runtime).held == 2

    assert checkout.check_out(shop.runtime, cart, WANTED, "k2")[0]["state"] == "paying"
    shop.come_to_rest()

    shop.check_end()
    assert shelf_of(shop.runtime).on_hand == UNITS - 2


def test_an_entry_that_an_ended_order_has_left_is_found_by_its_time(shop: Shop) -> None:
    cart = cart_of(shop.client, MOBY_HARD=2, PEQUOD=1)
    order, _ = checkout.check_out(shop.runtime, cart, WANTED, "k1")
    resuming.resume(shop.runtime, order["_id"])
    claim = StockClaim(f"{SITE}:{SKU}", cart, 3, shop.clock(), order["_id"])
    shelf.put(shop.runtime, claim)
    assert shelf_of(shop.runtime).held == 3

    sweep.sweep(shop.runtime)

    assert shelf_of(shop.runtime).held == 0
    shop.check_end()


def test_no_state_is_changed_by_whoever_has_read_an_older_one(shop: Shop) -> None:
    cart = cart_of(shop.client, MOBY_HARD=2, PEQUOD=1)
    order, _ = checkout.check_out(shop.runtime, cart, WANTED, "k1")
    assert order["state"] == "paying"

    read_before: Order = {**order, "state": "holding"}

    assert not resuming.advance(shop.runtime, read_before, "refused")
    assert stored_order(shop.runtime, order["_id"])["state"] == "paying"


def test_an_outage_while_an_entry_is_asked_about_releases_nothing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    cart = cart_of(shop.client, MOBY_HARD=2, PEQUOD=1)
    checkout.check_out(shop.runtime, cart, WANTED, "k1")

    def gone(*_: Any) -> Any:
        raise Unavailable

    with monkeypatch.context() as patch:
        patch.setattr(FakeProvider, "status", gone)
        shop.come_to_rest()
        assert shelf_of(shop.runtime).held == 2

    shop.come_to_rest()
    shop.check_end()
    assert shelf_of(shop.runtime).on_hand == UNITS - 2
