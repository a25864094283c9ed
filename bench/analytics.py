"""Cost of analytics: each log and layout, hits through the worker, reports, sessions of a day.

The floor of a batch is what the raw driver needs to insert the same hits, each into a collection
with the log's indexes; that of a report is the read of the documents that it is made of.
"""

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from bench.calls import AppCalls
from bench.case import Case
from bench.stage import Stage
from chalicelib.analytics import settings
from chalicelib.analytics.counting.counting import HitCounter
from chalicelib.analytics.hits import DAY, Hits, PageHit, StoredHit, day_of, rows_of
from chalicelib.analytics.layouts import LAYOUTS
from chalicelib.analytics.log import Span
from chalicelib.analytics.logs.choosing import NAMES, log_of
from chalicelib.analytics.logs.expiring import EVENTS
from chalicelib.analytics.reports import queries
from chalicelib.analytics.reports.days import DAYS
from chalicelib.analytics.reports.report import Report
from chalicelib.analytics.sessions import making, rolling
from chalicelib.analytics.settings import LayoutName, LogName, SiteAnalytics
from chalicelib.database import Document
from chalicelib.runtime import Runtime

BATCH = 500
PATHS = 2_000
VISITORS = 400
# A hit through the worker takes at most this many times a raw insert: 0.4 of its speed.
WORKER_AT_MOST = 2.5
REPORT_AT_MOST = 2.0
_RAW = "bench.raw_hit"


