"""Paths, sources and visitors: pure rules, and salts that two containers agree on."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from chalicelib.analytics.visitors import agents, paths, sources
from chalicelib.analytics.visitors.salts import SALTS, Salts
from chalicelib.runtime import Runtime
from tests.support.clock import START


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("/", "/"),
        ("/?a=1", "/"),
        ("//", "/"),
        ("/a/", "/a"),
        ("/a#b", "/a"),
        ("/a?b#c", "/a"),
        ("/a%2Fb", "/a/b"),
        ("/what%3F", "/what%3F"),
        ("/100%25", "/100%25"),
        ("/100%", "/100%25"),
        ("/%2541", "/%2541"),
        ("/%%34%31", "/%2541"),
        ("/a%23b", "/a%23b"),
        ("/%ff/%C3", "/%FF/%C3"),
        ("/%0a%00\u0007", "/%0A%00%07"),
        ("/%E2%80%A8", "/%E2%80%A8"),
        ("/%ed%a0%80", "/%ED%A0%80"),
        ("/\ud83d", "/\ufffd"),
        ("/%FE\u0301", "/%FE\u0301"),
        ("/a\\b;c=d", "/a\\b;c=d"),
        ("/cafe%CC%81", "/café"),
        ("/...", "/..."),
        ("/$where/a.b", "/$where/a.b"),
        (f"/{'a' * 511}", f"/{'a' * 511}"),
    ],
)
def test_a_page_has_one_path(address: str, path: str) -> None:
    assert paths.clean(address) == path
    assert paths.clean(path) == path


# What an address may be made of that means something to a URL, to UTF-8 or to Unicode.
_PIECES = st.one_of(
    st.text("%25?#3FfEe0Cc9A/.\\;&=+*~\u0301\u037e\u212a\u2028\x7f\ud83d\udcff\uf900", max_size=6),
    st.lists(st.integers(0, 255).map("%{:02x}".format), max_size=4).map("".join),
    st.sampled_from(["%252525", "%253F", "%E1%84%80\u1161", "\u0f74%e0%bd%b1", "%F0%9F\u0301"]),
    st.characters(categories=["Mn", "Cs", "Cc", "Lo"]),
)
ADDRESSES = st.builds("/".__add__, st.lists(_PIECES, max_size=12).map("".join))


@settings(max_examples=2_000, deadline=None)
@given(ADDRESSES)
def test_a_path_that_is_cleaned_again_stays_as_it_is(address: str) -> None:
    path = paths.find(address)

    if path is not None:
        assert paths.clean(path) == path
        assert len(path.encode()) <= paths.MAX_BYTES


@pytest.mark.parametrize(
    "address", ["", "a", "*", "*other*", "/a/../b", "/%2e%2E/", "/" + "é" * 256]
)
def test_an_address_that_no_browser_has_is_no_path(address: str) -> None:
    assert paths.find(address) is None


@pytest.mark.parametrize("piece", ["%", "%25", "a", "%FF", "é"])
def test_a_path_of_512_bytes_is_the_longest(piece: str) -> None:
    size_bytes = len(paths.clean("/" + piece)) - 1 if piece != "é" else 2
    most = 511 // size_bytes

    longest = paths.clean("/" + piece * most)

    assert paths.clean(longest) == longest
    assert paths.find("/" + piece * (most + 1)) is None


@pytest.mark.parametrize(
    ("address", "campaign"),
    [
        ("/a", None),
        ("/a?x=utm_source", None),
        ("/a?utm_source=s", "s"),
        ("/a?utm_campaign=c", "//c"),
        ("/a?utm_source=s&utm_medium=m&utm_campaign=c#f", "s/m/c"),
        ("/a?utm_source=a%2Fb*%00c&utm_source=d", "abc"),
        (f"/a?utm_source={'x' * 100}", "x" * 60),
        ("/a?utm_source=" + "&a=" * 60, None),
        (
            "/a?utm_source=NewsLetter&utm_medium=E-Mail&utm_campaign=ÄPFEL",
            "newsletter/e-mail/äpfel",
        ),
    ],
)
def test_a_campaign_is_of_three_words(address: str, campaign: str | None) -> None:
    assert sources.campaign(address) == campaign


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://WWW.News.example/A?b", "news.example"),
        ("android-app://com.google.android.gm/", "com.google.android.gm"),
        ("android-app://Org.Telegram.Messenger", "org.telegram.messenger"),
        ("ios-app://544007664/vnd.youtube/x", "544007664"),
        ("javascript://news.example/", None),
        ("file://news.example/", None),
        ("android-app:///", None),
    ],
)
def test_a_referrer_is_a_host_or_an_app_in_one_case(address: str, host: str | None) -> None:
    assert sources.host_of(address) == host


PROOF = SecretStr("a proof that the CDN adds")
PROVEN = {agents.COUNTRY_PROOF_HEADER: PROOF.get_secret_value()}


@pytest.mark.parametrize(
    ("headers", "country"),
    [
        ({"cloudfront-viewer-country": "CN"}, "CN"),
        ({"cf-ipcountry": "CN"}, "CN"),
        ({"cf-ipcountry": "XX"}, None),
        ({"cloudfront-viewer-country": "$a"}, None),
        ({}, None),
    ],
)
def test_a_country_is_the_cdns(headers: dict[str, str], country: str | None) -> None:
    assert agents.country_of({**PROVEN, **headers}, PROOF) == country
    assert agents.country_of({**PROVEN, **headers}, None) is None


@pytest.mark.parametrize("proof", [None, "", "a proof that the CDN add", "ä proof", "*"])
def test_a_country_that_a_caller_sends_is_not_taken(proof: str | None) -> None:
    sent = {"cloudfront-viewer-country": "CN"}
    headers = sent if proof is None else {**sent, agents.COUNTRY_PROOF_HEADER: proof}

    assert agents.country_of(headers, PROOF) is None


def test_two_containers_know_one_visitor_by_one_salt(runtime: Runtime) -> None:
    first, second = (Salts(runtime.database, random.Random(n)) for n in (1, 2))
    who = ("blog", "203.0.113.7", "Firefox")

    assert first.visitor(*who, START) == second.visitor(*who, START)
    assert first.visitor(*who, START) != first.visitor("other", *who[1:], START)
    assert SALTS.of(runtime.database).count_documents({}) == 1


def test_a_visitor_cannot_be_told_once_the_salt_is_gone(runtime: Runtime) -> None:
    who = ("blog", "203.0.113.7", "Firefox", START)
    before = Salts(runtime.database, random.Random(1)).visitor(*who)

    SALTS.of(runtime.database).delete_many({})

    assert Salts(runtime.database, random.Random(2)).visitor(*who) != before
