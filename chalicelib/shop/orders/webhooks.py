"""Stripe's webhooks: hints to read the payment of an order again.

Events come twice, late and out of order. So Plaza reads only the order's id from an event.
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

# An event may contain a whole object with its history.
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
        """Receive a signed event from Stripe about a payment, and read the payment again.

        Plaza ignores the contents of the event, and events without an order of Plaza.
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
                # No schedule looks at a finished order; Stripe repeats the event after an error.
                raise Unavailable
        return NoContent()


def _order_of(body: bytes) -> str | None:
    """Return the order id in an event's metadata. None: it has no valid id."""
    try:
        found = orjson.loads(body)["data"]["object"]["metadata"]["order"]
        return _ORDER.validate_python(found)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValidationError):
        return None
