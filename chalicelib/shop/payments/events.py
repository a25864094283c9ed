"""Stripe's events as hints: Plaza takes ids from an event, then reads the payment from Stripe.

Source: Stripe's API reference, "Types of events".
"""

from typing import Annotated, Any

from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError

from chalicelib.ids import Id
from chalicelib.shop.payments.port import Hint

# The events of refunds and disputes: money may have moved without Plaza.
EVENT_TYPES = (
    "charge.dispute.closed",
    "charge.dispute.created",
    "charge.dispute.funds_reinstated",
    "charge.dispute.funds_withdrawn",
    "charge.dispute.updated",
    "charge.refund.updated",
    "charge.refunded",
    "refund.created",
    "refund.failed",
    "refund.updated",
)
_ORDER: TypeAdapter[str] = TypeAdapter(
    Annotated[str, Id, StringConstraints()], config=ConfigDict(defer_build=True)
)
_INTENT: TypeAdapter[str] = TypeAdapter(
    Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,255}$")],
    config=ConfigDict(defer_build=True),
)


def hint_of(event: Any) -> Hint:
    """Return the ids of an event's order and payment. None for a missing or malformed id.

    A dispute, or a refund made in the dashboard, names only its payment.
    """
    data = event.get("data") if isinstance(event, dict) else None
    found = data.get("object") if isinstance(data, dict) else None
    if not isinstance(found, dict):
        return Hint(None, None)
    metadata, intent = found.get("metadata"), found.get("payment_intent")
    if isinstance(intent, dict):
        intent = intent.get("id")
    if found.get("object") == "payment_intent":
        intent = found.get("id")
    order = metadata.get("order") if isinstance(metadata, dict) else None
    return Hint(_valid(_ORDER, order), _valid(_INTENT, intent))


def _valid(adapter: TypeAdapter[str], found: Any) -> str | None:
    try:
        return adapter.validate_python(found)
    except ValidationError:
        return None
