"""Only a person's call counts or bills: every route of such events, found by its calls."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.ads.tracking import conversion_keys
from chalicelib.ads.tracking.events import AdEvent
from chalicelib.analytics.hits import Hits
from chalicelib.messaging import Message, Queues
from chalicelib.runtime import Runtime
from tests.ads.support.events import value_of
from tests.ads.support.factories import BANNER
from tests.security.support.callers import OWN_ADVERTISER, OWN_SITE
from tests.security.support.matrix import FEATURES
from tests.security.support.row import Row
from tests.security.support.world import World, build, made
from tests.security.test_access_matrix import call, target_of
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Mobile/15E148 Safari/604.1"
GIF = b"GIF89a"
# The routes that count or bill; a new one has to be added, so that it is thought of.
COUNTING = {
    "GET /ads/{site}/{zone}",
    "POST /ads/events/{event}",
    "GET /ads/events/{event}/pixel",
    "GET /ads/click/{click}",
    "GET /ads/conversions/{advertiser}/pixel",
    "POST /hits",
    "GET /hits/{site}/pixel",
}
LOOKS_AHEAD: tuple[dict[str, str], ...] = (
    {"Sec-Purpose": "prefetch"},
    {"Sec-Purpose": "prefetch;prerender"},
    {"Sec-Purpose": "prefetch;anonymous-client-ip"},
    {"Purpose": "prefetch"},
    {"Purpose": "Preview"},
    {"X-Purpose": "preview"},
    {"X-Moz": "prefetch"},
)
PROGRAMS: tuple[dict[str, str], ...] = (
    {"User-Agent": ""},
    {"User-Agent": "curl/8.5.0"},
    {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
    {"User-Agent": "WhatsApp/2.23.20.0"},
    {"User-Agent": "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5"},
    {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/120.0.0.0 Safari/537.36"},
)


class Listening(Queues):
    """Queues that keep the messages of a call."""

    def __init__(self) -> None:
        super().__init__("plaza-test-")
        self.sent: list[Message] = []

    def send(self, *messages: Any) -> bool:
        self.sent += messages
        return True

    def visits(self) -> Iterator[Message]:
        """Yield and forget the events that count as a person's."""
        sent, self.sent = self.sent, []
        for message in sent:
            if isinstance(message, AdEvent) and not message.is_bot:
                yield message
            if isinstance(message, Hits) and message.kind != "bot":
                yield message


@dataclass(frozen=True)
class Town:
    """The world of the matrix, whose zone counts decisions, and the messages of its calls."""

    world: World
    queues: Listening

    def call(self, row: Row, headers: Mapping[str, str], method: str = "") -> Reply:
        client = replace(self.world.client, headers={"User-Agent": PHONE, **headers})
        row = replace(row, call=f"{method} {row.call.split(' ', 1)[1]}") if method else row
        return call(self.world, row, client, target_of(self.world, row))


@pytest.fixture
def town(client: Client, runtime: Runtime, workers: Workers) -> Town:
    world = build(client, runtime, workers)
    zone = f"/sites/{OWN_SITE}/zones/banner"
    made(world.as_("admin").put(zone, size=BANNER, count_on="decision"))
    queues = Listening()
    listening = create_app(replace(runtime, queues=queues), LocalChalice)
    return Town(replace(world, client=Client(listening, client.token)), queues)


def _signed(town: Town) -> Row:
    """Return a conversion of a visitor who has clicked on the advertiser's ad."""
    key = f"/advertisers/{OWN_ADVERTISER}/conversion-key"
    secret = made(town.world.as_("admin").post(key))["keys"][0]["secret"]
    visitor = quote(value_of("ann"))
    decision = made(town.world.client.get(f"/ads/{OWN_SITE}/banner?visitor={visitor}"))
    town.world.client.get(decision["ads"][0]["click_url"])
    signature = conversion_keys.sign(secret, OWN_ADVERTISER, None, 0)
    query = f"?visitor={visitor}&signature={signature}"
    return Row("GET /ads/conversions/{advertiser}/pixel", {}, query=query)


def rows_of(town: Town) -> list[Row]:
    """Return a call for each counting route."""
    rows = {row.call: row for rows in FEATURES.values() for row in rows}
    known = {name: rows[name] for name in COUNTING}
    known["GET /ads/conversions/{advertiser}/pixel"] = _signed(town)
    town.queues.sent.clear()
    return list(known.values())


def test_the_table_has_every_route_whose_call_counts(town: Town) -> None:
    found = set()
    for row in [*(row for rows in FEATURES.values() for row in rows), _signed(town)]:
        town.queues.sent.clear()
        town.call(row, {})
        if any(True for _ in town.queues.visits()):
            found.add(row.call)

    assert found == COUNTING


def test_a_call_without_a_person_counts_nothing_and_is_answered_alike(town: Town) -> None:
    for row in rows_of(town):
        for headers in (*LOOKS_AHEAD, *PROGRAMS):
            reply = town.call(row, headers)
            assert list(town.queues.visits()) == [], f"{row} {headers}"
            _check_answer(row, reply)
        seen = town.call(row, {})
        assert len(list(town.queues.visits())) == 1, row
        _check_answer(row, seen)


def test_head_counts_nothing(town: Town) -> None:
    for row in rows_of(town):
        if row.call.startswith("GET"):
            assert town.call(row, {}, "HEAD").status in {200, 302}, row
            assert list(town.queues.visits()) == [], row


def _check_answer(row: Row, reply: Reply) -> None:
    if row.call.endswith("/pixel"):
        assert (reply.status, reply.headers["Content-Type"]) == (200, "image/gif")
        assert reply.body.startswith(GIF)
        assert reply.headers["Cache-Control"] == "no-store"
    else:
        (status,) = row.expected
        assert reply.status == status


@pytest.mark.parametrize("value", ["", "navigate", "fetch", "1"])
def test_other_purposes_are_a_persons(town: Town, value: str) -> None:
    for row in rows_of(town):
        town.call(row, {"Sec-Purpose": value, "Purpose": value, "X-Moz": value})
        assert len(list(town.queues.visits())) == 1, re.sub(r"\W+", " ", str(row))
