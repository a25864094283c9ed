"""Eight processes vote, fold and erase under SIGKILL, while things are promoted: nothing is lost.

A long run: PLAZA_TEST_MARKS_SECONDS=60 script/test tests/marks/test_kills.py -s
"""

import os
from collections.abc import Callable
from itertools import count
from time import monotonic

import pytest
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.marks.shapes import MARKS
from chalicelib.marks.verification import Verdict, verify
from chalicelib.runtime import Runtime
from tests.ads.support.crash_workers import run_swarm
from tests.marks.support.things import KIND, counts, make
from tests.marks.support.voters import CREDITED, PROMOTED, come_to_rest

pytestmark = pytest.mark.processes

LAST_WRITE_SECONDS = 10.0
SECONDS = float(os.environ.get("PLAZA_TEST_MARKS_SECONDS", "2.5"))
PATIENCE_SECONDS = 60.0


def swarm(
    runtime: Runtime, uri: str, work: str, is_enough: Callable[[int, Verdict], bool]
) -> tuple[int, Verdict]:
    """Have a swarm work until it has shown enough: a busy machine takes several rounds."""
    database, died, until = runtime.database, 0, monotonic() + PATIENCE_SECONDS
    database[PROMOTED].drop()
    database[CREDITED].drop()
    make(database, "three")
    name = f"tests.marks.support.voters:{work}"
    for seed in count(1):
        died += run_swarm(name, uri, database.name, seconds=SECONDS, seed=seed)
        found = rested(database)
        print(f"\n{work}: {died} killed in {SECONDS:.0f} s: {found}")  # noqa: T201 - a measurement
        if is_enough(died, found) or monotonic() > until:
            break
    return died, found


def rested(database: Database[Document]) -> Verdict:
    """Return the verdict once nothing is owed: a killed writer's last write may still be made."""
    deadline = monotonic() + LAST_WRITE_SECONDS
    while True:
        come_to_rest(database)
        found = verify(database, KIND)
        if not found.owed or monotonic() > deadline:
            return found


def test_killed_writers_leave_every_count_exact(things: Runtime, mongodb_uri: str) -> None:
    database = things.database

    def is_enough(died: int, found: Verdict) -> bool:
        return found.wrong > 0 or (died > 3 and database[PROMOTED].count_documents({}) > 0)

    died, found = swarm(things, mongodb_uri, "trade", is_enough)

    assert died > 3
    assert (found.things, found.wrong, found.owed) == (3, 0, 0)
    marks = list(MARKS.of(things.database).find())
    assert sum(sum(counts(things.database, id_)[:2]) for id_ in ("one", "two", "three")) == sum(
        mark["vote"] != 0 for mark in marks
    )
    assert things.database[PROMOTED].count_documents({}) > 0


def test_without_the_transaction_the_same_swarm_counts_wrongly(
    things: Runtime, mongodb_uri: str
) -> None:
    def is_broken(_died: int, found: Verdict) -> bool:
        return found.wrong > 0

    _, found = swarm(things, mongodb_uri, "trade_without_a_transaction", is_broken)

    assert found.wrong > 0


def misjudged(database: Database[Document]) -> int:
    """Return how many flags credited nobody, somebody twice, or otherwise than was decided."""
    credited = {row.pop("_id"): row for row in database[CREDITED].find()}
    wrong = 0
    for mark in MARKS.of(database).find({"flag": {"$exists": True}}, {"user_id": 1, "flag": 1}):
        outcome = mark["flag"].get("outcome")
        wrong += credited.pop(mark["user_id"], {}) != ({outcome: 1} if outcome else {})
    return wrong + len(credited)


def test_killed_moderators_credit_every_flag_once(things: Runtime, mongodb_uri: str) -> None:
    database = things.database

    def is_enough(died: int, found: Verdict) -> bool:
        return found.wrong > 0 or (died > 1 and database[CREDITED].count_documents({}) > 0)

    died, found = swarm(things, mongodb_uri, "judge", is_enough)

    assert died > 1
    assert (found.wrong, found.owed) == (0, 0)
    assert things.database[CREDITED].count_documents({}) > 0
    assert misjudged(things.database) == 0


def test_without_the_transaction_flags_are_counted_and_credited_wrongly(
    things: Runtime, mongodb_uri: str
) -> None:
    def is_broken(_died: int, found: Verdict) -> bool:
        return found.wrong + misjudged(things.database) > 0

    died, found = swarm(things, mongodb_uri, "judge_without_a_transaction", is_broken)

    assert is_broken(died, found)
