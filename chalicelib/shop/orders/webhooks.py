"""Stripe's webhooks: hints that something has become of an order, which is asked about anew.

Events come twice, late and out of order. So nothing but the order's id is taken from one.
"""

from typing import Annotated, Any

import orjson
from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError

from chalicelib.errors import Unavailable
from chalicelib.http import NoContent, Request, Route
from chalicelib.ids import Id
from chalicelib.observability.logs import log
from chalicelib.shop.errors import InvalidWebhook
from chalicelib.shop.orders.messages import ResumeOrder
from chalicelib.shop.orders.shapes import find
from chalicelib.shop.payments.signatures import is_signed

# An event may have a whole object with its history.
MAX_BYTES = 256 * 1024
_ORDER: TypeAdapter[str] = TypeAdapter(
    Annotated[str, Id, StringConstraints()], config=ConfigDict(defer_build=True)
)


def declare(route: Route) -> None:
    """Declare the route."""

    @route(
        "POST",
        "/payments/stripe/webhook",
        limit=None,
        is_audited=False,
        body_limit_bytes=MAX_BYTES,
        raises=(InvalidWebhook,),
    )
    def receive_stripe_event(request: Request) -> NoContent:
        """Hear from Stripe that something has become of a payment; its signature is checked.

        Whatever it says, the payment is asked about anew. Events of others are passed over.
        """
        text: Any = request.raw.raw_body
        body: bytes = text if isinstance(text, bytes) else str(text).encode()
        secrets = request.runtime.settings.stripe_webhook_secrets or ()
        if not secrets:
            log.warning("event refused: PLAZA_STRIPE_WEBHOOK_SECRETS is not set")
        header = request.raw.headers.get("stripe-signature") or ""
        if len(body) > MAX_BYTES or not is_signed(body, header, secrets, request.runtime.now()):
            raise InvalidWebhook
        order_id = _order_of(body)
        if order_id is not None and find(request.runtime.database, order_id) is not None:
            is_sent = request.runtime.queues.send(ResumeOrder(order=order_id))
            if not is_sent:
                # No schedule looks at an order that is done; Stripe sends the event again.
                raise Unavailable
        return NoContent()


def _order_of(body: bytes) -> str | None:
    """Return the order that a signed event is about, if it is about one of Plaza's."""
    try:
        found = orjson.loads(body)["data"]["object"]["metadata"]["order"]
        return _ORDER.validate_python(found)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValidationError):
        return None
