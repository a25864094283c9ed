"""Reading sessions by period."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.analytics.sessions.periods import PERIODS, Level, StoredPeriod
from chalicelib.database import Document


@dataclass(frozen=True)
class SessionReport:
    """What is asked for: a site's periods within a span of time, by user or not."""

    site: str
    start: datetime
    end: datetime
    by: Level
    by_user: bool


def read(
    database: Database[Document], report: SessionReport, after: Sequence[Any] | None, limit: int
) -> tuple[list[StoredPeriod], list[Any] | None]:
    """Return up to `limit` periods in the order of time and user, and where the next ones start.

    A position is [period in ISO form, user]. Periods without a session have no row.
    """
    rows = PERIODS[report.by].of(database).find(_where(report, after))
    found = list(rows.sort([("period", ASCENDING), ("user", ASCENDING)]).limit(limit + 1))
    shown, more = found[:limit], len(found) > limit
    return shown, [shown[-1]["period"].isoformat(), shown[-1].get("user")] if more else None


def _where(report: SessionReport, after: Sequence[Any] | None) -> Document:
    """Return the filter of a report's rows after a position."""
    span = {"$gte": report.start, "$lt": report.end}
    whose: Document = {"site": report.site, "user": {"$exists": report.by_user}}
    if not after:
        return {**whose, "period": span}
    period, user = datetime.fromisoformat(after[0]), after[1]
    later = {**whose, "period": {**span, "$gt": period}}
    if user is None:
        return later
    # Each branch has bounds of its own: no user before the position is looked at.
    same = {"site": report.site, "period": {**span, "$eq": period}, "user": {"$gt": user}}
    return {"$or": [same, later]}
