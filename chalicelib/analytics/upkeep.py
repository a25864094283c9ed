"""Upkeep of the logs: make tomorrow's parts, drop old parts, measure sizes."""

from datetime import datetime
from typing import Any, Final

from pymongo.database import Database

from chalicelib.analytics.hits import DAY, day_of
from chalicelib.analytics.logs import rows
from chalicelib.analytics.logs.choosing import every_log
from chalicelib.analytics.logs.schema import CAPPED, DAILY_EVENTS, EVENTS, SERIES
from chalicelib.analytics.settings import SITES, LogName, SiteAnalytics
from chalicelib.database import Document
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import COLLECTION_SIZE
from chalicelib.runtime import Runtime

LOGS: Final = (EVENTS.name, CAPPED.name, SERIES.name)
# The hour (UTC) of the measure of all collections: few people are up.
_HOUR_OF_ALL = 3
_FIELDS = {
    "documents": "count",
    "data_bytes": "size",
    "disk_bytes": "storageSize",
    "index_bytes": "totalIndexSize",
}


def measure(runtime: Runtime) -> int:
    """Log the size of each log, and once a day of every collection; return their number."""
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

    If the schedule is late, workers make the missing parts themselves.
    """
    database, now = runtime.database, runtime.now()
    sites = {site["_id"]: site for site in SITES.of(database).find()}
    dropped = 0
    for each in every_log(database, sites):
        mine = {name: site for name, site in sites.items() if _writes(site, each.name)}
        if mine:
            each.prepare([day_of(now), day_of(now) + DAY])
        dropped += each.trim(now)
    for site in sites.values():
        same = {"_id": site["_id"], "keep_days": site["keep_days"], "keep_changed": True}
        SITES.of(database).update_one(same, {"$unset": {"keep_changed": ""}})
    return dropped


def _writes(site: SiteAnalytics, log: LogName) -> bool:
    """Return whether a site's hits go to a log now or soon."""
    moving = site.get("moving")
    return log == site["log"] or bool(moving and log == moving["log_to"])
