"""Making tomorrow's parts of the logs, and dropping what no site keeps."""

from chalicelib.analytics.hits import DAY, day_of
from chalicelib.analytics.logs.choosing import every_log
from chalicelib.analytics.settings import SITES, LogName, SiteAnalytics
from chalicelib.runtime import Runtime


def trim(runtime: Runtime) -> int:
    """Have every log ready for today and tomorrow, and trimmed; return how much was dropped.

    What a schedule that is late has not made, workers make themselves.
    """
    database, now = runtime.database, runtime.now()
    sites = {site["_id"]: site for site in SITES.of(database).find()}
    dropped = 0
    for log in every_log(database, sites):
        mine = {name: site for name, site in sites.items() if _writes(site, log.name)}
        if mine:
            log.prepare([day_of(now), day_of(now) + DAY])
        dropped += log.trim(now)
    for site in sites.values():
        told = {"_id": site["_id"], "keep_days": site["keep_days"], "keep_changed": True}
        SITES.of(database).update_one(told, {"$unset": {"keep_changed": ""}})
    return dropped


def _writes(site: SiteAnalytics, log: LogName) -> bool:
    """Return whether a site's hits go to a log, or will soon."""
    moving = site.get("moving")
    return log == site["log"] or bool(moving and log == moving["log_to"])
