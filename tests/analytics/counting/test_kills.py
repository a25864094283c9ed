"""A recount equals the reports, after workers, roll-ups and moves were killed.

An ordinary run kills a few, over all logs at once. PLAZA_TEST_KILLS says how many processes are to
die in it, and with PLAZA_TEST_KILLS_A_LOG=200 as many die in each log, in a run of its own.
"""

import itertools
import os
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.analytics import settings
from chalicelib.analytics.hits import HITS, OTHER, Hits
from chalicelib.analytics.logs import moving
from chalicelib.analytics.reports import late
from chalicelib.analytics.sessions import making
from chalicelib.analytics.settings import LogName
from chalicelib.runtime import Runtime, utc_now
from tests.ads.support.crash_workers import run_swarm
from tests.analytics.support.crash_worker import QUEUE
from tests.analytics.support.hits import LOGS, differences, rows, site, view, worker

pytestmark = pytest.mark.processes

KILLS = int(os.environ.get("PLAZA_TEST_KILLS", "6"))
KILLS_A_LOG = int(os.environ.get("PLAZA_TEST_KILLS_A_LOG", "0"))
RUNS: list[tuple[Sequence[LogName], int]] = [(LOGS, KILLS)]
if KILLS_A_LOG:
    RUNS += [((log,), KILLS_A_LOG) for log in LOGS]
SECONDS_A_KILL = 0.2
# The queue is filled for each of these spans, so that whoever is killed has work.
SECONDS_AT_ONCE = 20.0
MESSAGES_A_SECOND = 100
WITHIN_SECONDS = 120


def _name(run: object) -> str:
    return run[0] if isinstance(run, tuple) and len(run) == 1 else "all" if run == LOGS else ""


@pytest.mark.timeout(300 + 3 * max(KILLS, KILLS_A_LOG))
@pytest.mark.parametrize(("logs", "kills"), RUNS, ids=_name)
def test_no_hit_is_lost_or_counted_twice_however_many_workers_are_killed(
    runtime: Runtime, logs: Sequence[LogName], kills: int
) -> None:
    runtime = replace(runtime, now=utc_now)
    for log in logs:
        site(runtime, log, name=log)
    told: list[Hits] = []
    new, died = _told(logs), 0
    uri = runtime.settings.mongodb_uri.get_secret_value()
    deadline = time.monotonic() + WITHIN_SECONDS + kills
    while died < kills and time.monotonic() < deadline:
        seconds = min(SECONDS_A_KILL * (kills - died) + 1, SECONDS_AT_ONCE)
        told += _queue(runtime, new, int(seconds * MESSAGES_A_SECOND))
        work = "tests.analytics.support.crash_worker:work"
        died += run_swarm(work, uri, runtime.settings.database, seconds=seconds)

    _finish(runtime)

    runtime.database[QUEUE].drop()
    assert died >= kills
    now = utc_now()
    for name in logs:
        wanted = {f"{each.site}:{each.hits[0].id}" for each in told if each.site == name}
        days = (now - timedelta(days=3), now + timedelta(days=1))
        counted = rows(runtime, *days, site=name, by="year")
        assert sum(row["hits"] + row["bots"] for row in counted) == len(wanted) > 0
        for day in range(3):
            assert _unlike(runtime, now - timedelta(days=day), name) == []


def _told(logs: Sequence[LogName]) -> Iterator[Hits]:
    """Give hits of the last day, each of one of the sites."""
    rng = random.Random(11)
    for number in itertools.count():
        ts = utc_now() - timedelta(seconds=rng.randrange(80_000))
        whose = f"v{rng.randrange(40)}"
        path = f"/{rng.randrange(12)}"
        yield view(number, ts, path, visitor=whose, site=rng.choice(logs))


def _queue(runtime: Runtime, new: Iterator[Hits], number: int) -> list[Hits]:
    """Have the queue hold this many hits, a third of them twice; return those that were added."""
    queue = runtime.database[QUEUE]
    missing = max(number - queue.count_documents({}), 0)
    told = list(itertools.islice(new, missing))
    bodies = [{"body": each.model_dump_json()} for each in [*told, *told[::3]]]
    if bodies:
        queue.insert_many(bodies)
    return told


def _finish(runtime: Runtime) -> None:
    """Do what the killed have left: the queue's rest, the moves, the sessions."""
    queue = runtime.database[QUEUE]
    counter = worker(runtime, 1)
    while batch := list(queue.find().limit(200)):
        counter.count([HITS.validate_json(row["body"]) for row in batch])
        queue.delete_many({"_id": {"$in": [row["_id"] for row in batch]}})
    later = utc_now()
    while settings.SITES.of(runtime.database).count_documents({"moving": {"$exists": True}}):
        later += 2 * moving.GRACE
        moving.sweep(replace(runtime, now=lambda: later))  # noqa: B023 - called within the loop
    while late.LATE.of(runtime.database).count_documents({}):
        later += late.GRACE
        late.follow(replace(runtime, now=lambda: later))  # noqa: B023 - as above
    making.make_due(runtime)


def _unlike(runtime: Runtime, day: datetime, name: str) -> list[Any]:
    """Return the differences of a day's reports from the log.

    Visitors of `*other*` whose hits have got a name since are none: they were there.
    """
    found = differences(runtime, day, name=name)
    for each in found:
        if each["subject"].value == OTHER:
            assert each["hits"].pop("visitors", 0) <= each["reported"].pop("visitors", 0)
    return [each for each in found if each["hits"] != each["reported"]]
