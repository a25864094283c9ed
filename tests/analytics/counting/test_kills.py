"""A recount equals the reports, after workers, roll-ups and moves were killed.

PLAZA_TEST_KILLS says how many processes are to die, 200 for instance; an ordinary run kills a few.
"""

import os
import random
import time
from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.analytics import settings
from chalicelib.analytics.hits import HITS, Hits
from chalicelib.analytics.moving import moves
from chalicelib.analytics.sessions import due
from chalicelib.runtime import Runtime, utc_now
from tests.ads.support.crash_workers import run_swarm
from tests.analytics.support.crash_worker import QUEUE
from tests.analytics.support.hits import LOGS, differences, rows, site, view, worker

pytestmark = pytest.mark.processes

KILLS = int(os.environ.get("PLAZA_TEST_KILLS", "6"))
SECONDS_A_KILL = 0.4
MESSAGES = max(300, 40 * KILLS)
WITHIN_SECONDS = 120


def test_no_hit_is_lost_or_counted_twice_however_many_workers_are_killed(runtime: Runtime) -> None:
    runtime = replace(runtime, now=utc_now)
    for log in LOGS:
        site(runtime, log, name=log)
    told = _told(runtime)
    died = 0
    uri = runtime.settings.mongodb_uri.get_secret_value()
    deadline = time.monotonic() + WITHIN_SECONDS + KILLS
    while died < KILLS and time.monotonic() < deadline:
        seconds = SECONDS_A_KILL * (KILLS - died) + 1
        work = "tests.analytics.support.crash_worker:work"
        died += run_swarm(work, uri, runtime.settings.database, seconds=seconds)

    _finish(runtime)

    runtime.database[QUEUE].drop()
    assert died >= KILLS
    now = utc_now()
    for name in LOGS:
        wanted = {f"{each.site}:{each.hits[0].id}" for each in told if each.site == name}
        days = (now - timedelta(days=3), now + timedelta(days=1))
        counted = rows(runtime, *days, site=name, by="year")
        assert sum(row["hits"] + row["bots"] for row in counted) == len(wanted)
        for day in range(3):
            assert differences(runtime, now - timedelta(days=day), name=name) == []


def _told(runtime: Runtime) -> list[Hits]:
    """Queue hits of the last day for each site, a third of them twice."""
    rng = random.Random(11)
    told = []
    for number in range(MESSAGES):
        ts = utc_now() - timedelta(seconds=rng.randrange(80_000))
        hit = view(
            number,
            ts,
            f"/{rng.randrange(12)}",
            visitor=f"v{rng.randrange(40)}",
            site=rng.choice(LOGS),
        )
        told += [hit] * rng.choice((1, 1, 2))
    queue = runtime.database[QUEUE]
    queue.delete_many({})
    queue.insert_many({"body": each.model_dump_json()} for each in told)
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
        later += 2 * moves.GRACE
        moves.sweep(replace(runtime, now=lambda: later))  # noqa: B023 - called within the loop
    due.make_due(runtime)
