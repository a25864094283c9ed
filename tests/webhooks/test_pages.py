"""What a receiver hears of pages: at the instants at which readers see them, or no more."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from chalicelib.content import jobs
from chalicelib.content.nodes import NODES
from tests.content.support.factories import (
    SITE,
    editor,
    node,
    publish,
    published,
    publisher,
    read,
    republish,
    save,
    set_up,
    write,
)
from tests.support.http_client import Client
from tests.webhooks.conftest import Desk
from tests.webhooks.support.receiver import Received, Receiver

KINDS = ["page.published", "page.unpublished"]
Heard = Callable[[], list[tuple[str, str, int]]]


@pytest.fixture
def site(desk: Desk, receiver: Receiver) -> Client:
    """A site that publishes, with a hook."""
    set_up(desk.client)
    desk.hook(receiver.url, KINDS)
    return desk.client


@pytest.fixture
def heard(desk: Desk, receiver: Receiver) -> Heard:
    """Let the schedule deliver; return kinds, slugs and versions in the order of their time."""

    def calls() -> list[tuple[str, str, int]]:
        tend(desk)
        found = sorted(receiver.calls, key=lambda each: (each.json["timestamp"], each.event))
        return [told(each) for each in found]

    return calls


def tend(desk: Desk) -> None:
    desk.clock.advance(seconds=6)
    jobs.run_due(desk.runtime)
    desk.workers.drain()


def told(call: Received) -> tuple[str, str, int]:
    data = call.json["data"]
    return call.json["type"], data["slug"], data["version"]


def stamp(desk: Desk, **later: int) -> str:
    return (desk.clock() + timedelta(**later)).isoformat()


def test_a_page_to_come_is_told_at_the_address_it_has_by_then(
    desk: Desk, site: Client, heard: Heard
) -> None:
    page = write(editor(site), "old/moon")
    assert publish(site, page, at=stamp(desk, hours=1)).status == 200
    moved = publisher(site).post(f"/content/{SITE}/move", **{"from": "old/", "to": "new/"})
    assert moved.json == {"moved": 1}

    desk.clock.advance(hours=1)

    assert heard() == [("page.published", "new/moon", 1)]


def unpublish(client: Client, page: str) -> None:
    assert publisher(client).post(f"{node(page)}/unpublish").status == 200


def test_a_page_is_told_with_each_text_and_when_it_goes(
    desk: Desk, site: Client, heard: Heard
) -> None:
    page = published(site)
    desk.clock.advance(minutes=1)
    republish(site, page, 1, "It is new.")
    desk.clock.advance(minutes=1)
    unpublish(site, page)
    desk.clock.advance(minutes=1)
    assert publish(site, page, 2).status == 200
    desk.clock.advance(minutes=1)
    assert publisher(site).delete(node(page)).status == 204

    assert heard() == [
        ("page.published", "moon", 1),
        ("page.published", "moon", 2),
        ("page.unpublished", "moon", 2),
        ("page.published", "moon", 2),
        ("page.unpublished", "moon", 2),
    ]


def test_an_event_names_the_page_and_neither_its_words_nor_its_author(
    desk: Desk, site: Client, receiver: Receiver
) -> None:
    at = desk.clock()
    page = published(site, title="A secret")
    tend(desk)

    (call,) = receiver.calls
    assert call.json == {
        "type": "page.published",
        "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "data": {"id": page, "site": SITE, "slug": "moon", "version": 1},
    }


def test_the_same_words_again_and_drafts_are_no_events(
    desk: Desk, site: Client, heard: Heard
) -> None:
    page = published(site)
    desk.clock.advance(minutes=1)
    assert publish(site, page).status == 200
    assert save(editor(site), page, 1, title="Another").status == 200
    write(editor(site), "draft")
    assert publisher(site).post(f"{node(page)}/publish", version=2, at=FAR).status == 200
    assert publish(site, page, 2, at=FAR).status == 200

    assert heard() == [("page.published", "moon", 1)]


FAR = "2027-01-01T00:00:00Z"


def test_a_page_to_come_is_told_at_its_instant_and_its_end_at_its_end(
    desk: Desk, site: Client, heard: Heard, receiver: Receiver
) -> None:
    page = write(editor(site))
    comes, ends = stamp(desk, hours=1), stamp(desk, hours=2)
    assert publish(site, page, at=comes, until=ends).status == 200
    assert heard() == []

    desk.clock.advance(hours=1)
    assert heard() == [("page.published", "moon", 1)]
    desk.clock.advance(hours=1)

    assert heard() == [("page.published", "moon", 1), ("page.unpublished", "moon", 1)]
    times = [datetime.fromisoformat(each.json["timestamp"]) for each in receiver.calls]
    assert times == [datetime.fromisoformat(each) for each in (comes, ends)]


def test_a_page_that_is_withdrawn_before_its_instant_is_never_told(
    desk: Desk, site: Client, heard: Heard
) -> None:
    page = write(editor(site))
    assert publish(site, page, at=stamp(desk, hours=1)).status == 200
    unpublish(site, page)
    desk.clock.advance(hours=2)

    assert heard() == []


def test_a_page_that_is_put_off_is_told_at_the_later_instant_alone(
    desk: Desk, site: Client, heard: Heard
) -> None:
    page = write(editor(site))
    assert publish(site, page, at=stamp(desk, hours=1)).status == 200
    assert publish(site, page, at=stamp(desk, hours=3)).status == 200
    desk.clock.advance(hours=2)
    assert heard() == []
    desk.clock.advance(hours=2)

    assert heard() == [("page.published", "moon", 1)]


def test_an_event_of_a_past_instant_outlives_the_next_change(
    desk: Desk, site: Client, heard: Heard
) -> None:
    """The schedule has not run since the instant."""
    page = write(editor(site))
    assert publish(site, page, at=stamp(desk, hours=1)).status == 200
    desk.clock.advance(hours=2)
    unpublish(site, page)

    assert heard() == [("page.published", "moon", 1), ("page.unpublished", "moon", 1)]


def test_a_site_without_a_hook_for_pages_keeps_nothing(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    set_up(desk.client)
    page = published(desk.client)

    assert heard() == []
    row = NODES.of(desk.runtime.database).find_one({"_id": page, "site": SITE})
    assert row is not None
    assert row.get("due_events") == []
    desk.hook(receiver.url, KINDS)
    assert heard() == []


@pytest.mark.parametrize("seed", range(6))
def test_events_agree_with_what_readers_see_whatever_editors_and_schedules_do(
    desk: Desk, site: Client, receiver: Receiver, seed: int
) -> None:
    rng, page, version = random.Random(seed), write(editor(site)), 1
    texts = {1: "full"}
    # By time: the last look at an instant is of after its change.
    seen: dict[datetime, int | None] = {}

    def look() -> None:
        found = read(site, "moon")
        html = found.json["html"] if found.status == 200 else ""
        seen[desk.clock()] = next((n for n, text in texts.items() if text in html), None)

    for number in range(30):
        match rng.choice(["publish", "publish", "save", "unpublish", "tend", "wait"]):
            case "publish":
                at = rng.choice([{}, {"at": stamp(desk, minutes=rng.randint(1, 30))}])
                later = {"until": stamp(desk, minutes=rng.randint(31, 60))}
                given = {**at, **rng.choice([{}, later])}
                reply = publish(site, page, version, **given)
                if reply.status == 422:
                    # The page that readers see ends before: null says that it stays.
                    reply = publish(site, page, version, **given, until=None)
                assert reply.status == 200
            case "save":
                version += 1
                texts[version] = f"Text {number}."
                change = {"text": texts[version]}
                assert save(editor(site), page, version - 1, detail=change).status == 200
            case "unpublish":
                unpublish(site, page)
            case "tend":
                tend(desk)
            case _:
                pass
        look()
        for _ in range(rng.randint(1, 12)):
            desk.clock.advance(minutes=1)
            look()
    desk.clock.advance(hours=2)
    tend(desk)

    events = sorted(receiver.calls, key=lambda each: each.json["timestamp"])
    assert len({each.event for each in events}) == len(events)
    for time, wanted in seen.items():
        before = [each for each in events if datetime.fromisoformat(each.json["timestamp"]) <= time]
        kind, _, shown = told(before[-1]) if before else ("page.unpublished", "", 0)
        assert (shown if kind == "page.published" else None) == wanted, time
