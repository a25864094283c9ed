"""What a page of a feed asks of the database, however long the feed is."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from pymongo import monitoring

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.runtime import Runtime
from chalicelib.social.activity.feed import items, reading
from chalicelib.social.activity.org import people
from chalicelib.social.paging import ListPosition
from tests.social.activity.support.bulk import item, plant
from tests.support.clock import START
from tests.support.commands import listening

SIZES = (100, 100_000)
LIMIT = 40
READ = LIMIT + reading.SPARE


class Sent(monitoring.CommandListener):
    """Remembers the commands that a client sends."""

    def __init__(self) -> None:
        self.commands: list[Mapping[str, Any]] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        self.commands.append(event.command)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        pass

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        pass

    def take(self) -> list[Mapping[str, Any]]:
        """Return what was sent since the last time."""
        taken, self.commands = self.commands, []
        return taken


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def listened(runtime: Runtime, sent: Sent) -> Iterator[Runtime]:
    """A runtime whose database tells what is asked of it, with Bob in Ann's team."""
    bob = {"_id": "bob", **people.NEW_PERSON, "team": "hiring"}
    runtime.database[people.PEOPLE.name].insert_one(bob)
    with listening(runtime, sent) as heard:
        sent.take()
        yield heard


def explained(runtime: Runtime, command: Mapping[str, Any]) -> list[Document]:
    """Return the executed stages of a command, those of its parts included."""
    plain = {"aggregate", "find", "pipeline", "hint", "filter", "sort", "limit", "projection"}
    again = {name: value for name, value in command.items() if name in plain}
    if "aggregate" in again:
        again["cursor"] = {}
    plan = runtime.database.command("explain", again, verbosity="executionStats")
    return list(_stages(plan))


def _stages(plan: Any) -> Iterator[Document]:
    match plan:
        case dict():
            if "stage" in plan and "executionTimeMillisEstimate" in plan:
                yield plan
            for name, part in plan.items():
                if name != "rejectedPlans":
                    yield from _stages(part)
        case list():
            for part in plan:
                yield from _stages(part)


def keys_examined(stages: list[Document]) -> int:
    return sum(stage.get("keysExamined", 0) for stage in stages)


@pytest.mark.parametrize("size", SIZES)
def test_a_page_is_two_queries_in_the_order_of_an_index(
    listened: Runtime, sent: Sent, size: int
) -> None:
    plant(listened, "bob", size, START - timedelta(minutes=size), bodies=min(size, 200))
    sent.take()
    query, pages = PageQuery(limit=LIMIT), 0
    while pages < 2:
        read = reading.read(listened, "bob", query)
        places, bodies = sent.take()
        assert (places["aggregate"], bodies["find"]) == ("feed.item", "feed.action")
        stages = explained(listened, places)
        names = {stage["stage"] for stage in stages}
        assert "SORT" not in names
        assert "COLLSCAN" not in names
        assert "IXSCAN" in names
        # A key for each place, one beyond each end of the ranges, and the reader's own.
        assert READ <= keys_examined(stages) <= READ + 4
        assert {stage["stage"] for stage in explained(listened, bodies)} <= {
            "IXSCAN",
            "FETCH",
            "PROJECTION_DEFAULT",
        }
        sent.take()
        pages += 1
        query = PageQuery(limit=LIMIT, cursor=read["next"])


@pytest.mark.parametrize("limit", [1, 200])
def test_two_queries_are_enough_for_a_page_of_any_length(
    listened: Runtime, sent: Sent, limit: int
) -> None:
    plant(listened, "bob", 500, START - timedelta(minutes=500))
    first = reading.read(listened, "bob", PageQuery(limit=limit))
    assert len(first["actions"]) == limit
    sent.take()
    second = reading.read(listened, "bob", PageQuery(limit=limit, cursor=first["next"]))
    assert len(second["actions"]) == limit
    assert [next(iter(command)) for command in sent.take()] == ["aggregate", "find"]