# Pages that are read in one minute: today's, and all that a site has.
PAGES_READ = (20, 2_000)


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield the logs, the layouts, the worker, reports, and sessions of a day."""
    yield [Logging(stage.runtime, name).case() for name in NAMES]
    yield [case for name in NAMES for case in _read(stage.runtime, name)]
    yield [case for layout in LAYOUTS for case in Filling(stage.runtime, layout).cases()]
    yield [Worker(stage.runtime, name, pages).case() for pages in PAGES_READ for name in NAMES]
    yield list(_reports(stage.with_database("reports").runtime))
    for size in stage.sizes(10_000, 100_000, 1_000_000):
        yield [_sessions(stage.with_database(f"day-{size}").runtime, size)]


class Source:
    """Makes hits: paths as readers choose them, few often and many seldom."""

    def __init__(self, site: str, start: datetime, seconds: int, pages: int = PATHS) -> None:
        self._site, self._start, self._seconds = site, start, seconds
        self._random = random.Random(site)  # noqa: S311 - the same data every time
        self._numbers = itertools.count()
        self._weights = list(itertools.accumulate(1 / (n + 1) for n in range(pages)))
        self._pages = pages

    def messages(self, number: int) -> list[Hits]:
        """Return messages of one hit each."""
        paths = self._random.choices(range(self._pages), cum_weights=self._weights, k=number)
        return [self._message(path) for path in paths]

    def rows(self, number: int) -> list[StoredHit]:
        """Return hits as a log keeps them."""
        return [row for message in self.messages(number) for row in rows_of(message)]

    def _message(self, path: int) -> Hits:
        seconds = self._random.randrange(self._seconds)
        hit = PageHit(
            id=f"{next(self._numbers):016}",
            ts=self._start + timedelta(seconds=seconds),
            path=f"/articles/{path}",
            visitor=f"v{self._random.randrange(VISITORS):011}",
            ref="news.example",
        )
        return Hits(site=self._site, kind="view", hits=(hit,), device="desktop", country="DE")


def _site(
    runtime: Runtime, name: str, log: LogName = "expiring", layout: LayoutName = "hierarchical"
) -> SiteAnalytics:
    chosen: Any = {"origins": [], "keep_days": 90, "user_reports": False, "public": True}
    return settings.put(runtime.database, name, chosen, log, layout)


class Logging:
    """Batches of hits into one log; the floor is `insert_many` into a collection without any."""

    def __init__(self, runtime: Runtime, name: LogName) -> None:
        site = f"log-{name}"
        self._log = log_of(runtime.database, name, {site: _site(runtime, site, name)})
        self._raw: Any = runtime.database[_RAW]
        # Ten days, of which the rotating log has a collection each.
        start = day_of(runtime.now()) - 10 * DAY
        self._log.prepare([start + day * DAY for day in range(10)])
        self._source = Source(site, start, 10 * 86_400)
        self._hits: list[StoredHit] = []

    def case(self) -> Case:
        """Return the case of one batch."""
        return Case(
            "a batch into the log",
            lambda: self._log.append(self._hits),
            lambda: self._raw.insert_many(self._hits),
            floor_is="insert_many without an index",
            store=self._log.name,
            size=BATCH,
            unit="hits",
            items=BATCH,
            door="function",
            prepare=self._next,
            prepare_floor=self._next,
        )

    def _next(self) -> None:
        self._hits = self._source.rows(BATCH)


def _read(runtime: Runtime, name: LogName) -> Iterator[Case]:
    """Give the read of one path's day, and of one page of a site's."""
    site = f"read-{name}"
    log = log_of(runtime.database, name, {site: _site(runtime, site, name)})
    start = day_of(runtime.now()) - 10 * DAY
    log.prepare([start + day * DAY for day in range(10)])
    source = Source(site, start, 10 * 86_400)
    for _ in range(40):
        log.append(source.rows(BATCH))
    span = Span(site, start, start + DAY)
    for title, path in (("one path's day", "/articles/3"), ("50 hits of a site", None)):
        yield Case(
            title,
            lambda path=path: log.read(span._replace(path=path), None, 50),  # type: ignore[misc]
            store=name,
            size=20_000,
            unit="hits",
            door="function",
        )


class Filling:
    """One hit added to a full document, at the day's first minute and at its last."""

    def __init__(self, runtime: Runtime, layout: LayoutName) -> None:
        self._layout = LAYOUTS[layout]
        self._rows = runtime.database["bench.layout"]
        self._id = f"full-{layout}"
        counts = {path: 1 for minute in range(1_440) for path in self._layout.paths(minute)}
        self._rows.update_one({"_id": self._id}, {"$inc": counts}, upsert=True)
        self._rows.update_one({"_id": "empty"}, {"$inc": {"hits": 1}}, upsert=True)

    def cases(self) -> Iterator[Case]:
        """Give the cases of the two minutes."""
        for minute in (0, 1_439):
            change = {"$inc": dict.fromkeys(self._layout.paths(minute), 1)}
            yield Case(
                f"a hit at minute {minute}",
                lambda change=change: self._rows.update_one({"_id": self._id}, change),  # type: ignore[misc]
                lambda: self._rows.update_one({"_id": "empty"}, {"$inc": {"hits": 1}}),
                floor_is="$inc of one field of a small document",
                store=self._layout.name,
                size=1_440,
                unit="minutes in the document",
                door="function",
            )


class Worker:
    """Batches through the worker; the floor is `insert_many` of the same hits, with the indexes."""

    def __init__(self, runtime: Runtime, name: LogName, pages: int) -> None:
        site = f"worker-{name}-{pages}"
        _site(runtime, site, name)
        self._name, self._counter = name, HitCounter(runtime)
        self._pages = pages
        self._raw = runtime.database[f"{_RAW}.{name}.{pages}"]
        self._raw.create_indexes(list(EVENTS.indexes))
        today = day_of(runtime.now())
        seconds = max(int((runtime.now() - today).total_seconds()), 60)
        self._source = Source(site, today, seconds, pages)
        self._messages: list[Hits] = []
        self._hits: list[Document] = []

    def case(self) -> Case:
        """Return the case of one batch."""
        return Case(
            f"{BATCH} hits through the worker",
            lambda: self._counter.count(self._messages),
            lambda: self._raw.insert_many(self._hits),
            floor_is="insert_many of the same hits",
            store=self._name,
            size=self._pages,
            unit="pages",
            items=BATCH,
            door="function",
            prepare=self._next,
            prepare_floor=self._next,
            ratio_at_most=WORKER_AT_MOST if self._is_bound() else None,
        )

    def _is_bound(self) -> bool:
        return self._name == "expiring" and self._pages == PAGES_READ[0]

    def _next(self) -> None:
        self._messages = self._source.messages(BATCH)
        rows = [row for message in self._messages for row in rows_of(message)]
        self._hits = [{**row, "until": row["ts"]} for row in rows]


