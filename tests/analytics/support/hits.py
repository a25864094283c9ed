"""Sites with analytics, hits of their pages, and what was counted of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

from chalicelib.analytics import settings
from chalicelib.analytics.counting.counting import HitCounter
from chalicelib.analytics.hits import Hits, PageHit, day_of
from chalicelib.analytics.logs import together
from chalicelib.analytics.logs.log import Log
from chalicelib.analytics.reports import queries, recount
from chalicelib.analytics.reports.report import Report, Row
from chalicelib.analytics.settings import LayoutName, LogName, SiteAnalytics
from chalicelib.runtime import Runtime
from chalicelib.wiring.hits import PAGES

SITE = "blog"
LOGS: tuple[LogName, ...] = ("expiring", "rotating", "timeseries", "capped")
LAYOUTS: tuple[LayoutName, ...] = ("flat", "hierarchical")


def site(
    runtime: Runtime,
    log: LogName = "expiring",
    layout: LayoutName = "hierarchical",
    name: str = SITE,
    **chosen: Any,
) -> SiteAnalytics:
    """Switch a site's analytics on."""
    wanted: Any = {
        "origins": [],
        "keep_days": 90,
        "user_reports": False,
        "public": False,
        "time_zone": "UTC",
        **chosen,
    }
    before = settings.find(runtime.database, name)
    return settings.put(runtime, before, name, wanted, (log, layout))


def view(number: int | str, ts: datetime, path: str = "/a", **changes: Any) -> Hits:
    """A message of one hit; `visitor=None` for nobody."""
    shared = {"site": SITE, "kind": "view", "device": "desktop"}
    shared |= {name: changes.pop(name) for name in list(changes) if name in Hits.model_fields}
    own = {"visitor": "ann" if shared["kind"] == "view" else None, **changes}
    return Hits(**shared, hits=(PageHit(id=f"hit-{number:0>12}", ts=ts, path=path, **own),))


def count(runtime: Runtime, *messages: Hits) -> int:
    """Count messages, as one batch of a worker of its own."""
    return HitCounter(runtime, PAGES).count(messages)


def worker(runtime: Runtime, number: int) -> HitCounter:
    """Return a worker with randomness of its own."""
    return HitCounter(replace(runtime, random=Random(number)), PAGES)


def logs(runtime: Runtime, name: str = SITE) -> list[Log]:
    """Return the logs that a site's hits are in."""
    found = settings.find(runtime.database, name)
    assert found is not None
    return together.logs_of(runtime.database, found)


def rows(runtime: Runtime, start: datetime, end: datetime, **changes: Any) -> list[Row]:
    """Return the rows of a report, by day unless it says otherwise."""
    report = Report(**{"site": SITE, "start": start, "end": end, "by": "day", **changes})
    found, position = queries.read(runtime.database, report, None, 10_000)
    assert position is None
    return found


def hits_by(found: Sequence[Row]) -> list[tuple[str, int]]:
    """Return the hits of rows that have any, by the period's start in UTC."""
    return [(f"{row['period']:%m-%d %H:%M}", row["hits"]) for row in found if row["hits"]]


def differences(runtime: Runtime, *days: datetime, name: str = SITE) -> list[Any]:
    """Return the differences of what is reported from what the log has, over days."""
    found: list[Any] = []
    for day in {day_of(each) for each in days}:
        found += recount.differences(runtime.database, logs(runtime, name), name, day)
    return found


def at(text: str) -> datetime:
    """Return an instant: `at("2026-03-01 12:00")`, in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