def test_the_spare_places_are_looked_at_where_something_is_missing(
    listened: Runtime, sent: Sent
) -> None:
    planted = plant(listened, "bob", 100, START - timedelta(minutes=100))
    sent.take()
    reading.read(listened, "bob", PageQuery(limit=LIMIT))
    _, bodies = sent.take()
    assert bodies["filter"] == {"_id": {"$in": planted[: LIMIT + 1]}}
    gone = {"_id": planted[LIMIT]}
    listened.database["feed.action"].update_one(gone, {"$set": {"hidden": True}})
    sent.take()
    read = reading.read(listened, "bob", PageQuery(limit=LIMIT))
    _, _, more = sent.take()
    assert more["filter"] == {"_id": {"$in": planted[LIMIT + 1 : READ]}}
    assert [each["id"] for each in read["actions"]] == planted[:LIMIT]
    assert read["next"]


def test_a_page_far_down_examines_no_more(listened: Runtime, sent: Sent) -> None:
    planted = plant(listened, "bob", 10_000, START - timedelta(minutes=10_000), bodies=1)
    place = reading._Place(START, ListPosition(START - timedelta(minutes=9_000), planted[9_000]))
    sent.take()
    reading._find(listened, "bob", place, READ)
    (command,) = sent.take()
    assert keys_examined(explained(listened, command)) <= READ + 4


def test_a_page_among_many_of_one_relevancy_examines_no_more(listened: Runtime, sent: Sent) -> None:
    ids = [f"action{number:04}" for number in range(5_000)]
    listened.database["feed.item"].insert_many([item("bob", each, START) for each in ids])
    place = reading._Place(START + reading.RISING, ListPosition(START, ids[2_500]))
    sent.take()
    found = reading._find(listened, "bob", place, READ)
    assert [each.post_id for each in found.positions] == ids[2_499 : 2_499 - READ : -1]
    (command,) = sent.take()
    assert keys_examined(explained(listened, command)) <= READ + 4


def test_the_places_are_read_from_the_index_alone(listened: Runtime, sent: Sent) -> None:
    plant(listened, "bob", 1_000, START - timedelta(minutes=1_000))
    sent.take()
    first = reading.read(listened, "bob", PageQuery(limit=LIMIT))
    reading.read(listened, "bob", PageQuery(limit=LIMIT, cursor=first["next"]))
    for places in sent.take()[::2]:
        assert "FETCH" not in {stage["stage"] for stage in explained(listened, places)}


def test_what_has_risen_is_counted_by_its_own_index(listened: Runtime, sent: Sent) -> None:
    planted = plant(listened, "bob", 10_000, START - timedelta(minutes=10_000), bodies=200)
    first = reading.read(listened, "bob", PageQuery(limit=LIMIT))
    risen = {"relevancy": START + timedelta(hours=1), "risen": START + timedelta(hours=1)}
    listened.database["feed.item"].update_many(
        {"action_id": {"$in": planted[-150:]}, "user_id": "bob"}, {"$set": risen}
    )
    sent.take()
    second = reading.read(listened, "bob", PageQuery(limit=LIMIT, cursor=first["next"]))
    assert second["newer"] == 150
    places, _ = sent.take()
    stages = explained(listened, places)
    assert "SORT" not in {stage["stage"] for stage in stages}
    # The server shows no more than a batch of what a part of a pipeline examines.
    scanned = [stage["keyPattern"] for stage in stages if stage["stage"] == "IXSCAN"]
    assert scanned == [dict(items.FEED_ORDER)] * 2 + [dict(items.BY_RISE)]


def test_unread_is_counted_from_the_index_alone(listened: Runtime, sent: Sent) -> None:
    plant(listened, "bob", 10_000, START - timedelta(minutes=10_000), bodies=1)
    reading.mark_seen(listened, "bob")
    sent.take()
    assert reading.count_unread(listened, "bob") == 0
    _, counted = sent.take()
    assert counted["hint"] == dict(items.BY_RISE)
    assert keys_examined(explained(listened, counted)) <= 2
