"""An identity provider's key set, fetched from a server that may be slow, broken or gone."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from chalicelib import deadlines, key_sets
from chalicelib.errors import Unauthenticated, Unavailable
from chalicelib.key_sets import KeySet
from tests.support.clock import Clock
from tests.support.failing_server import running
from tests.support.stand_ins import answering


class Provider:
    """A server of one key set, which does what a test says."""

    def __init__(self) -> None:
        self.kids = ["k1"]
        self.status = 200
        self.body: bytes | None = None
        self.fetches = 0
        # Whether it answers: it waits while this is not set.
        self.answers = threading.Event()
        self.answers.set()
        self.asked = threading.Event()
        public = ec.generate_private_key(ec.SECP256R1()).public_key()
        self._jwk = jwt.get_algorithm_by_name("ES256").to_jwk(public, as_dict=True)

    def answer(self) -> bytes:
        """Return the key set, or what a test wants instead."""
        self.fetches += 1
        self.asked.set()
        self.answers.wait(10)
        keys = [{**self._jwk, "kid": kid, "use": "sig", "alg": "ES256"} for kid in self.kids]
        return json.dumps({"keys": keys}).encode() if self.body is None else self.body


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def url(provider: Provider) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = provider.answer()
            self.send_response(provider.status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with answering(server):
        yield f"http://127.0.0.1:{server.server_address[1]}/jwks.json"
        provider.answers.set()


@pytest.fixture
def keys(url: str) -> KeySet:
    return KeySet(url)


def test_a_set_is_fetched_once_and_kept_for_five_minutes(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    for seconds in (0, 1, 298, 0.999):
        clock.advance(seconds=seconds)
        assert keys.find("k1", clock()).key_id == "k1"
    assert provider.fetches == 1

    clock.advance(seconds=0.001)
    keys.find("k1", clock())
    assert provider.fetches == 2


def test_a_withdrawn_key_leaves_within_five_minutes(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    keys.find("k1", clock())
    provider.kids = ["k2"]

    clock.advance(minutes=5)

    with pytest.raises(Unauthenticated):
        keys.find("k1", clock())


def test_a_new_key_is_found_within_the_cool_down(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    keys.find("k1", clock())
    provider.kids = ["k1", "k2"]
    with pytest.raises(Unauthenticated):
        keys.find("k2", clock())

    clock.advance(seconds=10)

    assert keys.find("k2", clock()).key_id == "k2"


def test_a_flood_of_unknown_ids_is_one_fetch_a_cool_down(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    keys.find("k1", clock())
    for _ in range(3):
        clock.advance(seconds=10)
        for number in range(50):
            with pytest.raises(Unauthenticated):
                keys.find(f"x{number}", clock())

    assert provider.fetches == 4


def test_a_token_without_a_key_id_asks_nobody(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    with pytest.raises(Unauthenticated):
        keys.find(None, clock())

    assert provider.fetches == 0


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b""),
        (200, b"<p>Back in a minute</p>"),
        (200, b"[]"),
        (200, b'{"keys": []}'),
        (200, b'{"keys": "none"}'),
        (200, b"\xff\xfe"),
        (200, b"[" * 100_000),
    ],
)
def test_known_keys_are_good_for_an_hour_while_the_provider_fails(
    keys: KeySet, provider: Provider, clock: Clock, status: int, body: bytes
) -> None:
    keys.find("k1", clock())
    provider.status, provider.body = status, body

    for _ in range(59):
        clock.advance(minutes=1)
        assert keys.find("k1", clock()).key_id == "k1"
    clock.advance(seconds=59)
    assert keys.find("k1", clock())
    clock.advance(seconds=1)
    with pytest.raises(Unavailable):
        keys.find("k1", clock())


def test_the_first_good_answer_after_an_outage_counts(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    provider.status = 503
    with pytest.raises(Unavailable):
        keys.find("k1", clock())
    provider.status = 200
    with pytest.raises(Unavailable):
        keys.find("k1", clock())

    clock.advance(seconds=10)

    assert keys.find("k1", clock())


def test_failures_are_asked_for_once_a_cool_down(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    provider.status = 500
    for _ in range(20):
        with pytest.raises(Unavailable):
            keys.find("garbage", clock())

    assert provider.fetches == 1


def test_an_unknown_key_is_no_fault_of_the_caller_while_the_provider_fails(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    """It may be the new one, which only the provider could tell."""
    keys.find("k1", clock())
    provider.status = 500
    clock.advance(seconds=10)

    for _ in range(2):
        with pytest.raises(Unavailable):
            keys.find("k2", clock())
    assert keys.find("k1", clock())


def test_a_slow_provider_keeps_no_valid_token_waiting(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    keys.find("k1", clock())
    clock.advance(minutes=6)
    provider.answers.clear()
    provider.asked.clear()

    with ThreadPoolExecutor(4) as pool:
        garbage = [pool.submit(keys.find, f"x{number}", clock()) for number in range(4)]
        assert provider.asked.wait(10)
        began = time.monotonic()
        assert keys.find("k1", clock())
        waited = time.monotonic() - began
        for each in garbage:
            with pytest.raises(Unavailable):
                each.result(10)

    assert waited < 1
    assert provider.fetches == 2


def test_a_provider_that_never_answers_takes_two_seconds(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    provider.answers.clear()

    began = time.monotonic()
    with pytest.raises(Unavailable):
        keys.find("k1", clock())
    first = time.monotonic() - began
    with pytest.raises(Unavailable):
        keys.find("k1", clock() + timedelta(seconds=1))

    assert 1.9 < first < 5
    assert provider.fetches == 1


def test_a_caller_with_a_known_key_waits_for_less_than_one_without(
    keys: KeySet, provider: Provider, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_sets, "REFRESH_SECONDS", 0.05)
    asked: list[float] = []

    def note(seconds: float) -> float:
        asked.append(seconds)
        return seconds

    monkeypatch.setattr(deadlines, "patience", note)
    with pytest.raises(Unauthenticated):
        keys.find("k2", clock())
    assert 0.05 not in asked
    clock.advance(minutes=6)
    provider.answers.clear()

    assert keys.find("k1", clock())

    assert 0.05 in asked


def test_a_provider_that_sends_a_byte_at_a_time_is_asked_anew(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_sets, "TIMEOUT_SECONDS", 0.5)
    with running("drips", monkeypatch) as server:
        keys = KeySet(server.url)
        give_up = time.monotonic() + 30
        while server.connections < 2 and time.monotonic() < give_up:
            with pytest.raises(Unavailable):
                keys.find("k1", clock())
            clock.advance(seconds=10)

        assert server.connections == 2


def test_a_clock_that_was_set_back_has_the_set_fetched_again(
    keys: KeySet, provider: Provider, clock: Clock
) -> None:
    keys.find("k1", clock())
    provider.kids = ["k2"]

    clock.advance(days=-1)

    with pytest.raises(Unauthenticated):
        keys.find("k1", clock())
