"""Paths, sources and visitors: pure rules, and salts that two containers agree on."""

import random

import pytest

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
        ("/what%3F", "/what?"),
        ("/cafe%CC%81", "/café"),
        ("/...", "/..."),
        ("/$where/a.b", "/$where/a.b"),
        (f"/{'a' * 511}", f"/{'a' * 511}"),
    ],
)
def test_a_page_has_one_path(address: str, path: str) -> None:
    assert paths.clean(address) == path
    assert path == "/what?" or paths.clean(path) == path


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
    ],
)
def test_a_campaign_is_of_three_words(address: str, campaign: str | None) -> None:
    assert sources.campaign(address) == campaign


def test_a_country_is_the_cdns() -> None:
    assert agents.country_of({"cloudfront-viewer-country": "CN"}) == "CN"
    assert agents.country_of({"cf-ipcountry": "XX"}) is None
    assert agents.country_of({"cloudfront-viewer-country": "$a"}) is None


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
