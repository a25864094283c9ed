"""The list of analytics' collections, for the schema of a deployment."""

from dataclasses import replace
from typing import Any

from chalicelib.analytics import settings
from chalicelib.analytics.logs import schema as logs
from chalicelib.analytics.reports import days, late, names, people
from chalicelib.analytics.sessions import making, periods
from chalicelib.analytics.visitors import salts
from chalicelib.database import Collection

COLLECTIONS: tuple[Collection[Any], ...] = (
    settings.SITES,
    salts.SALTS,
    logs.EVENTS,
    logs.CAPPED,
    logs.SERIES,
    logs.RECEIPTS,
    days.DAYS,
    days.SOURCES,
    names.NAME_COUNTS,
    names.VOTES,
    late.LATE,
    people.VISITORS,
    periods.SESSIONS,
    *periods.PERIODS.values(),
    making.DUE,
)
FAMILIES = (logs.DAILY_EVENTS,)


def set_size(collection: Collection[Any], capped_bytes: int) -> Collection[Any]:
    """Return the capped log with a size of `capped_bytes`; any other collection unchanged."""
    if collection.name != logs.CAPPED.name:
        return collection
    return replace(collection, options={**collection.options, "size": capped_bytes})
