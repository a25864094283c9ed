"""Upkeep of the logs: make tomorrow's parts, drop old parts, measure sizes."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any, Final

from pymongo.database import Database

from chalicelib.analytics.hits import DAY, day_of
from chalicelib.analytics.logs import rows
from chalicelib.analytics.logs.choosing import every_log
from chalicelib.analytics.logs.log import Log
from chalicelib.analytics.logs.schema import CAPPED, DAILY_EVENTS, EVENTS, SERIES
from chalicelib.analytics.settings import SITES, LogName, SiteAnalytics
from chalicelib.database import Document
from chalicelib.jobs.schedules import Step, run_steps
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import COLLECTION_SIZE
from chalicelib.runtime import Runtime

LOGS: Final = (EVENTS.name, CAPPED.name, SERIES.name)
# The hour (UTC) to measure all collections, at a time of few hits.
_HOUR_OF_ALL = 3
_FIELDS = {
    "documents": "count",
    "data_bytes": "size",
    "disk_bytes": "storageSize",
    "index_bytes": "totalIndexSize",
}


def measure(runtime: Runtime) -> int:
    """Report the size of each log and, at _HOUR_OF_ALL, of all collections; return their number."""
    database = runtime.database
    sizes = {name: rows.stats(database, name) for name in _names(database, runtime.now())}
    sizes[DAILY_EVENTS.name + ".*"] = _sum(database)
    for name, size in sizes.items():
        fields = {field: size[of] for field, of in _FIELDS.items()}
        named = {"collection": name, **fields}
        log.info("collection", extra={"fields": named, "metrics": COLLECTION_SIZE})
    return len(sizes)


def _names(database: Database[Document], now: datetime) -> list[str]:
    if now.hour != _HOUR_OF_ALL:
        return list(LOGS)
    dated = {each.name for each in DAILY_EVENTS.collections(database)}
    others = set(database.list_collection_names()) - dated
    return sorted(name for name in others if not name.startswith("system."))


def _sum(database: Database[Document]) -> Document:
    """Return the statistics of all days of the rotating log, as a sum: days come and go."""
    sums: dict[str, Any] = dict.fromkeys(_FIELDS.values(), 0)
    for part in DAILY_EVENTS.collections(database):
        for field, value in rows.stats(database, part.name).items():
            sums[field] += value
    return sums


def trim(runtime: Runtime) -> int:
    """Prepare every log for today and tomorrow, and trim it; return the number of dropped parts.

    If the schedule is late, workers make the missing parts themselves. Each log is a step of its
    own. The expiring log comes last: new expiries for all its hits can outlast a run.
    """
    sites = {site["_id"]: site for site in SITES.of(runtime.database).find()}
    logs = sorted(every_log(runtime.database, sites), key=lambda each: each.name == "expiring")
    steps: dict[str, Step] = {each.name: partial(_trim, each, sites.values()) for each in logs}
    return sum(run_steps(runtime, steps).values())


def _trim(each: Log, sites: Iterable[SiteAnalytics], runtime: Runtime) -> int:
    now = runtime.now()
    if any(_writes(site, each.name) for site in sites):
        each.prepare([day_of(now), day_of(now) + DAY])
    return each.trim(now)


def _writes(site: SiteAnalytics, log: LogName) -> bool:
    """Return whether a site's hits go to a log now or soon."""
    moving = site.get("moving")
    return log == site["log"] or bool(moving and log == moving["log_to"])
