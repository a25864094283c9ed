"""The provider `stripe`, by HTTP: PaymentIntents and refunds, each call under a key of its order.

Stripe forgets a key after 24 hours; an order is decided within one. A repeated call with a key
gives the first answer, so how a payment stands is always asked for, and never taken from that. The
first answer may be a failure of Stripe's own, which it keeps, too: then another key is used.
Source: Stripe's API reference, "PaymentIntents", "Refunds", "Idempotent requests", "Currencies".
"""

import http.client
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson

from chalicelib import outgoing
from chalicelib.errors import Misconfigured, Unavailable
from chalicelib.observability.logs import log
from chalicelib.shop.money import smallest_micros
from chalicelib.shop.payments.port import Charge, Refused, Started, Status

SECONDS = 10.0
# Of a hundred refunds, with room.
_MOST_BYTES = 4 * 1024 * 1024
_WAY = outgoing.Way()
# Charged without decimals, and sent to Stripe with two of them.
_WITH_DECIMALS = frozenset({"ISK", "UGX"})
_STATUSES: dict[str, Status] = {"succeeded": "succeeded", "canceled": "cancelled"}
_TRY_AGAIN = frozenset({409, 429})
_NOT_OURS = frozenset({401, 403})
_SERVER_ERROR, _ERROR = 500, 400
_SILENT = "The payment's provider did not answer"
_NOT_REFUNDED = frozenset({"failed", "canceled"})
# Keys of one purpose, each used once Stripe has failed under the one before.
_KEYS = 5


class _Spent(Exception):
    """Stripe has failed under this key, and would say so again for a day."""


class StripeProvider:
    """Takes money by Stripe; `url` is its API's, `key` a secret key of one account."""

    def __init__(self, url: str, key: str) -> None:
        self._url = urlsplit(url)
        self._key = key

    def start(self, charge: Charge) -> Started:
        """Begin an order's payment, or return the one that was begun."""
        form = {
            "amount": str(units_of(charge.amount_micros, charge.currency)),
            "currency": charge.currency.lower(),
            "automatic_payment_methods[enabled]": "true",
            "metadata[order]": charge.order,
        }
        # A payment of which no answer has come is nobody's: only its secret could make it.
        for key in _keys(f"{charge.order}:start"):
            with suppress(_Spent):
                made = self._call("POST", "/v1/payment_intents", form, key)
                break
        else:
            raise Unavailable(_SILENT)
        return Started(str(made["id"]), client_secret=made.get("client_secret"))

    def status(self, order: str, intent: str) -> Status:
        """Return how a payment stands; a card that is declined leaves it `pending` for another.

        One that Stripe does not know, as with another account's key, may be paid: it is `unknown`.
        """
        try:
            found = self._call("GET", f"/v1/payment_intents/{intent}")
        except Refused as refusal:
            fields = {"order": order, "reason": refusal.reason}
            log.error("payment not found at its provider", extra={"fields": fields})
            return "unknown"
        return _STATUSES.get(str(found["status"]), "pending")

    def cancel(self, order: str, intent: str) -> Status:
        """Cancel a payment that was not made; what Stripe refuses to cancel is asked about."""
        try:
            # Without a key, under which Stripe would repeat a refusal for a day.
            self._call("POST", f"/v1/payment_intents/{intent}/cancel", {})
        except Refused as refusal:
            log.info("payment not cancelled", extra={"fields": {"reason": refusal.reason}})
        return self.status(order, intent)

    def refund(self, charge: Charge, intent: str, amount_micros: int, key: str) -> None:
        """Give back a part of a payment.

        Stripe's own list of refunds says whether that was done: it forgets a key after a day, and
        one under which it has failed may have been acted upon.
        """
        form = {
            "payment_intent": intent,
            "amount": str(units_of(amount_micros, charge.currency)),
            "metadata[order]": charge.order,
            "metadata[refund]": key,
        }
        for name in _keys(f"{charge.order}:refund:{key}"):
            status = self._refunds(intent).get(key)
            with suppress(_Spent):
                status = status or self._call("POST", "/v1/refunds", form, name).get("status")
                if status in _NOT_REFUNDED:
                    raise Refused(f"refund_{status}")
                return
        raise Unavailable(_SILENT)

    def failed_refunds(self, order: str, intent: str) -> frozenset[str]:
        """Return the keys of the refunds that the buyer's bank did not take, or Stripe gave up."""
        del order
        refunds = self._refunds(intent)
        return frozenset(key for key, status in refunds.items() if status in _NOT_REFUNDED)

    def _refunds(self, intent: str) -> dict[str, str]:
        """Return how each refund of a payment stands, by its key."""
        found: dict[str, str] = {}
        query = {"payment_intent": intent, "limit": "100"}
        while True:
            page = self._call("GET", f"/v1/refunds?{urlencode(query)}")
            for each in page["data"]:
                found[str((each.get("metadata") or {}).get("refund"))] = str(each["status"])
            if not page.get("has_more"):
                return found
            query["starting_after"] = page["data"][-1]["id"]

    def _call(
        self, method: str, path: str, form: dict[str, str] | None = None, key: str = ""
    ) -> dict[str, Any]:
        """Return what Stripe answers; raises Refused, Unavailable, _Spent and Misconfigured."""
        headers = {"Authorization": f"Bearer {self._key}"}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if key:
            headers["Idempotency-Key"] = key
        try:
            status, text, is_old = self._send(method, path, urlencode(form or {}), headers)
            answer: dict[str, Any] = orjson.loads(text)
        except (OSError, http.client.HTTPException, orjson.JSONDecodeError):
            raise Unavailable(_SILENT) from None
        if status >= _SERVER_ERROR and is_old:
            raise _Spent
        if status >= _ERROR:
            raise _failure(status, answer)
        return answer

    def _send(
        self, method: str, path: str, body: str, headers: dict[str, str]
    ) -> tuple[int, bytes, bool]:
        """Return a status, a body, and whether they are those of an earlier call with the key."""
        request = outgoing.HttpRequest(self._url, method, path, body, headers)
        answer = outgoing.ask(_WAY, request, SECONDS, _MOST_BYTES)
        is_old = answer.headers.get("Idempotent-Replayed") == "true"
        return answer.status, answer.body, is_old


def units_of(amount_micros: int, currency: str) -> int:
    """Return an amount as Stripe counts it: in the currency's smallest unit."""
    units = amount_micros // smallest_micros(currency)
    return units * 100 if currency in _WITH_DECIMALS else units


def _keys(purpose: str) -> Iterator[str]:
    """Yield the keys of a purpose; no key of Plaza's own has a `#`."""
    yield purpose
    for number in range(2, _KEYS + 1):
        yield f"{purpose}#{number}"


def _failure(status: int, answer: dict[str, Any]) -> Exception:
    error = answer.get("error")
    code = str(error.get("code") or error.get("type")) if isinstance(error, dict) else "unknown"
    if status in _NOT_OURS:
        return Misconfigured(f"Stripe refuses the secret key: {code}")
    if status >= _SERVER_ERROR or status in _TRY_AGAIN:
        return Unavailable(_SILENT)
    return Refused(code)
