"""Logs by their names in a site's settings."""

from collections.abc import Mapping
from typing import Final

from pymongo.database import Database

from chalicelib.analytics.logs.capped import CappedLog
from chalicelib.analytics.logs.expiring import ExpiringLog
from chalicelib.analytics.logs.log import Log
from chalicelib.analytics.logs.rotating import RotatingLog
from chalicelib.analytics.logs.timeseries import SeriesLog
from chalicelib.analytics.settings import LogName, SiteAnalytics
from chalicelib.database import Document

NAMES: Final[tuple[LogName, ...]] = ("expiring", "rotating", "timeseries", "capped")


def log_of(
    database: Database[Document],
    name: LogName,
    sites: Mapping[str, SiteAnalytics],
    concern: str = "majority",
) -> Log:
    """Return a log for the hits of these sites; `concern` is for writes before counting."""
    match name:
        case "expiring":
            return ExpiringLog(database, sites)
        case "rotating":
            return RotatingLog(database, sites)
        case "timeseries":
            return SeriesLog(database, sites, concern)
        case "capped":
            return CappedLog(database, concern)


def every_log(database: Database[Document], sites: Mapping[str, SiteAnalytics]) -> list[Log]:
    """Return all logs."""
    return [log_of(database, name, sites) for name in NAMES]
