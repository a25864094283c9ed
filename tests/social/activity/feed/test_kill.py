"""Ten workers in processes of their own on many actions, some of them killed in the midst."""

import itertools
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.forms import NewAction
from tests.social.activity.support.action_worker import LOG
from tests.social.activity.support.office import APPLIED, Office

pytestmark = pytest.mark.processes

WORKERS, KILLED = 10, 6
ACTIONS = int(os.environ.get("PLAZA_TEST_ACTIONS", "200"))
DEADLINE_SECONDS = 60
# A team fits into a chunk, a department into three.
TEAM = [f"t{number:02}" for number in range(8)]
DEPARTMENT = [*TEAM, *(f"u{number:02}" for number in range(17))]
Worker = subprocess.Popen[str]


@contextmanager
def workers(uri: str) -> Iterator[dict[int, Worker]]:
    """Have ten at work, by their process ids, and end those by SIGKILL that are left."""
    command = [
        sys.executable,
        "-m",
        "tests.social.activity.support.action_worker",
        uri,
        "plaza-test",
    ]
    root = Path(__file__).parents[4]
    started = [
        subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)
        for _ in range(WORKERS)
    ]
    try:
        for worker in started:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
        yield {worker.pid: worker for worker in started}
    finally:
        for worker in started:
            worker.kill()
            worker.communicate()


@pytest.fixture
def pending(office: Office) -> Iterator[dict[str, list[str]]]:
    """Actions whose fan-out waits, each with those who are to have it."""
    office.place(*TEAM, team="team", department="department")
    office.place(*DEPARTMENT[len(TEAM) :], department="department")
    office.workers.drain()
    runtime, _ = office.with_courier()
    audience = {"team": TEAM, "department": DEPARTMENT}
    conducted = {}
    for number in range(ACTIONS):
        scope = ("team", "department")[number % 2]
        new = NewAction.model_validate({"scope": scope, "descriptor": APPLIED})
        actor = Principal(TEAM[number % len(TEAM)], "Somebody")
        conducted[actions.conduct(runtime, actor, new)["_id"]] = audience[scope]
    yield conducted
    office.runtime.database.drop_collection(LOG)


def kill_in_the_midst(office: Office, working: dict[int, Worker]) -> None:
    """Kill a worker that is about to write somebody's items."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        assert time.monotonic() < deadline
        work = office.runtime.database[LOG].find_one(
            {"ended": None, "pid": {"$in": list(working)}}, sort=[("begun", -1)]
        )
        if work:
            working.pop(work["pid"]).kill()
            return


def unfinished(office: Office) -> int:
    return office.runtime.database[actions.ACTIONS.name].count_documents(
        {"fan_out.state": {"$ne": "done"}}
    )


def test_every_reader_has_every_action_once_and_no_two_workers_are_at_one_thing(
    office: Office, pending: dict[str, list[str]], mongodb_uri: str
) -> None:
    rng = random.Random(7)
    marks = sorted(rng.sample(range(1, ACTIONS * 3 // 4), KILLED), reverse=True)
    deadline = time.monotonic() + DEADLINE_SECONDS
    with workers(mongodb_uri) as working:
        while left := unfinished(office):
            assert time.monotonic() < deadline, left
            if marks and left <= ACTIONS - marks[-1]:
                marks.pop()
                kill_in_the_midst(office, working)
        assert len(working) == WORKERS - KILLED

    delivered = Counter((item["action_id"], item["user_id"]) for item in office.items())
    assert delivered == Counter(
        (action, reader) for action, readers in pending.items() for reader in readers
    )
    works = list(office.runtime.database[LOG].find())
    assert len({work["token"] for work in works}) == len(works)
    abandoned = [work for work in works if work["ended"] is None]
    assert abandoned, "no worker was killed in the midst of anything"
    assert overlapping(works) == []


def overlapping(works: list[Document]) -> list[tuple[Document, Document]]:
    """Return the works on one thing of which the later began while the earlier was held."""
    works = sorted(works, key=lambda work: (work["thing"], work["begun"]))
    return [
        (one, next_)
        for one, next_ in itertools.pairwise(works)
        if one["thing"] == next_["thing"]
        and next_["begun"] < min(one["ended"] or one["until"], one["until"])
    ]
