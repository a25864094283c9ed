"""Scoring for many readers: the rules' own result, without asking them for each pair."""

import itertools
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions.actions import ACTIONS
from chalicelib.social.activity.actions.events import Event
from chalicelib.social.activity.actions.shapes import StoredAction
from chalicelib.social.activity.feed import items, scoring
from chalicelib.social.activity.feed.relevancy import Penalties, score
from chalicelib.social.activity.feed.scoring import Standing
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.places import PersonOverTime
from tests.social.activity.support.bulk import action
from tests.support.clock import START

MINUTE = timedelta(minutes=1)
CROWD = [f"reader-{number:04}" for number in range(1_000)]
EVENTS = 100


def place(user_id: str, since: datetime, until: datetime, **org: Any) -> Document:
    """Return a place as it is stored."""
    return {"user_id": user_id, "since": since, "until": until, **people.NOWHERE, **org}


def comment(runtime: Runtime, action_id: str, number: int, by: str, ts: datetime) -> None:
    """Store a comment that the action counts."""
    event = {"_id": f"{action_id}-{number}", "action_id": action_id, "type": "comment", "ts": ts}
    by_whom = {"id": by, "name": by.title()}
    runtime.database["feed.event"].insert_one({**event, "by": by_whom, "text": "So it is"})
    runtime.database["feed.action"].update_one({"_id": action_id}, {"$inc": {"event_count": 1}})


def act(runtime: Runtime, action_id: str, conducted: datetime, **given: Any) -> None:
    runtime.database["feed.action"].insert_one(action(runtime, action_id, conducted, **given))


def stored(runtime: Runtime) -> list[StoredAction]:
    return list(ACTIONS.of(runtime.database).find({}, items.ACTION_FIELDS))


@pytest.fixture
def profiled(runtime: Runtime) -> Iterator[Runtime]:
    """A database that writes down what it does, once it is told to."""
    yield runtime
    runtime.database.command("profile", 0)
    runtime.database.drop_collection("system.profile")


def done_to(runtime: Runtime, collection: str) -> list[Document]:
    """Return what was done to a collection since the profile was begun."""
    where = {"ns": f"{runtime.settings.database}.{collection}"}
    return list(runtime.database["system.profile"].find(where))


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """The events that the rules were asked about, once for each time."""
    asked: list[Event] = []

    def counted(reader: PersonOverTime, event: Event, *rest: Any) -> datetime | None:
        asked.append(event)
        return score(reader, event, *rest)

    monkeypatch.setattr(scoring, "score", counted)
    return asked


@pytest.mark.parametrize("seed", range(8))
def test_an_action_ranks_by_its_greatest_score_for_each_reader(runtime: Runtime, seed: int) -> None:
    rng = random.Random(seed)
    names = [f"user-{number}" for number in range(30)]
    busy = names[:6]
    desks = [some_desk(rng, names[3:9]) for _ in range(6)]
    # Some are the same, and some as far apart as a penalty.
    times = [START + MINUTE * 5 * number for number in range(12)]
    places = [each for name in names for each in some_places(rng, name, desks, times)]
    runtime.database["feed.org"].insert_many(places)
    for number in range(4):
        actor = {"id": rng.choice(busy), "name": "Somebody"}
        refs = [{"id": each, "type": "a", "name": "b"} for each in [*rng.sample(names, 1), "x"]]
        act(runtime, f"action-{number}", rng.choice(times), actor=actor, refs=refs)
        for each in range(rng.randrange(9)):
            comment(runtime, f"action-{number}", each, rng.choice(busy), rng.choice(times))

    found = scoring.of_actions(runtime, stored(runtime), names).standings

    assert found == by_the_rules(runtime, names)


def some_desk(rng: random.Random, managers: list[str]) -> dict[str, Any]:
    return {
        "team": rng.choice(["red", None]),
        "department": rng.choice(["hr", None]),
        "manager": rng.choice([*managers, None]),
        "assigned": rng.choice([[], [], ["x", "y"], ["y"]]),
    }


