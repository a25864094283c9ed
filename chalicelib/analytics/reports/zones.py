"""Days and longer periods of a time zone, summed from hours of UTC days, or from minutes.

For one path, or a whole site. Python computes the sums: the server takes three times as long to
take the documents apart.
"""

import bisect
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from pymongo.database import Database

from chalicelib.analytics.hits import WHOLE_SITE, day_of
from chalicelib.analytics.reports.days import COUNTED_FIELDS, DAYS, QUARTER_MINUTES
from chalicelib.analytics.reports.layouts import LAYOUTS
from chalicelib.analytics.reports.report import Report, Row
from chalicelib.database import Document

_MINUTE_SECONDS = 60
_DAY_MINUTES = 1_440
_OUTSIDE = -1


def read(
    database: Database[Document], report: Report, after: Sequence[Any] | None, limit: int
) -> tuple[list[Row], list[Any] | None]:
    """Return up to `limit` rows after a position, and the last row's position if more follow."""
    edges = report.edges
    first = 0
    if after:
        first = bisect.bisect_right(edges, datetime.fromisoformat(after[0]))
    start = max(report.start, edges[first]) if first < len(edges) else report.end
    sums = _sums(_days(database, report, start), edges, report)
    key = "" if report.group is None else (report.path or "")
    rows: list[Row] = [
        {"period": edges[number], "key": key, **counts}  # type: ignore[typeddict-item]
        for number, counts in sorted(sums.items())
        if number >= first and any(counts.values())
    ]
    shown = rows[:limit]
    more = len(rows) > limit
    return shown, [shown[-1]["period"].isoformat(), key] if more else None


def _days(database: Database[Document], report: Report, start: datetime) -> Iterator[Any]:
    """Yield the documents of the UTC days that a span touches."""
    projection: Document = {"_id": 0, "day": 1, "quarters": 1}
    for layout in LAYOUTS.values():
        projection |= layout.projection(by_minute=report.needs_minutes)
    days = {"$gte": day_of(start), "$lt": report.end}
    where = {"site": report.site, "path": report.path or WHOLE_SITE, "day": days}
    rows: Any = DAYS.of(database)
    yield from rows.find(where, projection)


def _sums(
    days: Iterator[Any], edges: Sequence[datetime], report: Report
) -> dict[int, dict[str, int]]:
    """Return the sums of each period with counts, by its number."""
    by_minute, periods_of = report.needs_minutes, _Periods(edges, report)
    sums: dict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTED_FIELDS, 0))
    for row in days:
        periods = periods_of(row["day"])
        for layout in LAYOUTS.values():
            for at, hits in layout.hits(row, by_minute=by_minute):
                sums[periods[at // periods_of.step]]["hits"] += hits
        for quarter, counted in row.get("quarters", {}).items():
            counts = sums[periods[int(quarter) * QUARTER_MINUTES // periods_of.step]]
            for name, number in counted.items():
                counts[name] += number
    sums.pop(_OUTSIDE, None)
    return sums


class _Periods:
    """The periods of a day's parts, computed once for all documents of the day."""

    def __init__(self, edges: Sequence[datetime], report: Report) -> None:
        self._edges = [_minute(edge) for edge in edges]
        self._start, self._end = _minute(report.start), _minute(report.end)
        bounds = (*self._edges, self._start, self._end)
        self.step = 1 if any(bound % QUARTER_MINUTES for bound in bounds) else QUARTER_MINUTES
        self._known: dict[datetime, list[int]] = {}

    def __call__(self, day: datetime) -> list[int]:
        """Return the period number of each `step` minutes of a UTC day; -1 outside the report."""
        found = self._known.get(day)
        if found is None:
            first = _minute(day)
            times = range(first, first + _DAY_MINUTES, self.step)
            found = self._known[day] = [self._number(time) for time in times]
        return found

    def _number(self, time: int) -> int:
        if not self._start <= time < self._end:
            return _OUTSIDE
        return bisect.bisect_right(self._edges, time) - 1


def _minute(time: datetime) -> int:
    return int(time.timestamp()) // _MINUTE_SECONDS
