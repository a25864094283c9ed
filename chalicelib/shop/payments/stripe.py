"""The provider `stripe`, by HTTP: PaymentIntents, refunds and disputes.

A start or a refund sends an idempotency key of its order. A repeated call with the key returns the
first answer for 24 hours, so a separate read returns a payment's status. Stripe repeats its own
failures, too: after such a failure, Plaza uses another key.
Source: Stripe's API reference, "PaymentIntents", "Refunds", "Idempotent requests", "Currencies".
"""

import http.client
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson

from chalicelib import outgoing
from chalicelib.currencies import smallest_micros
from chalicelib.errors import Misconfigured, Unavailable
from chalicelib.observability.logs import log
from chalicelib.shop.payments.events import EVENT_TYPES, hint_of
from chalicelib.shop.payments.port import (
    Charge,
    DisputeState,
    Hints,
    ListedPayment,
    ListedPayments,
    PaymentRefused,
    Started,
    StatedDispute,
    StatedRefund,
    Statement,
    Status,
)

SECONDS = 10.0
# The most bytes of an answer: a page of a hundred refunds, with room.
_MOST_BYTES = 4 * 1024 * 1024
_WAY = outgoing.Way()
# Currencies without decimals in charges, but with two in Stripe's amounts.
_WITH_DECIMALS = frozenset({"ISK", "UGX"})
_STATUSES: dict[str, Status] = {"succeeded": "succeeded", "canceled": "cancelled"}
_TRY_AGAIN = frozenset({409, 429})
_NOT_OURS = frozenset({401, 403})
_SERVER_ERROR, _ERROR = 500, 400
_SILENT = "The payment's provider did not answer"
_NOT_REFUNDED = frozenset({"failed", "canceled"})
# Any other status is `opened`: the bank has the money.
_DISPUTES: dict[str, DisputeState] = {
    "warning_needs_response": "inquiry",
    "warning_under_review": "inquiry",
    "warning_closed": "won",
    "prevented": "won",
    "won": "won",
    "lost": "lost",
}
# The most keys for one purpose; the next key serves after a failure of Stripe under the former.
_KEYS = 5


class _Spent(Exception):
    """Stripe repeats an earlier failure of its own under this key, for a day."""


