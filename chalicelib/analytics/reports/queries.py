"""Reports from pre-aggregated documents alone, in the reader's time zone.

A report by whole UTC days reads the documents' totals. For days of another zone, queries sum hours,
or minutes where the offset is no whole number of hours. So each query may have another zone, and no
write depends on a zone. The database receives the edges of periods and no zone, since its list of
zones has another version than Python's.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from pymongo.database import Database

from chalicelib import time_zones
from chalicelib.analytics.hits import WHOLE_SITE, Dimension, day_of
from chalicelib.analytics.reports import zones
from chalicelib.analytics.reports.days import COUNTED_FIELDS, DAYS, QUARTER_MINUTES, SOURCES
from chalicelib.analytics.reports.layouts import LAYOUTS
from chalicelib.analytics.reports.report import BY_DAYS, Report, Row
from chalicelib.database import Document

_PARTS = tuple(name for name in COUNTED_FIELDS if name != "hits")


def read(
    database: Database[Document], report: Report, after: Sequence[Any] | None, limit: int
) -> tuple[list[Row], list[Any] | None]:
    """Return up to `limit` rows by period and key, and the position of the last of these rows.

    A position is [period in ISO form, key]; None: no rows follow. Periods without a hit have no
    row.
    """
    if report.is_of_one and report.by in BY_DAYS and not report.is_by_days:
        return zones.read(database, report, after, limit)
    sums = {name: {"$sum": f"${name}"} for name in COUNTED_FIELDS}
    pipeline: list[Document] = [
        {"$match": _match(report, after)},
        *([] if report.is_by_days else _cells(report)),
        {"$group": {"_id": _key(report), **sums}},
        # A document may have losses and no counts.
        {"$match": {"$or": [{name: {"$ne": 0}} for name in COUNTED_FIELDS]}},
        *([{"$match": {"_id": {"$gt": _position(after)}}}] if after else []),
        {"$sort": {"_id": 1}},
        {"$limit": limit + 1},
    ]
    rows: Any = DAYS.of(database) if _dimension(report) is None else SOURCES.of(database)
    found = [_row(each) for each in rows.aggregate(pipeline, allowDiskUse=True)]
    shown = found[:limit]
    more = len(found) > limit
    return shown, [shown[-1]["period"].isoformat(), shown[-1]["key"]] if more else None


def _dimension(report: Report) -> Dimension | None:
    return None if report.group in (None, "path") else report.group  # type: ignore[return-value]


def _match(report: Report, after: Sequence[Any] | None) -> Document:
    """Return the filter of the documents of the days that a span touches."""
    # The report's own start is a bound, whatever another report's cursor says.
    start = max(datetime.fromisoformat(after[0]), report.start) if after else report.start
    days = {"$gte": day_of(start.astimezone(UTC)), "$lt": report.end}
    dimension = _dimension(report)
    if dimension is not None:
        named = {} if report.value is None else {"value": report.value}
        return {"site": report.site, "dimension": dimension, "day": days, **named}
    if report.group == "path" and report.path is None:
        return {"site": report.site, "day": days, "path": {"$ne": WHOLE_SITE}}
    return {"site": report.site, "path": report.path or WHOLE_SITE, "day": days}


def _cells(report: Report) -> list[Document]:
    """Return the stages that split a day's document into one for each minute, hour or quarter."""
    hits = [layout.cells(by_minute=report.needs_minutes) for layout in LAYOUTS.values()]
    parts: Document = {name: f"$$quarter.v.{name}" for name in _PARTS}
    at_quarter = {"$multiply": [{"$toInt": "$$quarter.k"}, QUARTER_MINUTES]}
    quarters = {
        "$map": {
            "input": {"$objectToArray": {"$ifNull": ["$quarters", {}]}},
            "as": "quarter",
            "in": {"at": at_quarter, **parts},
        }
    }
    at = {"$dateAdd": {"startDate": "$day", "unit": "minute", "amount": "$cell.at"}}
    return [
        {"$set": {"cell": {"$concatArrays": [*hits, quarters]}}},
        {"$unset": ["hours", "minutes", "quarters"]},
        {"$unwind": "$cell"},
        {"$set": {"at": at, **{name: f"$cell.{name}" for name in COUNTED_FIELDS}}},
        {"$match": {"at": {"$gte": report.start, "$lt": report.end}}},
    ]


def _key(report: Report) -> Document:
    time = "$day" if report.is_by_days else "$at"
    is_short = report.by == "minute"
    period = (
        {"$dateTrunc": {"date": time, "unit": "minute"}}
        if is_short
        else time_zones.start_of(time, report.edges)
    )
    key = "" if report.group is None else "$path" if report.group == "path" else "$value"
    return {"period": period, "key": key}


def _position(after: Sequence[Any]) -> Document:
    return {"period": datetime.fromisoformat(after[0]), "key": after[1]}


def _row(found: Mapping[str, Any]) -> Row:
    counts = {name: found[name] for name in COUNTED_FIELDS}
    row: Any = {"period": found["_id"]["period"], "key": found["_id"]["key"], **counts}
    return row  # type: ignore[no-any-return]


# Counts of pages in one round trip, for a page or a listing to show.


def page_counts(database: Database[Document], site: str, paths: Sequence[str]) -> dict[str, int]:
    """Return the hits of each path over all days; 0 for an unread path."""
    # Up to 0.3.0, paths had `%`, `?` and `#` decoded.
    names = {unquote(path): path for path in paths} | {path: path for path in paths}
    pipeline = [
        {"$match": {"site": site, "path": {"$in": list(names)}}},
        {"$group": {"_id": "$path", "hits": {"$sum": "$hits"}}},
    ]
    rows: Any = DAYS.of(database)
    found = dict.fromkeys(paths, 0)
    for row in rows.aggregate(pipeline):
        found[names[row["_id"]]] += row["hits"]
    return found
