"""Cost of analytics: each log and layout, hits through the worker, reports, sessions of a day.

The floor of a batch is what the raw driver needs to insert the same hits, each into a collection
with the log's indexes; that of a report is the read of the documents that it is made of.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial

from bench import logs
from bench.calls import AppCalls
from bench.case import Case
from bench.hits import Source, site
from bench.logs import BATCH, RAW
from bench.stage import Stage
from chalicelib.analytics.counting.counting import HitCounter
from chalicelib.analytics.hits import DAY, HITS_AT_ONCE, Hits, PageHit, day_of, rows_of
from chalicelib.analytics.logs.choosing import NAMES, log_of
from chalicelib.analytics.logs.expiring import EVENTS
from chalicelib.analytics.logs.log import Span
from chalicelib.analytics.reports import queries
from chalicelib.analytics.reports.days import DAYS
from chalicelib.analytics.reports.report import Report
from chalicelib.analytics.sessions import making, rolling
from chalicelib.analytics.settings import LogName
from chalicelib.database import Document
from chalicelib.messaging import Message, Queues
from chalicelib.runtime import Runtime
from chalicelib.wiring.hits import PAGES

# A hit through the worker takes at most this many times a raw insert: 0.4 of its speed.
WORKER_AT_MOST = 2.5
REPORT_AT_MOST = 2.0
# Pages that are read in one minute: today's, and all that a site has.
PAGES_READ = (20, 2_000)


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield the logs, the layouts, the worker, reports, and sessions of a day."""
    yield from logs.groups(stage.runtime)
    yield [Worker(stage.runtime, name, pages).case() for pages in PAGES_READ for name in NAMES]
    yield [_end_to_end(stage.with_database("beacons").runtime)]
    yield list(_reports(stage.with_database("reports").runtime))
    for size in stage.sizes(10_000, 100_000):
        yield [_sessions(stage.with_database(f"day-{size}").runtime, size)]


class Worker:
    """Batches through the worker; the floor is `insert_many` of the same hits, with the indexes."""

    def __init__(self, runtime: Runtime, name: LogName, pages: int) -> None:
        whose = f"worker-{name}-{pages}"
        site(runtime, whose, name)
        self._name, self._counter = name, HitCounter(runtime, PAGES)
        self._pages = pages
        self._raw = runtime.database[f"{RAW}.{name}.{pages}"]
        self._raw.create_indexes(list(EVENTS.indexes))
        today = day_of(runtime.now())
        seconds = max(int((runtime.now() - today).total_seconds()), 60)
        self._source = Source(whose, today, seconds, pages)
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


class KeepingQueues(Queues):
    """Queues whose messages are kept for the worker."""

    def __init__(self, prefix: str) -> None:
        super().__init__(prefix)
        self.messages: list[Message] = []

    def send(self, *messages: Message) -> bool:
        """Keep messages."""
        self.messages += messages
        return True


def _end_to_end(runtime: Runtime) -> Case:
    """Give a batch on its whole way: beacons by the app, and their messages by the worker."""
    queues = KeepingQueues(runtime.settings.queue_prefix)
    here = replace(runtime, queues=queues)
    site(here, "told")
    calls, counter = AppCalls(here), HitCounter(here, PAGES)
    source = Source("told", day_of(here.now()), 1, PAGES_READ[0])
    raw = runtime.database[f"{RAW}.told"]
    raw.create_indexes(list(EVENTS.indexes))
    batch: list[Hits] = []

    def prepare() -> None:
        batch[:] = source.messages(BATCH)

    def take() -> None:
        queues.messages.clear()
        for first in range(0, BATCH, HITS_AT_ONCE):
            some = batch[first : first + HITS_AT_ONCE]
            hits = [{"id": each.hits[0].id, "path": each.hits[0].path} for each in some]
            calls("POST", "/hits", {}, None, {"site": "told", "hits": hits})
        counter.count([each for each in queues.messages if isinstance(each, Hits)])

    def insert() -> None:
        rows = [row for message in batch for row in rows_of(message)]
        raw.insert_many([{**row, "until": row["ts"]} for row in rows])

    return Case(
        f"{BATCH} hits by {BATCH // HITS_AT_ONCE} beacons, counted",
        take,
        insert,
        floor_is="insert_many of the same hits",
        size=PAGES_READ[0],
        unit="pages",
        items=BATCH,
        prepare=prepare,
        prepare_floor=prepare,
    )


def _reports(runtime: Runtime) -> Iterator[Case]:
    """Give a site's 30 days, by day and by hour in a zone; the floor reads their documents."""
    site(runtime, "reported")
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
        counter = HitCounter(replace(runtime, now=partial(_at, day + DAY)), PAGES)
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
    whose, day = "visited", day_of(runtime.now()) - DAY
    log = log_of(runtime.database, "expiring", {whose: site(runtime, whose)})
    source = Source(whose, day, 86_400)
    for _ in range(size // BATCH):
        log.append(source.rows(BATCH))
    numbers = itertools.count()

    def make() -> None:
        making.make(runtime.database, log, Span(whose, day, day + DAY), f"run-{next(numbers)}")
        rolling.roll_up(runtime.database, whose, day)

    grouped: list[Document] = [
        {"$match": {"site": whose, "ts": {"$gte": day, "$lt": day + DAY}}},
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