class StripeProvider:
    """Payments by Stripe; `url` is the base of its API, `key` the secret key of an account."""

    def __init__(self, url: str, key: str) -> None:
        self._url = urlsplit(url)
        self._key = key

    def start(self, charge: Charge) -> Started:
        """Start an order's payment, or return the started payment."""
        form = {
            "amount": str(units_of(charge.amount_micros, charge.currency)),
            "currency": charge.currency.lower(),
            "automatic_payment_methods[enabled]": "true",
            "metadata[order]": charge.order,
        }
        # A key that failed may have started a payment. It stays unpaid: no buyer has its secret.
        for key in _keys(f"{charge.order}:start"):
            with suppress(_Spent):
                made = self._call("POST", "/v1/payment_intents", form, key)
                break
        else:
            raise Unavailable(_SILENT)
        return Started(str(made["id"]), client_secret=made.get("client_secret"))

    def status(self, order: str, intent: str) -> Status:
        """Return the status of a payment; after a declined card `pending`: another card may follow.

        `unknown`: Stripe does not find the payment, as with another account's key; it may be paid.
        """
        try:
            found = self._call("GET", f"/v1/payment_intents/{intent}")
        except PaymentRefused as refusal:
            fields = {"order": order, "reason": refusal.reason}
            log.error("payment not found at its provider", extra={"fields": fields})
            return "unknown"
        return _STATUSES.get(str(found["status"]), "pending")

    def cancel(self, order: str, intent: str) -> Status:
        """Cancel a pending payment; return its status, even if Stripe refuses the cancellation."""
        try:
            # Without a key: under a key, Stripe would repeat a refusal for a day.
            self._call("POST", f"/v1/payment_intents/{intent}/cancel", {})
        except PaymentRefused as refusal:
            log.info("payment not cancelled", extra={"fields": {"reason": refusal.reason}})
        return self.status(order, intent)

    def refund(self, charge: Charge, intent: str, amount_micros: int, key: str) -> None:
        """Refund a part of a payment, unless Stripe's list of refunds has a refund of this key.

        Idempotency keys alone do not prevent a second refund: Stripe forgets a key after a day, and
        a failed call may have worked. Raises PaymentRefused if the refund failed or was cancelled.
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
                    raise PaymentRefused(f"refund_{status}")
                return
        raise Unavailable(_SILENT)

    def statement(self, charge: Charge, intent: str) -> Statement:
        """Return the refunds and disputes of a payment.

        A refund is failed if the buyer's bank refused it, or Stripe cancelled it.
        """
        refunds = [
            StatedRefund(
                _key_of(each),
                micros_of(int(each["amount"]), charge.currency),
                each["status"] in _NOT_REFUNDED,
            )
            for each in self._list("/v1/refunds", intent)
        ]
        disputes = [
            StatedDispute(
                str(each["id"]),
                micros_of(int(each["amount"]), str(each["currency"]).upper()),
                _DISPUTES.get(str(each["status"]), "opened"),
                datetime.fromtimestamp(int(each["created"]), UTC),
            )
            for each in self._list("/v1/disputes", intent)
        ]
        return Statement(refunds, disputes)

    def hints(self, since: datetime, until: datetime, after: str | None) -> Hints:
        """Return a page of hints from events of refunds and disputes; Stripe stores 30 days."""
        query = [
            ("limit", "100"),
            ("created[gte]", str(int(since.timestamp()))),
            ("created[lte]", str(int(until.timestamp()))),
            *(("types[]", each) for each in EVENT_TYPES),
            *([("starting_after", after)] if after else []),
        ]
        page = self._call("GET", f"/v1/events?{urlencode(query)}")
        found = [hint_of(each) for each in page["data"]]
        return Hints(found, _after(page))

    def list_payments(self, since: datetime, after: str | None) -> ListedPayments:
        """Return a page of the payments that Plaza has started, but for cancelled ones."""
        query = [("limit", "100"), ("created[gte]", str(int(since.timestamp())))]
        query += [("starting_after", after)] if after else []
        page = self._call("GET", f"/v1/payment_intents?{urlencode(query)}")
        found = [
            ListedPayment(
                order,
                str(each["id"]),
                micros_of(int(each["amount"]), currency),
                currency,
                is_open=each["status"] != "succeeded",
            )
            for each in page["data"]
            if each["status"] != "canceled"
            and (order := hint_of({"data": {"object": each}}).order)
            and (currency := str(each["currency"]).upper())
        ]
        return ListedPayments(found, _after(page))

    def _refunds(self, intent: str) -> dict[str, str]:
        """Return the status at Stripe of each refund by Plaza, by Plaza's key."""
        made = self._list("/v1/refunds", intent)
        return {key: str(each["status"]) for each in made if (key := _key_of(each)) is not None}

    def _list(self, path: str, intent: str) -> Iterator[Mapping[str, Any]]:
        """Yield a payment's objects of one kind, from all pages."""
        query = {"payment_intent": intent, "limit": "100"}
        while True:
            page = self._call("GET", f"{path}?{urlencode(query)}")
            yield from page["data"]
            after = _after(page)
            if after is None:
                return
            query["starting_after"] = after

    def _call(
        self, method: str, path: str, form: dict[str, str] | None = None, key: str = ""
    ) -> dict[str, Any]:
        """Return Stripe's answer; raises PaymentRefused, Unavailable, _Spent and Misconfigured."""
        headers = {"Authorization": f"Bearer {self._key}"}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        if key:
            headers["Idempotency-Key"] = key
        try:
            status, text, is_old = self._send(method, path, urlencode(form or {}), headers)
            answer = orjson.loads(text)
        except (OSError, http.client.HTTPException, orjson.JSONDecodeError):
            raise Unavailable(_SILENT) from None
        if not isinstance(answer, dict):
            # A proxy's, or that of a server that fails.
            raise Unavailable(_SILENT)
        if status >= _SERVER_ERROR and is_old:
            raise _Spent
        if status >= _ERROR:
            raise _failure(status, answer)
        return answer

    def _send(
        self, method: str, path: str, body: str, headers: dict[str, str]
    ) -> tuple[int, bytes, bool]:
        """Return the HTTP status, the body, and whether Stripe repeats an earlier answer."""
        request = outgoing.HttpRequest(self._url, method, path, body, headers)
        answer = outgoing.ask(_WAY, request, SECONDS, _MOST_BYTES)
        is_old = answer.headers.get("Idempotent-Replayed") == "true"
        return answer.status, answer.body, is_old


def units_of(amount_micros: int, currency: str) -> int:
    """Return an amount in Stripe's units: the currency's smallest, or hundredths."""
    units = amount_micros // smallest_micros(currency)
    return units * 100 if currency in _WITH_DECIMALS else units


def micros_of(units: int, currency: str) -> int:
    """Return the micros of an amount in Stripe's units."""
    return units * smallest_micros(currency) // (100 if currency in _WITH_DECIMALS else 1)


def _after(page: Mapping[str, Any]) -> str | None:
    """Return the position of the next page of a list. None: this page is the last."""
    return str(page["data"][-1]["id"]) if page.get("has_more") else None


def _key_of(refund: Mapping[str, Any]) -> str | None:
    """Return the key of a refund that Plaza made. None: made elsewhere."""
    key = (refund.get("metadata") or {}).get("refund")
    return key if isinstance(key, str) else None


def _keys(purpose: str) -> Iterator[str]:
    """Yield the idempotency keys of a purpose, in sequence; a purpose contains no `#`."""
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
    return PaymentRefused(code)
