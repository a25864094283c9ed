"""The port of payments: the calls that Plaza makes to a payment provider.

Every call is idempotent: by its order, and a refund also by its key. An outage raises Unavailable:
the call may have had its effect, and a repeated call has no second effect.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

# `succeeded`, `failed` and `cancelled` are final; treat `unknown` as `pending`.
Status = Literal["succeeded", "pending", "failed", "cancelled", "unknown"]
Name = Literal["fake", "stripe"]
# `inquiry`: the bank asks, and no money has moved. `opened` and `lost`: the bank has the money.
DisputeState = Literal["inquiry", "opened", "won", "lost"]


class Charge(NamedTuple):
    """An amount to charge for an order: a multiple of the currency's smallest unit, in micros."""

    order: str
    amount_micros: int
    currency: str
    email: str


class Started(NamedTuple):
    """A started payment; `intent` is its id at the provider.

    The buyer confirms the payment in the page, by `client_secret`, or at `redirect_url`.
    """

    intent: str
    client_secret: str | None = None
    redirect_url: str | None = None


class StatedRefund(NamedTuple):
    """A refund in the provider's books. `key`: the key of Plaza's call, if Plaza made it."""

    key: str | None
    amount_micros: int
    is_failed: bool


class StatedDispute(NamedTuple):
    """A dispute in the provider's books: the buyer's bank takes a payment back."""

    id: str
    amount_micros: int
    state: DisputeState
    at: datetime


class Statement(NamedTuple):
    """All refunds and disputes of a payment, however they were made."""

    refunds: Sequence[StatedRefund]
    disputes: Sequence[StatedDispute]


class Hint(NamedTuple):
    """A payment that may have changed, by its order or by its intent."""

    order: str | None
    intent: str | None


class Hints(NamedTuple):
    """A page of hints. `after`: the position of the next page; None: the last page."""

    found: Sequence[Hint]
    after: str | None


class ListedPayment(NamedTuple):
    """A payment, and the order that Plaza named at its start; `is_open`: the buyer may yet pay."""

    order: str
    intent: str
    amount_micros: int
    currency: str
    is_open: bool


class ListedPayments(NamedTuple):
    """A page of payments. `after`: the position of the next page; None: the last page."""

    found: Sequence[ListedPayment]
    after: str | None


class PaymentRefused(Exception):
    """The provider refuses a call, and a repetition would not help; `reason` is its code."""

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
        """Cancel a pending payment; return its status after the call.

        `succeeded`: the buyer paid first. `pending`: the provider cannot cancel it now.
        """
        ...

    def refund(self, charge: Charge, intent: str, amount_micros: int, key: str) -> None:
        """Refund a part of a payment, once for each key; raises PaymentRefused."""
        ...

    def statement(self, charge: Charge, intent: str) -> Statement:
        """Return the refunds and disputes of a payment; raises PaymentRefused if it is unknown."""
        ...

    def hints(self, since: datetime, until: datetime, after: str | None) -> Hints:
        """Return a page of hints to refunds and disputes that changed from `since` to `until`.

        `after`: the position of the page; None: the first page.
        """
        ...

    def list_payments(self, since: datetime, after: str | None) -> ListedPayments:
        """Return a page of the payments that started at `since` or later, but for cancelled ones.

        `after`: the position of the page; None: the first page.
        """
        ...
