"""A stand-in of Stripe's API on this machine.

It keeps keys, with the failures of its own that were answered under them, loses answers, and lists
events, but sends none.
"""

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import SecretStr

from chalicelib.settings import Settings
from tests.support.stand_ins import answering

KEY = "sk_test_of_the_stand_in"
SECRETS = ("whsec_of_the_tests_as_long_as_a_secret_is", "whsec_of_before_as_long_as_a_secret_is")

_THREE_DECIMALS = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})


class Stripe:
    """The account: its payments and refunds, and what was answered under each key."""

    def __init__(self) -> None:
        self.url = ""
        # Its clock.
        self.seconds = 0
        self.intents: dict[str, dict[str, Any]] = {}
        self.refunds: list[dict[str, Any]] = []
        self.disputes: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        # The number of objects of a page, and what is done before the next refund is looked at.
        self.page = 100
        self.before_refund: list[Callable[[], object]] = []
        self.answers: dict[str, tuple[int, dict[str, Any]]] = {}
        # Paths whose next answers are lost after they were acted upon.
        self.losing: list[str] = []
        self.failing: int | None = None
        # Paths whose next calls fail within Stripe, after they were acted upon or before.
        self.breaking: list[tuple[str, Literal["before", "after"]]] = []
        self.lock = threading.Lock()

    def settings(self, base: Settings) -> Settings:
        """Return the settings of a deployment whose shops take their money by this account."""
        return base.model_copy(
            update={
                "payments": "stripe",
                "stripe_sites": ("*",),
                "stripe_url": self.url,
                "stripe_key": SecretStr(KEY),
                "stripe_webhook_secrets": tuple(map(SecretStr, SECRETS)),
            }
        )

    def pay(self, intent: str) -> None:
        """Let the buyer's card be charged, whatever Plaza thinks of the order."""
        self.intents[intent]["status"] = "succeeded"

    def refund_by_hand(self, intent: str, units: int, at: int = 0) -> dict[str, Any]:
        """Let the seller refund in the dashboard; return the event of it."""
        made = {"id": f"re_{len(self.refunds) + 1}", "status": "succeeded", "amount": str(units)}
        self.refunds.append({**made, "payment_intent": intent})
        charge = {"object": "charge", "payment_intent": intent, "metadata": {}}
        return self._happened("charge.refunded", charge, at)

    def dispute(self, intent: str, units: int, status: str, at: int = 0) -> dict[str, Any]:
        """Let the buyer's bank open a dispute, or decide it; return the event of it."""
        found = next((each for each in self.disputes if each["payment_intent"] == intent), None)
        if found is None:
            found = {
                "id": f"dp_{len(self.disputes) + 1}",
                "object": "dispute",
                "created": 1_700_000_000,
            }
            self.disputes.append(found)
        currency = self.intents[intent]["currency"]
        found |= {"payment_intent": intent, "amount": units, "status": status, "currency": currency}
        return self._happened("charge.dispute.updated", found, at)

    def _happened(self, kind: str, found: dict[str, Any], at: int) -> dict[str, Any]:
        event = {"id": f"evt_{len(self.events) + 1}", "type": kind, "created": at}
        self.events.append({**event, "data": {"object": dict(found)}})
        return self.events[-1]

    def event(self, kind: str, order: str) -> bytes:
        """Return the body of an event about an order's payment."""
        found = {"metadata": {"order": order}, "status": "a lie"}
        return json.dumps({"type": kind, "data": {"object": found}}).encode()

    def answer(self, method: str, path: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Act upon a call, and return its status and answer."""
        match method, path.split("/")[2:]:
            case "POST", ["payment_intents"]:
                return self._intent(form)
            case "GET", ["payment_intents", intent] if intent in self.intents:
                return 200, dict(self.intents[intent])
            case "POST", ["payment_intents", intent, "cancel"] if intent in self.intents:
                return self._cancel(intent)
            case "POST", ["refunds"]:
                return self._refund(form)
            case "GET", [("payment_intents" | "refunds" | "disputes" | "events") as name]:
                return self._listed(self._rows(name, form), form)
        return 404, {"error": {"code": "resource_missing"}}

    def _cancel(self, intent: str) -> tuple[int, dict[str, Any]]:
        if self.intents[intent]["status"] in {"succeeded", "processing"}:
            return 400, {"error": {"code": "payment_intent_unexpected_state"}}
        self.intents[intent]["status"] = "canceled"
        return 200, dict(self.intents[intent])

    def _intent(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if _is_uneven(form["amount"], form["currency"]):
            return 400, {"error": {"type": "invalid_request_error", "param": "amount"}}
        name = f"pi_{len(self.intents) + 1}"
        made = {
            "id": name,
            "status": "requires_payment_method",
            "client_secret": f"{name}_secret",
            "created": self.seconds,
        }
        self.intents[name] = {**made, **form}
        return 200, dict(self.intents[name])

    def _taken(self, since: int) -> list[dict[str, Any]]:
        """Return the payments as Stripe lists them, the newest first."""
        return [
            {**each, "metadata": {"order": each.get("metadata[order]")}}
            for each in reversed(self.intents.values())
            if each["created"] >= since
        ]

    def _rows(self, name: str, query: dict[str, str]) -> list[dict[str, Any]]:
        """Return the objects of a list, as Stripe orders them."""
        if name == "events":
            since, until = int(query["created[gte]"]), int(query["created[lte]"])
            return [each for each in self.events[::-1] if since <= each["created"] <= until]
        if name == "payment_intents":
            return self._taken(int(query["created[gte]"]))
        if name == "disputes":
            return self._of(self.disputes, query)
        return [
            {**each, "metadata": {"refund": each.get("metadata[refund]")}}
            for each in self._of(self.refunds, query)
        ]

    def _of(self, rows: list[dict[str, Any]], query: dict[str, str]) -> list[dict[str, Any]]:
        return [each for each in rows if each["payment_intent"] == query["payment_intent"]]

    def _listed(
        self, rows: list[dict[str, Any]], query: dict[str, str]
    ) -> tuple[int, dict[str, Any]]:
        ids = [each["id"] for each in rows]
        after = query.get("starting_after")
        left = rows[ids.index(after) + 1 :] if after else rows
        return 200, {"data": left[: self.page], "has_more": len(left) > self.page}

    def _refund(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if self.before_refund:
            self.before_refund.pop()()
        if any(each["status"] == "needs_response" for each in self._of(self.disputes, form)):
            return 400, {"error": {"code": "charge_disputed"}}
        if _is_uneven(form["amount"], self.intents[form["payment_intent"]]["currency"]):
            return 400, {"error": {"type": "invalid_request_error", "param": "amount"}}
        refunded = [each for each in self.refunds if each["status"] != "failed"]
        lost = [each for each in self.disputes if each["status"] == "lost"]
        given = sum(int(each["amount"]) for each in self._of([*refunded, *lost], form))
        if given + int(form["amount"]) > int(self.intents[form["payment_intent"]]["amount"]):
            return 400, {"error": {"code": "charge_already_refunded"}}
        made = {"id": f"re_{len(self.refunds) + 1}", "status": "succeeded", **form}
        self.refunds.append(made)
        return 200, dict(made)


def _is_uneven(amount: str, currency: str) -> bool:
    """Return whether it is of a currency of three decimals, and the last one is not 0."""
    return currency.upper() in _THREE_DECIMALS and int(amount) % 10 > 0


class _Handler(BaseHTTPRequestHandler):
    stripe: Stripe

    def do_GET(self) -> None:
        self._handle("GET")

    def do_POST(self) -> None:
        self._handle("POST")

    def _handle(self, method: str) -> None:
        stripe = self.stripe
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        with stripe.lock:
            status, answer, is_old = self._answered(method, dict(parse_qsl(body)))
        if self.path in stripe.losing:
            stripe.losing.remove(self.path)
            self.close_connection = True
            return
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        if is_old:
            self.send_header("Idempotent-Replayed", "true")
        self.end_headers()
        self.wfile.write(text)

    def _answered(self, method: str, form: dict[str, str]) -> tuple[int, dict[str, Any], bool]:
        """Return a status and an answer, and whether they are those of an earlier call."""
        stripe, url = self.stripe, urlsplit(self.path)
        if stripe.failing is not None:
            return stripe.failing, {"error": {"type": "api_error"}}, False
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            return 401, {"error": {"type": "invalid_request_error"}}, False
        key = self.headers.get("Idempotency-Key")
        if method == "GET" or key is None:
            return *stripe.answer(method, url.path, {**dict(parse_qsl(url.query)), **form}), False
        is_old = key in stripe.answers
        if not is_old:
            stripe.answers[key] = self._first(method, form)
        return *stripe.answers[key], is_old

    def _first(self, method: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        stripe = self.stripe
        breaks = next((each for each in stripe.breaking if each[0] == self.path), None)
        if breaks is None:
            return stripe.answer(method, self.path, form)
        stripe.breaking.remove(breaks)
        if breaks[1] == "after":
            stripe.answer(method, self.path, form)
        return 500, {"error": {"type": "api_error"}}

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def running() -> Iterator[Stripe]:
    """Run a stand-in on a free port."""
    stripe = Stripe()
    handler = type("Handler", (_Handler,), {"stripe": stripe})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    stripe.url = f"http://127.0.0.1:{server.server_port}"
    with answering(server):
        yield stripe


def signature(body: bytes, at: int, secret: str = SECRETS[0]) -> str:
    """Return the header that Stripe signs a body with."""
    tag = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={tag},v0=older"
