"""What each process of the swarm does: take beacons, count them, make sessions, move logs; and die.

Its queue is a collection: a message is deleted when it was counted, and taken by anyone before.
"""

import random
from dataclasses import replace
from datetime import timedelta

from pymongo.database import Database

from chalicelib.analytics import settings, upkeep
from chalicelib.analytics.counting.counting import HitCounter
from chalicelib.analytics.hits import HITS
from chalicelib.analytics.logs import moving as logs_moving
from chalicelib.analytics.reports import late, moving
from chalicelib.analytics.sessions import making
from chalicelib.bounds import BOUNDS, AnalyticsBounds
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from chalicelib.wiring.hits import PAGES
from tests.analytics.support.hits import LAYOUTS, LOGS

QUEUE = "test.hits"
BATCH = 20


# Most names need two visitors, so that hits of before follow some of them.
_BOUNDS = replace(BOUNDS, analytics=AnalyticsBounds(paths_of_one=4, paths_of_network=2))


def runtime_of(database: Database[Document], rng: random.Random) -> Runtime:
    """Return the runtime of one process, which sends nothing."""
    return Runtime(database, Queues("test-"), utc_now, rng, Settings(), bounds=_BOUNDS)


def work(database: Database[Document], rng: random.Random) -> None:
    """Count one batch; at times make sessions, begin a move, or take the moves on."""
    runtime = runtime_of(database, rng)
    # A move's steps wait for transactions, of which none takes this long here.
    logs_moving.GRACE = late.GRACE = timedelta(seconds=6)
    try:
        _count(runtime, rng)
        if rng.random() < 0.1:
            _tend(runtime, rng)
    except Unavailable:
        """It is delivered again."""


def _count(runtime: Runtime, rng: random.Random) -> None:
    queue = runtime.database[QUEUE]
    rows = list(queue.aggregate([{"$sample": {"size": BATCH}}]))
    if not rows:
        return
    HitCounter(runtime, PAGES).count([HITS.validate_json(row["body"]) for row in rows])
    if rng.random() < 0.8:
        queue.delete_many({"_id": {"$in": [row["_id"] for row in rows]}})


def _tend(runtime: Runtime, rng: random.Random) -> None:
    logs_moving.sweep(runtime)
    moving.rewrite(runtime)
    late.follow(runtime)
    making.make_due(runtime)
    upkeep.trim(runtime)
    for site in settings.SITES.of(runtime.database).find({"moving": {"$exists": False}}):
        if rng.random() < 0.2:
            # Home, to the log that it is named for, or away from it.
            home = next(log for log in LOGS if log == site["_id"])
            logs_moving.start(runtime, site, rng.choice(LOGS) if site["log"] == home else home)
        if rng.random() < 0.2:
            moving.change(runtime, site, rng.choice(LAYOUTS))
