"""A shop whose money Stripe takes, with a paid order of two units: 37.98."""

import json
from dataclasses import dataclass
from typing import Any

from tests.shop.support.buying import agreement, cart_of, ordered, pay, stocked
from tests.shop.support.factories import SITE
from tests.shop.support.stripe_stand_in import Stripe, signature
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

CENT = 10_000


@dataclass
class Till:
    """The shop's publisher, its account at Stripe, and its order."""

    paula: Client
    stripe: Stripe
    workers: Workers
    clock: Clock
    order: str = ""

    def sell(self) -> None:
        """Sell the order."""
        cart = cart_of(self.paula, MOBY_HARD=2)
        self.order = ordered(self.paula, cart, agreement(2))
        self.stripe.pay("pi_1")
        assert pay(self.paula, cart, self.order)["state"] == "done"
        self.workers.drain()

    def send(self, event: dict[str, Any]) -> None:
        """Have Stripe send an event, and the workers act on it."""
        body = json.dumps(event).encode()
        signed = signature(body, self.now())
        headers = {"Content-Type": "application/json", "Stripe-Signature": signed}
        path = "/payments/stripe/webhook"
        assert self.paula.request("POST", path, body=body, headers=headers).status == 204
        self.workers.drain()

    def now(self) -> int:
        """Return the time as Stripe writes it."""
        return int(self.clock().timestamp())

    def shown(self) -> Any:
        """Return the newest order as its seller sees it."""
        return self.paula.get(f"/shops/{SITE}/orders").json["orders"][0]

    def sums(self) -> tuple[int, int, int]:
        """Return the refunded, the elsewhere refunded and the disputed cents of the order."""
        found = self.shown()
        names = ("refunded_micros", "refunded_elsewhere_micros", "disputed_micros")
        refunded, elsewhere, disputed = (found[name] // CENT for name in names)
        return refunded, elsewhere, disputed

    def refund(self, key: str = "all", **body: Any) -> Reply:
        """Refund all that is left, or units."""
        given = {"restock": True, "key": key, **body}
        return self.paula.post(f"/orders/{self.order}/refund", **given)

    def given(self) -> int:
        """Return the cents that Stripe has given back."""
        made = [each for each in self.stripe.refunds if each["status"] == "succeeded"]
        return sum(int(each["amount"]) for each in made)


def open_till(client: Client, stripe: Stripe, workers: Workers, clock: Clock) -> Till:
    """Open the shop, without an order."""
    return Till(stocked(client, 5, payments="stripe"), stripe, workers, clock)
