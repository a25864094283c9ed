"""A day of many hits: its sessions and periods are right, and are made within bounded memory.

A long run: PLAZA_TEST_DAY_HITS=1000000 pytest tests/analytics/sessions/test_large_days.py -s
"""

import os
import random
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.analytics.hits import DAY, StoredHit
from chalicelib.analytics.logs.log import Log, Span
from chalicelib.analytics.sessions import making, rolling
from chalicelib.analytics.sessions.periods import LEVELS, PERIODS, SESSIONS
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import SITE, at, logs, site

HITS = int(os.environ.get("PLAZA_TEST_DAY_HITS", "10000"))
VISITORS, PATHS, AT_ONCE = max(HITS // 20, 1), 500, 10_000
PAUSE_SECONDS, DAY_SECONDS = 1_800, 86_400
START = at("2026-03-01")
MEBIBYTE = 1 << 20
# Of this process: MongoDB's stages have bounds of their own, beyond which they use the disk.
PEAK_MEBIBYTES = 48
Sums = tuple[int, int, float, int]


def hits() -> Iterator[tuple[int, int, int]]:
    """Give the day's hits as (visitor, second, path), the same each time."""
    rng = random.Random(5)
    for _ in range(HITS):
        yield rng.randrange(VISITORS), rng.randrange(DAY_SECONDS), rng.randrange(PATHS)


def store(log: Log) -> None:
    """Have the log hold the day; every other visitor is a user."""
    batch: list[StoredHit] = []
    for number, (visitor, second, path) in enumerate(hits()):
        row: StoredHit = {
            "_id": f"{SITE}:{number:012}",
            "site": SITE,
            "ts": START + second * (DAY / DAY_SECONDS),
            "path": f"/{path}",
            "kind": "view",
            "visitor": f"v{visitor}",
        }
        if visitor % 2:
            row["user"] = f"u{visitor}"
        batch.append(row)
        if len(batch) == AT_ONCE:
            log.append(batch)
            batch = []
    log.append(batch)


def wanted() -> tuple[Sums, Counter[int], int]:
    """Return the day's sums, the hits of each user, and how many periods of an hour users have."""
    times: dict[int, list[int]] = {}
    for visitor, second, _ in hits():
        times.setdefault(visitor, []).append(second)
    sessions, seconds, bounces = 0, 0, 0
    users: Counter[int] = Counter()
    hours: set[tuple[int, int]] = set()
    for visitor, mine in times.items():
        mine.sort()
        starts = [n for n, each in enumerate(mine) if n == 0 or each - mine[n - 1] >= PAUSE_SECONDS]
        for first, after in zip(starts, [*starts[1:], len(mine)], strict=True):
            sessions += 1
            seconds += mine[after - 1] - mine[first]
            bounces += after - first == 1
            if visitor % 2:
                hours.add((visitor, mine[first] // 3_600))
        if visitor % 2:
            users[visitor] = len(mine)
    return (sessions, HITS, seconds, bounces), users, len(hours)


def sums(row: Any) -> Sums:
    return (row["sessions"], row["hits"], row["seconds"], row["bounces"])


@pytest.mark.timeout(1_800)
def test_a_days_sums_are_right_and_made_in_bounded_memory(runtime: Runtime) -> None:
    site(runtime, user_reports=True)
    (log,) = logs(runtime)
    store(log)

    tracemalloc.start()
    began = time.monotonic(), time.process_time()
    making.make(runtime.database, log, Span(SITE, START, START + DAY), "this")
    made = time.monotonic()
    rolling.roll_up(runtime.database, SITE, START)
    ended = time.monotonic(), time.process_time()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    print(  # noqa: T201 - the figures of a large day are to be seen
        f"{HITS:,} hits: made in {made - began[0]:.1f} s, rolled up in {ended[0] - made:.1f} s, "
        f"{ended[1] - began[1]:.1f} s of them here, at most {peak / MEBIBYTE:.1f} MiB"
    )
    day, users, hours = wanted()
    assert SESSIONS.of(runtime.database).count_documents({}) == day[0]
    for level in LEVELS:
        rows = list(PERIODS[level].of(runtime.database).find({"user": {"$exists": False}}))
        assert tuple(map(sum, zip(*map(sums, rows), strict=True))) == day
        of_users = PERIODS[level].of(runtime.database).find({"user": {"$exists": True}})
        told: Counter[int] = Counter()
        number = 0
        for row in of_users:
            told[int(row["user"][1:])] += row["hits"]
            number += 1
        assert told == users
        assert number == (hours if level == "hour" else len(users))
    assert peak < PEAK_MEBIBYTES * MEBIBYTE


@pytest.mark.parametrize("whose", ["of nobody", "of one user"])
def test_a_day_of_as_many_pages_as_sessions_is_rolled_up_in_bounded_memory(
    runtime: Runtime, whose: str
) -> None:
    """A stranger may send hits of any number of paths, each in a session of its own."""
    user = {} if whose == "of nobody" else {"user": "ann"}
    number = 12_000
    rows: list[Any] = [
        {
            "_id": f"{SITE}:20260301:v{n}:1",
            "site": SITE,
            "day": START,
            "started": START,
            "seconds": 0.0,
            "hits": 1,
            "bounce": True,
            "making": "this",
            **user,
            "entry": f"/{n % 9_000:0>500}",
            "exit": f"/{n % 9_000:0>500}",
        }
        for n in range(number)
    ]
    SESSIONS.of(runtime.database).insert_many(rows)

    tracemalloc.start()
    rolling.roll_up(runtime.database, SITE, START)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 4 * MEBIBYTE
    for level in LEVELS:
        for row in PERIODS[level].of(runtime.database).find({}):
            assert row["sessions"] == number
            # Those of which there are two, in the order of their names.
            twice = [{"path": f"/{n:0>500}", "sessions": 2} for n in range(50)]
            assert row["entries"] == row["exits"] == twice
