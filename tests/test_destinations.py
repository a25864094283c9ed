"""Addresses that strangers name for a POST: none leads to a neighbour of this process."""

import socket
from typing import Any

import pytest

from chalicelib import outgoing
from chalicelib.outgoing import OutgoingPost

# What the resolvers of these names answer, in turn.
NAMES = {
    "loops.example": ["127.0.0.1"],
    "meta.example": ["169.254.169.254"],
    "meta6.example": ["fd00:ec2::254"],
    "mapped.example": ["::ffff:10.0.0.1"],
    "nat64.example": ["64:ff9b::a9fe:a9fe"],
    "sixtofour.example": ["2002:a9fe:a9fe::1"],
    "both.example": ["93.184.215.14", "10.0.0.1"],
    "multicast.example": ["224.0.0.251"],
}
HOSTILE = [
    # Other schemes, ports, users and forms.
    *("", "harbour.example", "//harbour.example/", "https://", "https:///path", "https://:443/"),
    *("http://harbour.example/", "ftp://harbour.example/", "file:///etc/passwd", "gopher://a.b/"),
    *("https://harbour.example:80/", "https://harbour.example:8443/", "https://h.example:0/"),
    *("https://harbour.example:65536/", "https://harbour.example:x/", "HTTPS://harbour.example/"),
    *("https://ann@harbour.example/", "https://ann:pw@harbour.example/", "https://@h.example/"),
    *("https://harbour.example/#part", "https://harbour.example\\@10.0.0.1/", "https://h .ex/"),
    *("https://harbour.example/\r\nHost: a", "https://h.example/\t", "https://hafen.exämple/"),
    "https://harbour.example/" + "a" * 2_001,
    # Names of this machine and its network.
    *(
        "https://localhost/",
        "https://localhost./",
        "https://a.localhost/",
        "https://printer.local/",
    ),
    *("https://metadata.google.internal/", "https://router.home.arpa/", "https://intranet/"),
    *("https://harbour.example./", "https://-.example/", "https://a..example/"),
    # IPv4 in all forms that a resolver reads.
    *(
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0/",
        "https://0.0.0.0/",
        "https://2130706433/",
    ),
    *("https://0x7f000001/", "https://0x7f.1/", "https://0177.0.0.1/", "https://127.0.0.0x1/"),
    *("https://10.0.0.1/", "https://172.16.0.1/", "https://192.168.0.1/", "https://100.64.0.1/"),
    *("https://169.254.169.254/latest/", "https://192.0.0.9/", "https://198.18.0.1/"),
    *("https://192.88.99.1/", "https://224.0.0.1/", "https://255.255.255.255/"),
    # IPv6, alone and with an IPv4 address inside.
    *("https://[::1]/", "https://[::]/", "https://[fe80::1]/", "https://[fc00::1]/"),
    *("https://[fd00:ec2::254]/", "https://[ff02::1]/", "https://[::ffff:127.0.0.1]/"),
    *("https://[::169.254.169.254]/", "https://[64:ff9b::a9fe:a9fe]/", "https://[2002:7f00:1::]/"),
    *("https://[2001:0:53aa:64c:0:fbff:f5ff:fffe]/", "https://[3fff::1]/", "https://[::1/"),
    *("https://[fe80::1%25eth0]/", "https://[v1.a]/"),
    *(f"https://{name}/" for name in NAMES),
]
PUBLIC = (
    *(
        "https://harbour.example/",
        "https://harbour.example:443/a?b=c",
        "https://xn--hfen-loa.example",
    ),
    *("https://93.184.215.14/", "https://[2606:4700::1111]/", "https://h_1.harbour.example/"),
)


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The addresses to which connections were tried; none is made."""
    tried: list[Any] = []
    resolve = socket.getaddrinfo

    def resolve_named(host: str, port: Any, *given: Any, **named: Any) -> Any:
        literal = [host] if ":" in host else None
        found = NAMES.get(host, ["93.184.215.14"] if host.endswith(".example") else literal)
        if found is None:
            return resolve(host, port, *given, **named)
        return [(2, 1, 6, "", (each, port)) for each in found]

    def refuse(address: Any, *_: Any, **__: Any) -> Any:
        tried.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve_named)
    monkeypatch.setattr(socket, "create_connection", refuse)
    return tried


def post(url: str) -> None:
    outgoing.post(outgoing.Way(), OutgoingPost(url, "{}", {}, is_near=False), 5.0, 1_000)


@pytest.mark.parametrize("url", HOSTILE)
def test_nothing_connects_to_a_hostile_address(connections: list[Any], url: str) -> None:
    with pytest.raises((ValueError, OSError)):
        post(url)

    assert connections == []


@pytest.mark.parametrize("url", PUBLIC)
def test_a_public_address_is_connected_to(connections: list[Any], url: str) -> None:
    with pytest.raises(ConnectionRefusedError):
        post(url)

    assert len(connections) == 1


def test_the_table_is_long() -> None:
    assert len(HOSTILE) >= 60


def test_a_name_that_leads_elsewhere_at_its_second_resolution_is_resolved_once(
    connections: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection goes to the very address that was checked."""
    answers = iter(["93.184.215.14", "127.0.0.1"])
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", (next(answers), 443))]
    )
    with pytest.raises(ConnectionRefusedError):
        post("https://rebinding.example/")

    assert connections == [("93.184.215.14", 443)]
    assert next(answers) == "127.0.0.1"


@pytest.mark.parametrize("url", ["ftp://localhost/", "http://ann@localhost/", "http:///", "x"])
def test_a_deployment_on_its_own_machine_refuses_what_is_no_http_address(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        outgoing.split_destination(url, is_near=True)
