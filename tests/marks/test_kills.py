"""Eight processes vote, fold and erase under SIGKILL, while things are promoted: nothing is lost.

A long run: PLAZA_TEST_MARKS_SECONDS=60 script/test tests/marks/test_kills.py -s
"""

import os
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


def swarm(runtime: Runtime, uri: str, work: str, seconds: float = SECONDS) -> tuple[int, Verdict]:
    runtime.database[PROMOTED].drop()
    runtime.database[CREDITED].drop()
    make(runtime.database, "three")
    name = f"tests.marks.support.voters:{work}"
    died = run_swarm(name, uri, runtime.database.name, seconds=seconds)
    found = rested(runtime.database)
    print(f"\n{work}: {died} killed in {seconds:.0f} s: {found}")  # noqa: T201 - a measurement
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
    died, found = swarm(things, mongodb_uri, "trade")

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
    died, found = swarm(things, mongodb_uri, "trade_without_a_transaction")

    assert died > 3
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
    died, found = swarm(things, mongodb_uri, "judge", SECONDS / 2)

    assert died > 1
    assert (found.wrong, found.owed) == (0, 0)
    assert things.database[CREDITED].count_documents({}) > 0
    assert misjudged(things.database) == 0


def test_without_the_transaction_flags_are_counted_and_credited_wrongly(
    things: Runtime, mongodb_uri: str
) -> None:
    _, found = swarm(things, mongodb_uri, "judge_without_a_transaction", SECONDS / 2)

    assert found.wrong + misjudged(things.database) > 0
