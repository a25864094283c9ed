"""Days and longer periods of a time zone, summed from hours of UTC days, or from minutes.

For one path, or a site's whole: here and not on the server, which needs three times as long to take
the documents apart.
"""

import bisect
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pymongo.database import Database

from chalicelib.analytics.hits import WHOLE_SITE, day_of
from chalicelib.analytics.layouts import LAYOUTS
from chalicelib.analytics.reports.days import COUNTED_FIELDS, DAYS, QUARTER_MINUTES
from chalicelib.analytics.reports.report import Period, Report, Row
from chalicelib.database import Document

_MINUTE_SECONDS = 60


def read(
    database: Database[Document], report: Report, after: Sequence[Any] | None, limit: int
) -> tuple[list[Row], list[Any] | None]:
    """Return up to `limit` rows after a position, and where the next ones start."""
    edges = list(_edges(report))
    first = 0
    if after:
        first = bisect.bisect_right(edges, datetime.fromisoformat(after[0]))
    start = max(report.start, edges[first]) if first < len(edges) else report.end
    sums = _sums(_cells(database, report, start), edges, report)
    key = "" if report.group is None else (report.path or "")
    rows: list[Row] = [
        {"period": edges[number], "key": key, **counts}  # type: ignore[typeddict-item]
        for number, counts in sorted(sums.items())
        if number >= first
    ]
    shown = rows[:limit]
    more = len(rows) > limit
    return shown, [shown[-1]["period"].isoformat(), key] if more else None


def _edges(report: Report) -> Iterator[datetime]:
    """Give when each period of the span starts, in UTC; the first may start before the span."""
    zone = ZoneInfo(report.tz)
    day = _first_day(report.by, report.start.astimezone(zone).date())
    while True:
        edge = datetime.combine(day, time(), zone).astimezone(UTC)
        if edge >= report.end:
            return
        yield edge
        day = _first_day(report.by, day + _LONGEST[report.by])


_LONGEST: dict[Period, timedelta] = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "year": timedelta(days=366),
}


def _first_day(by: Period, day: date) -> date:
    """Return the first day of the period that a day is in; weeks begin on Mondays (ISO 8601)."""
    match by:
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "year":
            return day.replace(month=1, day=1)
        case _:
            return day


def _cells(
    database: Database[Document], report: Report, start: datetime
) -> dict[int, dict[str, int]]:
    """Return what was counted by the minute since 1970, or the first of its hour or quarter."""
    by_minute = report.needs_minutes
    projection: Document = {"_id": 0, "day": 1, "quarters": 1}
    for layout in LAYOUTS.values():
        projection |= layout.projection(by_minute=by_minute)
    days = {"$gte": day_of(start), "$lt": report.end}
    where = {"site": report.site, "path": report.path or WHOLE_SITE, "day": days}
    cells: dict[int, dict[str, int]] = {}
    rows: Any = DAYS.of(database)
    for row in rows.find(where, projection):
        day = int(row["day"].timestamp()) // _MINUTE_SECONDS
        for layout in LAYOUTS.values():
            for at, hits in layout.hits(row, by_minute=by_minute):
                cell = cells.setdefault(day + at, {})
                cell["hits"] = cell.get("hits", 0) + hits
        _add_quarters(cells, day, row)
    return cells


def _add_quarters(cells: dict[int, dict[str, int]], day: int, row: Mapping[str, Any]) -> None:
    for quarter, counted in row.get("quarters", {}).items():
        cell = cells.setdefault(day + int(quarter) * QUARTER_MINUTES, {})
        for name, number in counted.items():
            cell[name] = cell.get(name, 0) + number


def _sums(
    cells: Mapping[int, Mapping[str, int]], edges: Sequence[datetime], report: Report
) -> dict[int, dict[str, int]]:
    """Return the sums of each period that anything was counted in, by its number."""
    start, end = (int(edge.timestamp()) // _MINUTE_SECONDS for edge in (report.start, report.end))
    minutes = [int(edge.timestamp()) // _MINUTE_SECONDS for edge in edges]
    sums: dict[int, dict[str, int]] = {}
    for at, cell in cells.items():
        if start <= at < end:
            number = bisect.bisect_right(minutes, at) - 1
            period = sums.setdefault(number, dict.fromkeys(COUNTED_FIELDS, 0))
            for name, counted in cell.items():
                period[name] += counted
    return sums