def _reports(runtime: Runtime) -> Iterator[Case]:
    """Give a site's 30 days, by day and by hour in a zone; the floor reads their documents."""
    _site(runtime, "reported")
    start = day_of(runtime.now()) - 30 * DAY
    _load_days(runtime, start)
    calls = AppCalls(runtime)
    days = {"$gte": start - DAY, "$lt": start + 30 * DAY}
    rows = runtime.database[DAYS.name]
    whole = {"site": "reported", "path": "*", "day": days}
    totals = {"_id": 0, "day": 1, "hits": 1, "visitors": 1, "bots": 1, "feeds": 1}
    hours = {**totals, "quarters": 1, **{f"hours.{hour}.hits": 1 for hour in range(24)}}
    query = {"from": f"{start:%Y-%m-%d}", "to": f"{start + 30 * DAY:%Y-%m-%d}"}
    for title, more, fields in (
        ("30 days of a site", {"by": "day"}, totals),
        ("30 days in Shanghai", {"by": "day", "tz": "Asia/Shanghai"}, hours),
    ):
        yield Case(
            title,
            lambda more=more: calls(  # type: ignore[misc]
                "GET", "/stats/{site}", {"site": "reported"}, {**query, **more}
            ),
            lambda fields=fields: list(rows.find(whole, fields)),  # type: ignore[misc]
            floor_is="find of the documents' fields",
            size=30,
            unit="days",
            door="app",
            ratio_at_most=REPORT_AT_MOST,
        )
    report = Report("reported", start, start + 30 * DAY, "day", group="path")
    by_path = {"site": "reported", "day": days, "path": {"$ne": "*"}}
    yield Case(
        "30 days by path, a page",
        lambda: queries.read(runtime.database, report, None, 50),
        lambda: list(rows.find(by_path, {**totals, "path": 1})),
        floor_is="find of the documents' fields",
        size=30,
        unit="days",
        door="function",
    )


def _load_days(runtime: Runtime, start: datetime) -> None:
    """Have 30 days counted, of 2,000 hits each."""
    for number in range(30):
        day = start + number * DAY
        counter = HitCounter(replace(runtime, now=partial(_at, day + DAY)))
        source = Source("reported", day, 86_400)
        for _ in range(8):
            named = [
                message.model_copy(update={"hits": (_renamed(message.hits[0], number),)})
                for message in source.messages(250)
            ]
            counter.count(named)


def _at(time: datetime) -> datetime:
    return time


def _renamed(hit: PageHit, number: int) -> PageHit:
    return hit.model_copy(update={"id": f"{number:02}{hit.id[2:]}", "path": f"{hit.path[:-1]}0"})


def _sessions(runtime: Runtime, size: int) -> Case:
    """Give the making and rolling up of a day's sessions; the floor groups the day by visitor."""
    site, day = "visited", day_of(runtime.now()) - DAY
    log = log_of(runtime.database, "expiring", {site: _site(runtime, site)})
    source = Source(site, day, 86_400)
    for _ in range(size // BATCH):
        log.append(source.rows(BATCH))
    numbers = itertools.count()

    def make() -> None:
        making.make(runtime.database, log, Span(site, day, day + DAY), f"run-{next(numbers)}")
        rolling.roll_up(runtime.database, site, day)

    grouped: list[Document] = [
        {"$match": {"site": site, "ts": {"$gte": day, "$lt": day + DAY}}},
        {"$group": {"_id": "$visitor", "hits": {"$sum": 1}, "last": {"$max": "$ts"}}},
    ]
    rows = runtime.database[EVENTS.name]
    return Case(
        "a day's sessions",
        make,
        lambda: list(rows.aggregate(grouped, allowDiskUse=True)),
        floor_is="one $group of the day's hits",
        size=size,
        unit="hits",
        items=size,
        door="function",
        samples_at_most=2,
    )
