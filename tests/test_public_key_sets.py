"""Keys at an address of a publisher's choice: of the public internet, small, and in time."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from chalicelib import key_sets, outgoing
from chalicelib.errors import Unauthenticated, Unavailable
from chalicelib.key_sets import PublicKeySet
from chalicelib.outgoing import HttpRequest, PublicConnection
from tests.support import tls_server
from tests.support.clock import Clock
from tests.support.issuing import public_document

KEYS = orjson.dumps(public_document(ec.generate_private_key(ec.SECP256R1()), "ES256"))


class Host:
    """A publisher's host, which answers as a test says."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[str] = []
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {"/keys": (200, {}, KEYS)}
        # `/slow` waits for it.
        self.is_over = threading.Event()

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        self.asked.append(path)
        if path == "/slow":
            self.is_over.wait(30)
        return self.answers.get(path, (404, {}, b""))


@pytest.fixture
def neighbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """A host of this machine."""
    host = Host()
    with tls_server.running(host.answer, tmp_path, monkeypatch) as host.url:
        yield host
        host.is_over.set()


@pytest.fixture
def host(neighbour: Host, monkeypatch: pytest.MonkeyPatch) -> Host:
    """The host, as if it were of the public internet."""
    monkeypatch.setattr(outgoing, "is_public", lambda _: True)
    return neighbour


def test_the_keys_of_a_public_host_are_found(host: Host, clock: Clock) -> None:
    host.answers["/keys?policy=a%20b"] = host.answers.pop("/keys")

    assert PublicKeySet(f"{host.url}/keys?policy=a%20b").find("k1", clock()).key_id == "k1"
    assert host.asked == ["/keys?policy=a%20b"]


def test_a_host_of_a_network_that_is_not_public_is_asked_nothing(
    neighbour: Host, clock: Clock
) -> None:
    for url in (neighbour.url, neighbour.url.replace("localhost", "127.0.0.1")):
        with pytest.raises(Unavailable):
            PublicKeySet(f"{url}/keys").find("k1", clock())

    assert neighbour.asked == []


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.1", "10.0.0.1", "172.16.0.1", "172.31.255.255"),
        *("192.168.0.1", "169.254.169.254", "169.254.170.2", "100.64.0.1", "192.0.0.1"),
        *("192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1"),
        *("255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254"),
        *("ff02::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::a00:1"),
        *("64:ff9b:1::1", "2001:db8::1", "2002:a00:1::", "2001:0:53aa:64c:0:fbff:f5ff:fffe"),
        *("100::1", "fec0::1", "192.0.0.9", "192.88.99.1", "233.252.0.1", "64:ff9b::a9fe:a9fe"),
        *("2002:a9fe:a9fe::1", "::169.254.169.254", "::ffff:a9fe:a9fe", "2001:20::1", "3fff::1"),
        *("2001:4:112::1", "5f00::1", "ff0e::1", "4000::1"),
    ],
)
def test_an_address_of_no_public_network_is_known(address: str) -> None:
    assert not outgoing.is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "2a00:1450::1"])
def test_an_address_of_the_public_internet_is_known(address: str) -> None:
    assert outgoing.is_public(address)


def test_a_host_with_one_private_address_is_refused(
    neighbour: Host, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that leads to two networks leads to either."""
    found = [(2, 1, 6, "", (each, 0)) for each in ("127.0.0.1", "93.184.215.14")]
    resolve = socket.getaddrinfo

    def resolve_twofold(host: str, *given: Any, **named: Any) -> Any:
        return found if host == "localhost" else resolve(host, *given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_twofold)

    with pytest.raises(Unavailable):
        PublicKeySet(f"{neighbour.url}/keys").find("k1", clock())
    assert neighbour.asked == []


def test_a_certificate_of_another_name_is_refused(host: Host, clock: Clock) -> None:
    url = host.url.replace("localhost", "127.0.0.1")

    with pytest.raises(Unavailable):
        PublicKeySet(f"{url}/keys").find("k1", clock())
    assert host.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        (302, {"Location": "/keys"}, KEYS),
        (307, {"Location": "http://169.254.169.254/"}, b""),
        (404, {}, KEYS),
        (500, {}, KEYS),
        (200, {}, b""),
        (200, {}, b"<html>"),
        (200, {}, b"[]"),
        (200, {}, b'{"keys": []}'),
        (200, {}, b'{"keys": {"k1": 1}}'),
        (200, {}, b'{"keys": [7]}'),
        (200, {}, b"[" * 60_000),
        (200, {}, KEYS + b" " * 10_000_000),
    ],
    ids=lambda answer: f"{answer[0]} {answer[2][:9]!r}",
)
def test_an_answer_that_is_no_small_set_of_keys_counts_as_none(
    host: Host, clock: Clock, answer: Any
) -> None:
    host.answers["/other"] = answer

    with pytest.raises(Unavailable):
        PublicKeySet(f"{host.url}/other").find("k1", clock())

    assert host.asked == ["/other"]


def test_a_slow_host_holds_up_nobody_elses_people(host: Host, clock: Clock) -> None:
    slow, other = PublicKeySet(f"{host.url}/slow"), PublicKeySet(f"{host.url}/keys")

    def ask() -> None:
        with pytest.raises(Unavailable):
            slow.find("k1", clock())

    asking = threading.Thread(target=ask)
    asking.start()

    began = time.monotonic()
    assert other.find("k1", clock()).key_id == "k1"
    with pytest.raises(Unavailable):
        slow.find("k1", clock())
    assert time.monotonic() - began < key_sets.TIMEOUT_SECONDS + 4
    # From then on nobody waits for it.
    asking.join()
    began = time.monotonic()
    with pytest.raises(Unavailable):
        slow.find("k1", clock())
    assert time.monotonic() - began < key_sets.TIMEOUT_SECONDS / 2


def test_a_host_that_lets_in_too_late_is_sent_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could draw out a handshake for hours."""
    monkeypatch.setattr(outgoing, "is_public", lambda _: True)
    connect, is_over = socket.create_connection, threading.Event()

    def connect_late(*given: Any) -> socket.socket:
        is_over.wait(30)
        return connect(*given)

    monkeypatch.setattr(socket, "create_connection", connect_late)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = urlsplit(f"https://localhost:{listener.getsockname()[1]}/keys")
        request, opens = HttpRequest(url, "GET", "", "", {}), PublicConnection
        with pytest.raises(TimeoutError):
            outgoing.ask(outgoing.Way(), request, 0.1, 1_000, opens=opens)
        is_over.set()
        listener.settimeout(30)
        accepted, _ = listener.accept()
        with accepted:
            accepted.settimeout(30)
            assert accepted.recv(100) == b""


def test_a_flood_of_unknown_keys_is_one_fetch_in_ten_seconds(host: Host, clock: Clock) -> None:
    keys = PublicKeySet(f"{host.url}/keys")
    for number in range(20):
        with pytest.raises(Unauthenticated):
            keys.find(f"unknown-{number}", clock())
    assert len(host.asked) == 1

    clock.advance(seconds=10)
    with pytest.raises(Unauthenticated):
        keys.find("unknown", clock())
    assert len(host.asked) == 2
