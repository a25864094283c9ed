"""Processes that vote, react, fold and erase until a test kills them."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic import SecretStr
from pymongo import UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.bounds import Bounds, MarkBounds
from chalicelib.database import Document
from chalicelib.marks import decisions, placing, removal
from chalicelib.marks.changes import NO_FLAG, Change, Flag, React, Vote
from chalicelib.marks.decisions import FlagDecision
from chalicelib.marks.folded import fold
from chalicelib.marks.messages import CountMark
from chalicelib.marks.shapes import MARKS, Outcome
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from tests.marks.support.things import KIND, KINDS, is_folded, read
from tests.social.support.drivers import Courier

IDS = ("one", "two", "three")
# The things that a process has met while their marks were counted by batch.
PROMOTED = "test.promoted"
# How often each person's flags were decided to be right, and wrong.
CREDITED = "test.credited"
# When a thing has to be held back, and what a decision leaves of flags on its counter.
OVER: Document = {"$gte": ["$flags", 300]}
SETTLED: list[Document] = [{"$set": {"flags": 0, "reports": 0, "hold_at": "$$REMOVE"}}]
# Few marks a minute are hot, so that things are promoted under fire.
BOUNDS = Bounds(marks=MarkBounds(hot_marks_a_minute=5))


def runtime_of(database: Database[Document], rng: random.Random) -> Runtime:
    settings = Settings(mongodb_uri=SecretStr("mongodb://unused"), database=database.name)
    return Runtime(database, Courier(), utc_now, rng, settings, BOUNDS)


def change_of(rng: random.Random) -> Change:
    """Return anything that a person may say."""
    value: Any = rng.choice([-1, 0, 1])
    vote = Vote(value)
    if rng.random() < 0.15:
        weight, is_heard = rng.choice([0, 100]), rng.random() < 0.5
        return rng.choice([Flag("spam", "", weight, OVER, is_heard=is_heard), NO_FLAG])
    return vote if rng.random() < 0.6 else React(rng.choice("abc"), adds=rng.random() < 0.6)


def trade(database: Database[Document], rng: random.Random) -> None:
    """Do one of the things that happen to marks."""
    runtime = runtime_of(database, rng)
    thing_id, user = rng.choice(IDS), f"user-{rng.randrange(30)}"
    if is_folded(database, thing_id):
        database[PROMOTED].replace_one({"_id": thing_id}, {}, upsert=True)
    chance = rng.random()
    if chance < 0.05:
        fold(runtime, KINDS, _owed(database, rng))
    elif chance < 0.07:
        removal.take_back(runtime, KINDS, user)
    elif chance < 0.08:
        placing.choose(runtime, KIND, thing_id, is_folded=rng.random() < 0.5)
    elif chance < 0.10:
        decision = FlagDecision("right", 0, SETTLED, lambda _people, _session: None)
        decisions.decide(runtime, KIND, thing_id, decision)
    else:
        placing.place(runtime, read(database, thing_id), user, change_of(rng))
        _count(runtime, rng)


def _count(runtime: Runtime, rng: random.Random) -> None:
    """Deliver what was sent: once, twice, or never."""
    assert isinstance(runtime.queues, Courier)
    ids = [each.mark_id for each in runtime.queues.take() if isinstance(each, CountMark)]
    fold(runtime, KINDS, ids * rng.randrange(3))


def _owed(database: Database[Document], rng: random.Random) -> list[str]:
    ids = [mark["_id"] for mark in MARKS.of(database).find({"due": {"$exists": True}}).limit(500)]
    rng.shuffle(ids)
    return ids


def come_to_rest(database: Database[Document]) -> None:
    """Count everything that is owed, as the sweep would have it counted."""
    rng = random.Random(1)
    while owed := _owed(database, rng):
        fold(runtime_of(database, rng), KINDS, owed)


def judge(database: Database[Document], rng: random.Random) -> None:
    """Flag a thing as somebody new, or decide on its flags and credit those who placed them."""
    runtime, thing_id = runtime_of(database, rng), rng.choice(IDS)
    if rng.random() < 0.8:
        flag = Flag("spam", "", 100, OVER)
        placing.place(runtime, read(database, thing_id), f"user-{rng.getrandbits(60)}", flag)
        return
    outcome: Outcome = rng.choice(["right", "wrong"])

    def credit(people: Sequence[str], session: ClientSession | None) -> None:
        more = [UpdateOne({"_id": each}, {"$inc": {outcome: 1}}, upsert=True) for each in people]
        database[CREDITED].bulk_write(more, session=session)

    decisions.decide(runtime, KIND, thing_id, FlagDecision(outcome, 0, SETTLED, credit))


def judge_without_a_transaction(database: Database[Document], rng: random.Random) -> None:
    """Flag and decide by plain writes, one after the other."""
    with pytest.MonkeyPatch.context() as patch:
        for design in ("direct", "decisions"):
            patch.setattr(f"chalicelib.marks.{design}.in_transaction", _without_one)
        judge(database, rng)


def trade_without_a_transaction(database: Database[Document], rng: random.Random) -> None:
    """Vote by two plain writes, one after the other: what the transaction is there for."""
    runtime = runtime_of(database, rng)
    thing = read(database, rng.choice(IDS))._replace(found={})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chalicelib.marks.direct.in_transaction", _without_one)
        placing.place(runtime, thing, f"user-{rng.randrange(30)}", change_of(rng))


def _without_one(_database: Database[Document], work: Callable[[None], Any]) -> Any:
    return work(None)
