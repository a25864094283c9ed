"""Rewriting stored documents part by part, while others write to them."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from app import create_app
from chalicelib.database import Document, rewriting
from chalicelib.database.rewriting import PROGRESS, DocumentRewrite, Limits
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import reactions
from chalicelib.social.activity.refs import REFS
from chalicelib.wiring import rewrites
from tests.social.activity.support.office import Office
from tests.social.support.drivers import settle
from tests.social.support.mortal_workers import Died, Mortal, living
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

NAMES = [f"ref-{number:03}" for number in range(7)]


def upper(_database: Any, ref: Any, _session: Any) -> Document | None:
    """Return the update of a ref whose name is not in capitals."""
    return None if ref["name"].isupper() else {"$set": {"name": ref["name"].upper()}}


UPPER = DocumentRewrite(REFS, where={"name": {"$ne": "SKIPPED"}}, fields=("name",), change=upper)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "DOCUMENTS_AT_ONCE", 3)


@pytest.fixture
def refs(runtime: Runtime) -> Any:
    rows = runtime.database["feed.ref"]
    rows.insert_many([{"_id": name, "name": name} for name in NAMES])
    return rows


def run(runtime: Runtime, rewrite: DocumentRewrite = UPPER, seconds: int = 60) -> Any:
    limits = Limits.of(runtime.now, seconds)
    return rewriting.run(runtime.database, "upper", rewrite, limits)


def test_every_document_is_rewritten_and_the_progress_told(runtime: Runtime, refs: Any) -> None:
    refs.update_one({"_id": NAMES[2]}, {"$set": {"name": "DONE"}})
    refs.insert_one({"_id": "zero", "name": "SKIPPED"})

    done = run(runtime)

    assert (done["examined"], done["changed"], done["refused"]) == (7, 6, 0)
    assert done["ended"] == runtime.now()
    assert all(each["name"].isupper() for each in refs.find())
    again = run(runtime)
    assert (again["examined"], again["changed"]) == (7, 0)


def test_a_run_ends_in_time_and_the_next_one_continues(
    runtime: Runtime, refs: Any, clock: Clock
) -> None:
    def slow(database: Any, ref: Any, session: Any) -> Document | None:
        clock.time += timedelta(seconds=10)
        return upper(database, ref, session)

    rewrite = DocumentRewrite(REFS, UPPER.where, UPPER.fields, slow)
    first = run(runtime, rewrite, seconds=20)
    assert (first["ended"], first["examined"], first["after"]) == (None, 3, NAMES[2])
    # What is before the place where it stopped is not examined again.
    refs.update_one({"_id": NAMES[0]}, {"$set": {"name": "written later"}})
    last = run(runtime, rewrite, seconds=600)

    assert (last["examined"], last["changed"]) == (7, 7)
    assert last["ended"] is not None
    assert refs.find_one({"_id": NAMES[0]})["name"] == "written later"


def test_one_that_dies_at_any_step_is_finished_by_the_next(runtime: Runtime, refs: Any) -> None:
    steps, is_done = 0, False
    while not is_done:
        try:
            with living(Mortal(steps)):
                run(runtime)
            is_done = True
        except Died:
            steps += 7
    run(runtime)

    assert steps > 20
    assert [each["name"] for each in refs.find()] == [name.upper() for name in NAMES]
    assert PROGRESS.of(runtime.database).find_one({"_id": "upper"})


def test_what_is_written_while_a_document_is_rewritten_is_not_lost(
    runtime: Runtime, refs: Any
) -> None:
    written: list[str] = []

    def interrupted(database: Any, ref: Any, session: Any) -> Document | None:
        if not written:
            written.append(ref["_id"])
            # Another writer, between the reading and the writing.
            refs.update_one({"_id": ref["_id"]}, {"$set": {"name": "meanwhile"}})
        return upper(database, ref, session)

    run(runtime, DocumentRewrite(REFS, UPPER.where, UPPER.fields, interrupted))

    assert refs.find_one({"_id": written[0]})["name"] == "MEANWHILE"


def test_a_document_that_went_or_needs_nothing_any_more_is_passed_over(
    runtime: Runtime, refs: Any
) -> None:
    def gone(database: Any, ref: Any, session: Any) -> Document | None:
        refs.delete_one({"_id": NAMES[1]})
        refs.update_one({"_id": NAMES[2]}, {"$set": {"name": "SKIPPED"}})
        return upper(database, ref, session)

    done = run(runtime, DocumentRewrite(REFS, UPPER.where, UPPER.fields, gone))

    assert (done["examined"], done["changed"]) == (7, 5)
    assert refs.count_documents({}) == 6


@pytest.mark.usefixtures("refs")
def test_what_the_server_refuses_does_not_keep_the_others(runtime: Runtime) -> None:
    def wrong(database: Any, ref: Any, session: Any) -> Document | None:
        if ref["_id"] == NAMES[1]:
            return {"$set": {"name": 1}}
        return upper(database, ref, session)

    done = run(runtime, DocumentRewrite(REFS, UPPER.where, UPPER.fields, wrong))

    assert (done["changed"], done["refused"], done["refused_ids"]) == (6, 1, [NAMES[1]])
    assert done["ended"] is not None


def test_two_runs_at_once_rewrite_each_document(runtime: Runtime, refs: Any) -> None:
    barrier = threading.Barrier(2)

    def work(_: int) -> Any:
        barrier.wait()
        return run(runtime)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, range(2)))

    assert [each["name"] for each in refs.find()] == [name.upper() for name in NAMES]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"rewrite": "none"}, "there are these rewrites: "),
        ({"rewrite": "reactions_by_kind", "seconds": 841}, "seconds has to be from 1 to 840"),
        ({"rewrite": "reactions_by_kind", "seconds": 0}, "seconds has to be"),
    ],
)
def test_what_the_command_cannot_do_is_told(runtime: Runtime, event: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        create_app(runtime).handler_map["rewrite_documents"](event, None)


@pytest.fixture
def office(client: Client, workers: Workers, runtime: Runtime, clock: Clock) -> Office:
    return Office(client, workers, runtime, clock)


def test_reactions_of_an_earlier_release_are_counted_by_kind_while_people_react(
    office: Office,
) -> None:
    people = ["ann", "bob", "cy", "dan"]
    settle(office.client, *people)
    office.place(*people, team="red", department="all")
    actions = [office.act("ann") for _ in range(4)]
    for number, action in enumerate(actions):
        for who in people[: number + 1]:
            office.react(who, action, "support")
    rows, events = office.runtime.database["feed.action"], office.runtime.database["feed.event"]
    rows.update_many({}, {"$unset": {"reactions": ""}})
    # One that the earlier release counted again, beside this one.
    drifted = {"reactions": {"like": 2, "support": 3}, "reaction_count": 5}
    rows.update_one({"_id": actions[3]}, {"$set": drifted})
    stop = threading.Event()

    def live(seed: int) -> None:
        rng = random.Random(seed)
        while not stop.is_set():
            who = Principal(id=rng.choice(people), name="Who")
            action = rng.choice(actions[1:3])
            kinds: Any = [None, "like", "question"]
            if kind := rng.choice(kinds):
                reactions.react(office.runtime, action, who, kind)
            else:
                reactions.withdraw(office.runtime, action, who)

    with ThreadPoolExecutor(2) as pool:
        lives = [pool.submit(live, seed) for seed in range(2)]
        try:
            done = rewrites.run(office.runtime, "reactions_by_kind")
        finally:
            stop.set()
        for each in lives:
            each.result()

    assert done["is_done"]
    assert done["refused_ids"] == []
    for action in actions:
        given = {"action_id": action, "type": "reaction", "kind": {"$exists": True}}
        stored = [event["kind"] for event in events.find(given)]
        found = office.stored(action)
        counts = {kind: n for kind, n in found["reactions"].items() if n}
        assert counts == {kind: stored.count(kind) for kind in stored}
        assert found["reaction_count"] == len(stored)
