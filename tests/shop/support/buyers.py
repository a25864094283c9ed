"""What each process of the buyers' swarm does: buy, look, cancel, and sweep, times compressed."""

import random
from dataclasses import replace
from datetime import timedelta

from pydantic import SecretStr
from pymongo.database import Database

from chalicelib.bounds import BOUNDS
from chalicelib.database import Document
from chalicelib.errors import Problem
from chalicelib.messaging import Message, Queues
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from chalicelib.shop.carts import carts, lines
from chalicelib.shop.errors import OutOfStock
from chalicelib.shop.orders import checkout, resuming, sweep
from chalicelib.shop.orders.forms import Checkout
from tests.shop.support.buying import OTHER, SKU, agreement
from tests.shop.support.factories import PRICE, SITE

EMAILS = ("ann", "ann", "ann", "declines", "lost-answer", "slow", "late")
SWEEPS = 0.15
# In 16 buyers, one is slower than everything that waits for them.
SLOW = 1 / 16


class NoQueues(Queues):
    """Takes messages and loses them: the sweep has to do without."""

    def __init__(self) -> None:
        super().__init__("")

    def send(self, *_messages: Message) -> bool:
        """Lose them."""
        return True


def runtime_of(database: Database[Document], rng: random.Random) -> Runtime:
    """Return a runtime whose leases last a second, and payments three."""
    shop = replace(
        BOUNDS.shop, order_lease=timedelta(seconds=1), payment_seconds=3, embedded_entries=6
    )
    keys = (SecretStr("a key that all buyers have in common"),)
    settings = Settings(signing_keys=keys, payments="fake")
    return Runtime(database, NoQueues(), utc_now, rng, settings, replace(BOUNDS, shop=shop))


def trade(database: Database[Document], rng: random.Random) -> None:
    """Buy something as one buyer does, or sweep."""
    runtime = runtime_of(database, rng)
    if rng.random() < SWEEPS:
        sweep.sweep(runtime)
        return
    cart = carts.open_cart(runtime, SITE, None)["_id"]
    for sku in rng.sample((SKU, OTHER), rng.randint(1, 2)):
        for _ in range(rng.randint(1, 2)):
            _put(runtime, cart, sku, rng.randint(1, 3))
    units = sum(line["qty"] for line in carts.find(database, cart)["lines"].values())
    if units == 0:
        return
    body = agreement(units, f"{rng.choice(EMAILS)}@example.org", total_micros=units * PRICE)
    _pay(runtime, cart, Checkout.model_validate(body))


def _put(runtime: Runtime, cart: str, sku: str, qty: int) -> None:
    try:
        lines.put(runtime, cart, sku, qty)
    except OutOfStock:
        return


def _pay(runtime: Runtime, cart: str, wanted: Checkout) -> None:
    try:
        order, _ = checkout.check_out(runtime, cart, wanted, "only")
        if runtime.random.random() < SLOW:
            return
        for _ in range(runtime.random.randint(1, 3)):
            resuming.resume(runtime, order["_id"], cancels=runtime.random.random() < SLOW)
    except Problem:
        return
