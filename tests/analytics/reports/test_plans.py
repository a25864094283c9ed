"""What MongoDB reads for a report: the documents that it is made of, by an index, and no more.

Each report is read with a client that hears what is sent, and every query of it is explained as it
was sent.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, get_args

import pytest
from pymongo import MongoClient
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)

from chalicelib.analytics.hits import DAY, DIMENSIONS
from chalicelib.analytics.logs.choosing import log_of
from chalicelib.analytics.logs.log import HitPosition, Span
from chalicelib.analytics.reports import queries
from chalicelib.analytics.reports.days import DAYS, SOURCES
from chalicelib.analytics.reports.report import Group, Report
from chalicelib.analytics.sessions import periods
from chalicelib.analytics.sessions.periods import LEVELS, PERIODS, Level
from chalicelib.analytics.settings import LogName
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from chalicelib.time_zones import Period
from chalicelib.wiring import schema
from tests.analytics.support.hits import LOGS, SITE, at, site
from tests.support.targeting import untargeted

TODAY = at("2026-03-01")
NUMBER_OF_DAYS, PATHS, SHARDS, PEOPLE = 50, 200, 2, 100
SHOWN = 20
SITES = (SITE, "other")
NAMED = {each.name: each for each in schema.COLLECTIONS}
# What a scan looks at beside what it gives: the ends of its ranges.
SKIPPED = 10
Candidate = Callable[[Runtime], object]
# The cases, of which one run of all stores the documents once.
PERIODS_OF_HITS: tuple[Period, ...] = get_args(Period)
GROUPS: tuple[Group | None, ...] = (None, *get_args(Group))


class Queries(CommandListener):
    """Hears the queries of a client."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []

    def started(self, event: CommandStartedEvent) -> None:
        if event.command_name in ("find", "aggregate", "count"):
            known = ("lsid", "$db", "$clusterTime", "txnNumber", "readConcern")
            asked = {key: each for key, each in event.command.items() if key not in known}
            self.sent.append((event.command_name, asked))

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """What was answered does not matter."""

    def failed(self, event: CommandFailedEvent) -> None:
        """What failed has raised."""


@pytest.fixture
def read(runtime: Runtime) -> Iterator[Callable[[Candidate], list[Any]]]:
    """Return a function that reads, and gives each query with the counts and plan of it."""
    heard = Queries()
    uri = runtime.settings.mongodb_uri.get_secret_value()
    with MongoClient[Document](uri, event_listeners=[heard]) as client:
        hearing = replace(runtime, database=open_database(client, runtime.database.name))

        def explained(asked: Candidate) -> list[Any]:
            heard.sent.clear()
            asked(hearing)
            sent = list(heard.sent)
            assert sent
            return [(name, each, _explained(runtime, each)) for name, each in sent]

        yield explained


def _explained(runtime: Runtime, asked: dict[str, Any]) -> Any:
    return runtime.database.command("explain", asked, verbosity="executionStats")


def check(runtime: Runtime, found: list[Any]) -> None:
    """Have each query name its shard key, and read by an index what matches and little more."""
    for name, asked, told in found:
        rows = runtime.database[asked[name]]
        assert list(untargeted(NAMED, name, asked)) == [], asked
        first = told["stages"][0]["$cursor"] if "stages" in told else told
        counts, plan = first["executionStats"], first["queryPlanner"]["winningPlan"]
        stages = set(_stages(plan))
        assert not stages & {"SORT", "COLLSCAN"}, asked
        match = asked["pipeline"][0]["$match"] if name == "aggregate" else asked["filter"]
        limit = asked.get("limit") or 0
        counted = rows.count_documents(match)
        matching = min(counted, limit) if limit else counted
        # A skip over another path of each day, or other users of each period.
        most = matching + (limit or NUMBER_OF_DAYS) + SKIPPED
        assert counts["totalDocsExamined"] <= matching + SKIPPED, asked
        assert counts["totalKeysExamined"] <= most, asked


def _stages(plan: Any) -> list[str]:
    if isinstance(plan, dict):
        own = [plan["stage"]] if "stage" in plan else []
        return own + [name for each in plan.values() for name in _stages(each)]
    return [name for each in plan for name in _stages(each)] if isinstance(plan, list) else []


def days() -> Iterator[datetime]:
    return (TODAY - number * DAY for number in range(NUMBER_OF_DAYS))


def test_of_twenty_thousand_days_each_report_reads_its_own(
    runtime: Runtime, read: Callable[[Candidate], list[Any]]
) -> None:
    """One test for all reports: the documents are stored once."""
    _store_days(runtime)
    start, end = TODAY - 7 * DAY, TODAY
    for by in PERIODS_OF_HITS:
        span = (end - DAY, end) if by == "minute" else (start, end)
        for group in GROUPS:
            for tz in ("UTC", "Asia/Kathmandu"):
                for path in (None, "/7") if group in (None, "path") else (None,):
                    report = Report(SITE, *span, by, tz, path, group)

                    def page(runtime: Runtime, report: Report = report) -> None:
                        _, after = queries.read(runtime.database, report, None, 20)
                        if after:
                            queries.read(runtime.database, report, after, 20)

                    check(runtime, read(page))


