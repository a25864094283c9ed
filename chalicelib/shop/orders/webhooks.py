"""Stripe's webhooks: each event queues an order for a new read of its payment.

Events may come twice, late or in any order. So Plaza takes only the ids of the order and of the
payment from an event.
"""

from typing import Any

import orjson

from chalicelib.errors import Unavailable
from chalicelib.http import NoContent, Request, Route
from chalicelib.observability.logs import log
from chalicelib.shop.errors import InvalidWebhook
from chalicelib.shop.orders.messages import ResumeOrder
from chalicelib.shop.orders.reconciliation import orders_of
from chalicelib.shop.payments.events import hint_of
from chalicelib.shop.payments.port import Hint
from chalicelib.shop.payments.signatures import is_signed

# An event may contain a whole object with its history.
MAX_BYTES = 256 * 1024


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
        """Receive a signed event from Stripe about a payment, and queue a new read of the payment.

        Plaza takes only ids from the event, and ignores events without an order of Plaza.
        """
        text: Any = request.raw.raw_body
        body: bytes = text if isinstance(text, bytes) else str(text).encode()
        secrets = request.runtime.settings.stripe_webhook_secrets or ()
        if not secrets:
            log.warning("event refused: PLAZA_STRIPE_WEBHOOK_SECRETS is not set")
        header = request.raw.headers.get("stripe-signature") or ""
        if len(body) > MAX_BYTES or not is_signed(body, header, secrets, request.runtime.now()):
            raise InvalidWebhook
        orders = orders_of(request.runtime.database, [_hint_of(body)])
        messages = [ResumeOrder(order=each) for each in orders]
        if messages and not request.runtime.queues.send(*messages):
            # After an error Stripe repeats the event, long before the next daily reading.
            raise Unavailable
        return NoContent()


def _hint_of(body: bytes) -> Hint:
    try:
        return hint_of(orjson.loads(body))
    except orjson.JSONDecodeError:
        return Hint(None, None)
