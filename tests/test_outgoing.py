"""Providers that refuse, hang, drip or are slow: a call to one ends in the time that is left."""

import http.client
import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from random import Random
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from chalicelib import deadlines, outgoing
from chalicelib.assets.blobs import s3
from chalicelib.assets.blobs.s3 import S3Blobs
from chalicelib.comments.providers import asking
from chalicelib.comments.spam_check.akismet import Akismet
from chalicelib.errors import Unavailable
from chalicelib.key_sets import KeySet, PublicKeySet
from chalicelib.mail import couriers
from chalicelib.mail.couriers import SesCourier
from chalicelib.mail.mime import PostedLetter
from chalicelib.messaging import Queues
from chalicelib.push import sending as pushing
from chalicelib.push.sending import PushMessage
from chalicelib.shop.payments.stripe import StripeProvider
from chalicelib.webhooks import sending, signatures
from deploy.declared import ROOT
from tests.comments.spam.test_akismet import FACTS
from tests.messaging.support.greetings import Greeting
from tests.push.support.browser import BrowserStandIn
from tests.push.support.keys import KEYS
from tests.support.failing_server import FAILURES, FailingServer, Failure, running

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LEFT_SECONDS = 0.5
# What a busy machine may add. A provider's own limit is longer, and no server here answers within
# a minute.
BUSY_SECONDS = 4.0


def send_message(_url: str) -> None:
    if not Queues("t-").send(Greeting(name="ann")):
        raise Unavailable


def ask_stripe(url: str) -> None:
    StripeProvider(url, "key").status("order", "pi_1")


def ask_akismet(url: str) -> None:
    if Akismet(url, "key", seconds=30).check(FACTS) == "unknown":
        raise Unavailable


def find_key(url: str) -> None:
    KeySet(f"{url}/jwks.json").find("k1", NOW)


def find_key_of_site(url: str) -> None:
    PublicKeySet(f"{url.replace('http:', 'https:')}/jwks.json").find("k1", NOW)


def read_blob(_url: str) -> None:
    S3Blobs("bucket").read("blob", 0, 1)


def sign_in(url: str) -> None:
    try:
        asking.get(f"{url}/.well-known/openid-configuration", is_near=True)
    except asking.ProviderFailed:
        raise Unavailable from None


def send_letter(_url: str) -> None:
    letter = PostedLetter("trial", "ann@plaza.example", "Hello", "Hello.", "en", "key")
    if SesCourier("plaza@plaza.example").carry(letter) == "unknown":
        raise Unavailable


def send_event(url: str) -> None:
    settings = SimpleNamespace(signing_keys=(SecretStr("k" * 32),), is_local=True)
    runtime: Any = SimpleNamespace(settings=settings, now=lambda: NOW, random=Random(7))
    secret = signatures.seal(runtime, signatures.new_secret(runtime))
    hook: Any = {"_id": "hook", "url": url, "secrets": [secret]}
    row: Any = {"_id": "event:hook", "body": "{}"}
    if sending.send(runtime, hook, row) is None:
        raise Unavailable


def send_push(url: str) -> None:
    settings = SimpleNamespace(**KEYS, is_local=True)
    runtime: Any = SimpleNamespace(settings=settings, now=lambda: NOW, random=Random(7))
    message = PushMessage(b"{}", "topic", "normal", timedelta(days=1))
    if pushing.send(runtime, BrowserStandIn(url).browser, message).outcome != "sent":
        raise Unavailable


_MODULES = {
    "messaging/queues.py",
    "shop/payments/stripe.py",
    "comments/spam_check/akismet.py",
    "key_sets.py",
    "assets/blobs/s3.py",
    "mail/couriers.py",
    "comments/providers/asking.py",
    "webhooks/sending.py",
    "push/sending.py",
}
_OPENS = re.compile(
    r"\bHTTPS?Connection\(|\burlopen\(|\bcreate_connection\(|\bboto3\.client\(|\bPyJWKClient\("
    r"|\boutgoing\.(?:ask|post)\(|\bimport (?:smtplib|ftplib|requests|httpx|aiohttp|urllib3)\b"
)
WAYS: dict[str, Callable[[str], None]] = {
    "SQS": send_message,
    "Stripe": ask_stripe,
    "Akismet": ask_akismet,
    "an identity provider": find_key,
    "a site's own issuer": find_key_of_site,
    "S3": read_blob,
    "SES": send_letter,
    "a provider of sign-ins": sign_in,
    "a receiver of webhooks": send_event,
    "a push service": send_push,
}


FETCHES_OF_KEYS = (find_key, find_key_of_site)