def some_places(
    rng: random.Random, name: str, desks: list[dict[str, Any]], times: list[datetime]
) -> list[Document]:
    """Return up to two places of few that there are, so that many people are alike."""
    begun = sorted(rng.sample([times[0], times[len(times) // 2]], rng.randrange(3)))
    return [
        place(name, since, until, **rng.choice(desks))
        for since, until in itertools.pairwise([*begun, people.OPEN])
    ]


def by_the_rules(runtime: Runtime, names: list[str]) -> dict[tuple[str, str], Standing]:
    """Score each event for each reader, with all places that anybody had."""
    rows = list(people.PLACES.of(runtime.database).find())
    everybody = {
        name: PersonOverTime(name, [each for each in rows if each["user_id"] == name])
        for name in names
    }
    penalties = Penalties.of(runtime.settings)
    best: dict[tuple[str, str], Standing] = {}
    for deed in stored(runtime):
        refs = {ref["id"] for ref in deed["refs"]}
        happened = [Event(deed["actor"]["id"], deed["conducted"], conducting=True)]
        events = runtime.database["feed.event"].find({"action_id": deed["_id"]})
        happened += [Event(each["by"]["id"], each["ts"]) for each in events]
        for name in names:
            scores = [
                Standing(time, event.by == name)
                for event in happened
                if (time := score(everybody[name], event, everybody[event.by], refs, penalties))
            ]
            best[name, deed["_id"]] = max(scores)
    return best


def test_of_all_places_one_a_person_is_read_for_a_new_action(profiled: Runtime) -> None:
    readers, moves = CROWD[:40], 50
    moved = [START - timedelta(days=moves - number) for number in range(moves)]
    times = list(itertools.pairwise([*moved, people.OPEN]))
    profiled.database["feed.org"].insert_many(
        [place(each, since, until) for each in readers for since, until in times]
    )
    act(profiled, "new", START)
    profiled.database.command("profile", 2)

    scoring.of_actions(profiled, stored(profiled), readers)

    (read,) = done_to(profiled, "feed.org")
    assert read["docsExamined"] == len(readers)
    # One more for each person who has no later place, the actor among them.
    assert read["keysExamined"] <= 2 * len(readers) + 1


def test_readers_who_are_alike_are_scored_for_once(runtime: Runtime, scored: list[Event]) -> None:
    joined = {each: START - MINUTE * number for number, each in enumerate(CROWD, 1)}
    team = [place(each, since, people.OPEN, team="red") for each, since in joined.items()]
    runtime.database["feed.org"].insert_many(team)
    act(runtime, "busy", START)
    for number in range(EVENTS):
        comment(runtime, "busy", number, CROWD[number], START + timedelta(seconds=number))

    found = scoring.of_actions(runtime, stored(runtime), CROWD).standings

    assert len(found) == len(CROWD)
    # Once for those who are named nowhere, and for each of those who have commented.
    assert len(scored) <= (EVENTS + 1) * (EVENTS + 1)


def test_no_event_older_than_the_actions_standing_is_scored(
    runtime: Runtime, scored: list[Event]
) -> None:
    team = [place(each, START, people.OPEN, team="red") for each in ("ann", "bob")]
    runtime.database["feed.org"].insert_many(team)
    act(runtime, "old", START)
    for number in range(EVENTS):
        comment(runtime, "old", number, "ann", START + MINUTE * 4 * number)

    found = scoring.of_actions(runtime, stored(runtime), ["bob"]).standings

    assert found["bob", "old"].relevancy == START + MINUTE * (4 * (EVENTS - 1) - 10)
    assert len(scored) == 3


def test_of_equal_scores_the_readers_own_counts(runtime: Runtime) -> None:
    team = [place(each, START, people.OPEN, team="red") for each in ("ann", "bob")]
    runtime.database["feed.org"].insert_many(team)
    act(runtime, "old", START - timedelta(days=1))
    comment(runtime, "old", 1, "bob", START)
    comment(runtime, "old", 2, "ann", START + MINUTE * 10)

    found = scoring.of_actions(runtime, stored(runtime), ["bob"]).standings

    assert found["bob", "old"] == Standing(START, own=True)


def test_what_has_not_changed_meanwhile_is_scored_once(
    profiled: Runtime, scored: list[Event]
) -> None:
    act(profiled, "old", START)
    comment(profiled, "old", 1, "ann", START + MINUTE)
    profiled.database.command("profile", 2)

    items.deliver(profiled, stored(profiled), ["bob"])

    assert len(done_to(profiled, "feed.event")) == 1
    assert len(scored) == 2