def test_of_twenty_thousand_days_the_counts_of_pages_are_their_own(
    runtime: Runtime, read: Callable[[Candidate], list[Any]]
) -> None:
    _store_days(runtime)
    paths = [f"/{number}" for number in range(0, 100, 10)]

    found = read(lambda hearing: queries.page_counts(hearing.database, SITE, paths))

    check(runtime, found)


def _store_days(runtime: Runtime) -> None:
    """Store the days of two sites: 20,000 of paths, and 10,000 of each source."""
    counts = {"hits": 2, "visitors": 1, "hours": {"7": {"hits": 2, "m": {"3": 2}}}}
    counts |= {"quarters": {"28": {"visitors": 1}}}
    for name in SITES:
        rows = [
            {"site": name, "path": path, "day": day, "shard": shard, **counts}
            for day in days()
            for path in ("*", *(f"/{number}" for number in range(PATHS)))
            for shard in range(SHARDS)
        ]
        sources = [
            {"site": name, "dimension": of, "value": f"v{n}", "day": day, "shard": 0, **counts}
            for day in days()
            for of in DIMENSIONS
            for n in range(PATHS // 4)
        ]
        for collection, made in ((DAYS, rows), (SOURCES, sources)):
            stored = ({"_id": f"{name}/{n}", **row} for n, row in enumerate(made))
            runtime.database[collection.name].insert_many(stored, ordered=False)


@pytest.mark.parametrize("by", LEVELS)
@pytest.mark.parametrize("by_user", [False, True])
def test_of_twenty_thousand_periods_a_report_on_sessions_reads_its_own(
    runtime: Runtime,
    read: Callable[[Candidate], list[Any]],
    by: Level,
    by_user: bool,  # noqa: FBT001 - the two cases
) -> None:
    _store_periods(runtime, by)
    report = periods.SessionReport(SITE, TODAY - 30 * DAY, TODAY, by, by_user)

    def page(runtime: Runtime) -> None:
        _, after = periods.read(runtime.database, report, None, 20)
        assert after
        periods.read(runtime.database, report, after, 20)

    check(runtime, read(page))


def _store_periods(runtime: Runtime, by: Level) -> None:
    sums = {"sessions": 1, "hits": 2, "seconds": 3.0, "bounces": 0, "entries": [], "exits": []}
    rows = [
        {"site": name, "period": period, **({"user": f"u{n:03}"} if n else {}), **sums}
        for name in SITES
        for period in (TODAY - number * timedelta(hours=12) for number in range(100))
        for n in range(PEOPLE)
    ]
    stored = ({"_id": str(n), **row} for n, row in enumerate(rows))
    runtime.database[PERIODS[by].name].insert_many(stored, ordered=False)


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("path", [None, "/7"])
def test_of_twenty_thousand_hits_a_log_reads_the_page_that_it_shows(
    runtime: Runtime, read: Callable[[Candidate], list[Any]], log: LogName, path: str | None
) -> None:
    found = site(runtime, log)
    kept = log_of(runtime.database, log, {SITE: found})
    kept.prepare([TODAY, TODAY + DAY])
    hits: list[Any] = [
        {
            "_id": f"{SITE}:{n:06}",
            "site": SITE,
            "ts": TODAY + timedelta(seconds=4 * n),
            "path": f"/{n % PATHS}",
            "kind": "view",
        }
        for n in range(20_000)
    ]
    kept.append(hits)
    span = Span(SITE, TODAY + DAY / 4, TODAY + DAY / 2, path)
    last = next(hit for hit in hits[10:] if hit["ts"] >= span.start and path in (None, hit["path"]))
    after = HitPosition(last["ts"], last["_id"])

    def page(runtime: Runtime) -> None:
        mine = log_of(runtime.database, log, {SITE: found})
        assert len(mine.read(span, None, SHOWN)) == SHOWN
        assert len(mine.read(span, after, SHOWN)) == SHOWN

    for _, asked, _ in read(page):
        # The server goes on where the reader has stopped: what is read is the first batch.
        first = asked.pop("batchSize")
        assert first == SHOWN + 1
        told = _explained(runtime, {**asked, "limit": first})
        if log == "timeseries":
            assert "$_internalBoundedSort" in str(told)
            continue
        counts, stages = told["executionStats"], _stages(told["queryPlanner"]["winningPlan"])
        assert not set(stages) & {"SORT", "COLLSCAN"}
        assert counts["totalDocsExamined"] <= SHOWN + SKIPPED
        assert counts["totalKeysExamined"] <= SHOWN + SKIPPED