def test_every_module_with_a_way_out_is_tried_here() -> None:
    """A new one goes through `chalicelib.outgoing`, and gets its row in `WAYS`."""
    folder = ROOT / "chalicelib"
    opening = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if path.name != "outgoing.py" and _OPENS.search(path.read_text())
    }

    assert opening == _MODULES
    for module in opening:
        assert "outgoing.Way()" in (folder / module).read_text()


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have clients of AWS made anew, with whatever address a test names."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    # The servers here are of this machine.
    monkeypatch.setattr(outgoing, "is_public", lambda _: True)
    s3._client.cache_clear()
    couriers._client.cache_clear()
    yield
    s3._client.cache_clear()
    couriers._client.cache_clear()


@pytest.fixture
def provider(failure: Failure, monkeypatch: pytest.MonkeyPatch) -> Iterator[FailingServer]:
    with running(failure, monkeypatch) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        yield server


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("way", WAYS)
def test_a_call_to_a_provider_ends_in_the_time_that_is_left(
    provider: FailingServer, way: str
) -> None:
    # Boto3 is imported, and its clients are made, before a clock runs.
    with pytest.raises(Unavailable), deadlines.bound(0):
        WAYS[way](provider.url)

    began = time.monotonic()
    with deadlines.bound(deadlines.RESERVE_SECONDS + LEFT_SECONDS), pytest.raises(Unavailable):
        WAYS[way](provider.url)

    assert time.monotonic() - began < LEFT_SECONDS + BUSY_SECONDS


@pytest.mark.parametrize("failure", ["hangs"])
# Keys are fetched for whoever calls next, in a thread of its own.
@pytest.mark.parametrize("way", [way for way in WAYS if WAYS[way] not in FETCHES_OF_KEYS])
def test_a_provider_is_not_asked_when_no_time_is_left(provider: FailingServer, way: str) -> None:
    with deadlines.bound(deadlines.RESERVE_SECONDS), pytest.raises(Unavailable):
        WAYS[way](provider.url)

    assert provider.connections == 0


@pytest.mark.parametrize("failure", ["has no address"])
def test_calls_that_were_given_up_are_no_more_than_a_few(provider: FailingServer) -> None:
    akismet = Akismet(provider.url, "key", seconds=0.01)
    for _ in range(outgoing.MOST_ABANDONED + 3):
        assert akismet.check(FACTS) == "unknown"

    assert provider.connections == outgoing.MOST_ABANDONED


def test_a_connection_is_closed_when_its_answer_is_too_long() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = urlsplit(f"http://127.0.0.1:{listener.getsockname()[1]}")
        request = outgoing.HttpRequest(url, "GET", "/", "", {})
        with ThreadPoolExecutor() as calls:
            call = calls.submit(outgoing.ask, outgoing.Way(), request, BUSY_SECONDS, most_bytes=10)
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as sent:
                while sent.readline() != b"\r\n":
                    pass
                connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"x" * 100)

                # It keeps the answer alive, as whoever logs an error does.
                error = call.exception()

                assert isinstance(error, http.client.HTTPException)
                connection.settimeout(BUSY_SECONDS)
                assert sent.read() == b""


@pytest.mark.parametrize(
    ("before", "answer", "status"),
    [
        (["103 Early Hints"], "200 OK", 200),
        (["102 Processing"], "204 No Content", 204),
        (["100 Continue", *["103 Early Hints"] * 9], "500 Down", 500),
        (["103 Early Hints"] * 10, "200 OK", None),
    ],
)
def test_an_answer_is_the_one_behind_interim_answers(
    before: list[str], answer: str, status: int | None
) -> None:
    heads = [f"HTTP/1.1 {each}\r\nLink: </a.css>\r\n\r\n" for each in before]
    sent = "".join(heads) + f"HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = urlsplit(f"http://127.0.0.1:{listener.getsockname()[1]}")
        request = outgoing.HttpRequest(url, "GET", "/", "", {})
        with ThreadPoolExecutor() as calls:
            call = calls.submit(outgoing.ask, outgoing.Way(), request, BUSY_SECONDS, most_bytes=10)
            connection, _ = listener.accept()
            with connection:
                connection.sendall(sent.encode())
                error = call.exception()

    if status is None:
        assert isinstance(error, http.client.HTTPException)
    else:
        assert call.result().status == status


def test_of_a_host_s_addresses_the_first_that_takes_a_connection_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A host whose IPv6 does not work is reached, as browsers reach it."""
    addresses = ["2606:4700::1111", "1.1.1.1"]
    found = [(0, 0, 0, "", (each, 443)) for each in addresses]
    tried: list[str] = []

    def connect(address: tuple[str, int], _seconds: float) -> socket.socket:
        tried.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(ConnectionRefusedError):
        outgoing.PublicConnection("shop.example", 443).connect()

    assert tried == addresses
