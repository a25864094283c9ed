"""A stand-in of Stripe's API on this machine: it keeps keys, loses answers, and sends no events."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

KEY = "sk_test_of_the_stand_in"
SECRETS = ("whsec_of_the_tests_as_long_as_a_secret_is", "whsec_of_before_as_long_as_a_secret_is")


class Stripe:
    """The account: its payments and refunds, and what was answered under each key."""

    def __init__(self) -> None:
        self.url = ""
        self.intents: dict[str, dict[str, Any]] = {}
        self.refunds: list[dict[str, Any]] = []
        self.answers: dict[str, tuple[int, dict[str, Any]]] = {}
        # Paths whose next answers are lost after they were acted upon.
        self.losing: list[str] = []
        self.failing: int | None = None
        self.lock = threading.Lock()

    def pay(self, intent: str) -> None:
        """Let the buyer's card be charged, whatever Plaza thinks of the order."""
        self.intents[intent]["status"] = "succeeded"

    def event(self, kind: str, order: str) -> bytes:
        """Return the body of an event about an order's payment."""
        found = {"metadata": {"order": order}, "status": "a lie"}
        return json.dumps({"type": kind, "data": {"object": found}}).encode()

    def answer(self, method: str, path: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Act upon a call, and return its status and answer."""
        match method, path.split("/")[2:]:
            case "POST", ["payment_intents"]:
                return 200, self._intent(form)
            case "GET", ["payment_intents", intent] if intent in self.intents:
                return 200, dict(self.intents[intent])
            case "POST", ["payment_intents", intent, "cancel"] if intent in self.intents:
                if self.intents[intent]["status"] in {"succeeded", "processing"}:
                    return 400, {"error": {"code": "payment_intent_unexpected_state"}}
                self.intents[intent]["status"] = "canceled"
                return 200, dict(self.intents[intent])
            case "POST", ["refunds"]:
                return self._refund(form)
        return 404, {"error": {"code": "resource_missing"}}

    def _intent(self, form: dict[str, str]) -> dict[str, Any]:
        name = f"pi_{len(self.intents) + 1}"
        made = {"id": name, "status": "requires_payment_method", "client_secret": f"{name}_secret"}
        self.intents[name] = {**made, **form}
        return dict(self.intents[name])

    def _refund(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        given = sum(int(each["amount"]) for each in self.refunds)
        if given + int(form["amount"]) > int(self.intents[form["payment_intent"]]["amount"]):
            return 400, {"error": {"code": "charge_already_refunded"}}
        self.refunds.append(form)
        return 200, {"id": f"re_{len(self.refunds)}", "status": "succeeded"}


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
            status, answer = self._answered(method, dict(parse_qsl(body)))
        if self.path in stripe.losing:
            stripe.losing.remove(self.path)
            self.close_connection = True
            return
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _answered(self, method: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if self.stripe.failing is not None:
            return self.stripe.failing, {"error": {"type": "api_error"}}
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            return 401, {"error": {"type": "invalid_request_error"}}
        key = self.headers.get("Idempotency-Key")
        if method == "GET" or key is None:
            return self.stripe.answer(method, self.path, form)
        if key not in self.stripe.answers:
            self.stripe.answers[key] = self.stripe.answer(method, self.path, form)
        return self.stripe.answers[key]

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def running() -> Iterator[Stripe]:
    """Run a stand-in on a free port."""
    stripe = Stripe()
    handler = type("Handler", (_Handler,), {"stripe": stripe})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    stripe.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield stripe
    finally:
        server.shutdown()
        server.server_close()


def signature(body: bytes, at: int, secret: str = SECRETS[0]) -> str:
    """Return the header that Stripe signs a body with."""
    tag = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={tag},v0=older"
