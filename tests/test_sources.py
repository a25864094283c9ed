"""The network that a call comes from, by its address or what our proxies say."""

import pytest

from chalicelib.limits import source

GATEWAY = {"identity": {"sourceIp": "203.0.113.77"}}


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0"),
        ("203.0.113.255", "203.0.113.0"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::"),
        ("::ffff:203.0.113.77", "203.0.113.0"),
        ("", None),
        ("not an address", None),
        (None, None),
    ],
)
def test_a_request_comes_from_a_network(address: str | None, network: str | None) -> None:
    assert source({"identity": {"sourceIp": address}}, {}, 0) == network


@pytest.mark.parametrize(
    ("forwarded", "hops", "network"),
    [
        # There is no proxy of ours in front: the header is whatever the caller sent.
        ("198.51.100.1, 203.0.113.77", 0, "203.0.113.0"),
        ("198.51.100.1, 203.0.113.77", 1, "198.51.100.0"),
        ("192.0.2.66, 198.51.100.1, 203.0.113.77", 1, "198.51.100.0"),
        ("192.0.2.1,198.51.100.1,203.0.113.77", 2, "192.0.2.0"),
        # Who comes around the proxies has fewer entries.
        ("203.0.113.77", 1, "203.0.113.0"),
        ("", 1, "203.0.113.0"),
        ("nonsense, 203.0.113.77", 1, "203.0.113.0"),
    ],
)
def test_trusted_proxies_say_who_called_them(forwarded: str, hops: int, network: str) -> None:
    assert source(GATEWAY, {"x-forwarded-for": forwarded}, hops) == network


def test_a_call_without_a_gateway_comes_from_nowhere() -> None:
    assert source({}, {}, 0) is None
