"""The port of payments: the calls that Plaza makes to a payment provider.

The order is the idempotency key of each call, so any call may be repeated. An outage raises
Unavailable; a repeated call finds every effect of the failed call.
"""

from typing import Literal, NamedTuple, Protocol

# `succeeded`, `failed` and `cancelled` are final; treat `unknown` as `pending`.
Status = Literal["succeeded", "pending", "failed", "cancelled", "unknown"]
Name = Literal["fake", "stripe"]


class Charge(NamedTuple):
    """The charge of an order: its amount is a multiple of the currency's smallest unit."""

    order: str
    amount_micros: int
    currency: str
    email: str


class Started(NamedTuple):
    """A started payment; the buyer confirms it by its secret in the page, or at a URL."""

    intent: str
    client_secret: str | None = None
    redirect_url: str | None = None


class PaymentRefused(Exception):
    """The provider refuses for good; `reason` is its code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Provider(Protocol):
    """A payment provider."""

    def start(self, charge: Charge) -> Started:
        """Start an order's payment, or return the started payment; raises PaymentRefused."""
        ...

    def status(self, order: str, intent: str) -> Status:
        """Return the current status of a payment."""
        ...

    def cancel(self, order: str, intent: str) -> Status:
        """Cancel a pending payment; return its status then, `succeeded` if the buyer was faster."""
        ...

    def refund(self, charge: Charge, intent: str, amount_micros: int, key: str) -> None:
        """Refund a part of a payment, once for each key; raises PaymentRefused."""
        ...

    def failed_refunds(self, order: str, intent: str) -> frozenset[str]:
        """Return the keys of the refunds that the provider accepted and that failed later."""
        ...
