"""The port of payments: what Plaza asks of whoever takes the money.

Every call names its order, and may be repeated: the order is its key. An outage raises Unavailable,
and changes nothing that a repeated call does not find.
"""

from typing import Literal, NamedTuple, Protocol

# `failed` and `cancelled` are final, as `succeeded` is; `unknown` is as good as `pending`.
Status = Literal["succeeded", "pending", "failed", "cancelled", "unknown"]
Name = Literal["fake", "stripe"]
FINAL: frozenset[Status] = frozenset({"succeeded", "failed", "cancelled"})


class Charge(NamedTuple):
    """What an order asks its buyer for; the amount is of the currency's smallest units whole."""

    order: str
    amount_micros: int
    currency: str
    email: str


class Started(NamedTuple):
    """A payment that the buyer can make: by its secret in the page, or at an address."""

    intent: str
    client_secret: str | None = None
    redirect_url: str | None = None


class Refused(Exception):
    """The provider takes no payment for this order, and never will; `reason` is its code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Provider(Protocol):
    """Somebody who takes money."""

    def start(self, charge: Charge) -> Started:
        """Begin an order's payment, or return the one that was begun; raises Refused."""
        ...

    def status(self, order: str, intent: str) -> Status:
        """Return how a payment stands now."""
        ...

    def cancel(self, order: str, intent: str) -> Status:
        """Cancel a payment that was not made; return how it stands then, `succeeded` if it was."""
        ...

    def refund(self, charge: Charge, intent: str, amount_micros: int, key: str) -> None:
        """Give back a part of a payment, once for each key; raises Refused."""
        ...

    def failed_refunds(self, order: str, intent: str) -> frozenset[str]:
        """Return the keys of the refunds that were taken on, and have failed since."""
        ...
