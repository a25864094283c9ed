"""Upkeep of the logs: tomorrow's parts made, old ones dropped, sizes measured."""

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
# The hour (UTC) in which all collections are measured: few people are up.
_HOUR_OF_ALL = 3
_FIELDS = {
    "documents": "count",
    "data_bytes": "size",
    "disk_bytes": "storageSize",
    "index_bytes": "totalIndexSize",
}


def measure(runtime: Runtime) -> int:
    """Log the size of each log, and once a day of every collection; return how many there were."""
    database = runtime.database
    sizes = {name: rows.stats(database, name) for name in _names(database, runtime.now())}
    sizes[DAILY_EVENTS.name + ".*"] = _sum(database)
    for name, size in sizes.items():
        fields = {field: size[of] for field, of in _FIELDS.items()}
        told = {"collection": name, **fields}
        log.info("collection", extra={"fields": told, "metrics": COLLECTION_SIZE})
    return len(sizes)


def _names(database: Database[Document], now: datetime) -> list[str]:
    if now.hour != _HOUR_OF_ALL:
        return list(LOGS)
    dated = {each.name for each in DAILY_EVENTS.collections(database)}
    others = set(database.list_collection_names()) - dated
    return sorted(name for name in others if not name.startswith("system."))


def _sum(database: Database[Document]) -> Document:
    """Return the statistics of all days of the rotating log together: days come and go."""
    sums: dict[str, Any] = dict.fromkeys(_FIELDS.values(), 0)
    for part in DAILY_EVENTS.collections(database):
        for field, value in rows.stats(database, part.name).items():
            sums[field] += value
    return sums


def trim(runtime: Runtime) -> int:
    """Have every log ready for today and tomorrow, and trimmed; return how much was dropped.

    What a schedule that is late has not made, workers make themselves.
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
        told = {"_id": site["_id"], "keep_days": site["keep_days"], "keep_changed": True}
        SITES.of(database).update_one(told, {"$unset": {"keep_changed": ""}})
    return dropped


def _writes(site: SiteAnalytics, log: LogName) -> bool:
    """Return whether a site's hits go to a log, or will soon."""
    moving = site.get("moving")
    return log == site["log"] or bool(moving and log == moving["log_to"])
