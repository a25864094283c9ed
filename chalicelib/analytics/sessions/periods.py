"""Sessions and their periods: collections and queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.analytics.hits import DAY
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

Level = Literal["hour", "day", "week", "month", "year"]
LEVELS: Final[tuple[Level, ...]] = ("hour", "day", "week", "month", "year")
# Entry and exit pages of a period, the most frequent ones.
MAX_PAGES = 50
_HOUR = timedelta(hours=1)


class StoredSession(TypedDict):
    """A session; `_id` is `site:day:visitor:n`, the n-th of the visitor on the day (UTC).

    `making` is the id of the run that made it last.
    """

    _id: str
    site: str
    day: datetime
    started: datetime
    seconds: float
    hits: int
    entry: str
    exit: str
    bounce: bool
    user: NotRequired[str]
    making: str


class PageCount(TypedDict):
    """The number of sessions that began or ended on a page."""

    path: str
    sessions: int


class StoredPeriod(TypedDict):
    """The sums of a period, for a site or one of its users; the API computes the means."""

    _id: str
    site: str
    user: NotRequired[str]
    period: datetime
    sessions: int
    hits: int
    seconds: float
    bounces: int
    entries: Annotated[list[PageCount], AtMost(MAX_PAGES)]
    exits: Annotated[list[PageCount], AtMost(MAX_PAGES)]


SESSIONS = Collection(
    "hit.session",
    StoredSession,
    indexes=(
        IndexModel([("site", ASCENDING), ("day", ASCENDING), ("started", ASCENDING)]),
        IndexModel([("user", ASCENDING)], sparse=True),
    ),
)


def _collection(level: Level) -> Collection[StoredPeriod]:
    return Collection(
        f"hit.sessions.{level}",
        StoredPeriod,
        indexes=(
            IndexModel([("site", ASCENDING), ("period", ASCENDING), ("user", ASCENDING)]),
            IndexModel([("user", ASCENDING)], sparse=True),
        ),
        shard_key={"site": 1, "period": 1},
    )


PERIODS: Final[dict[Level, Collection[StoredPeriod]]] = {
    level: _collection(level) for level in LEVELS
}


def start_of(level: Level, time: datetime) -> datetime:
    """Return the start of a time's period (UTC); weeks begin on Mondays (ISO 8601)."""
    hour = time.replace(minute=0, second=0, microsecond=0)
    day = hour.replace(hour=0)
    match level:
        case "hour":
            return hour
        case "day":
            return day
        case "week":
            return day - day.weekday() * DAY
        case "month":
            return day.replace(day=1)
        case "year":
            return day.replace(month=1, day=1)


def end_of(level: Level, start: datetime) -> datetime:
    """Return the end of the period that begins at a time."""
    longest = {"hour": _HOUR, "day": DAY, "week": 7 * DAY, "month": 31 * DAY, "year": 366 * DAY}
    after = start + longest[level]
    # Months and years may be shorter: the longest length always ends in the next period.
    return start_of(level, after) if level in ("month", "year") else after


@dataclass(frozen=True)
class SessionReport:
    """The parameters of a report: the periods of a site that start in a span, by user or not."""

    site: str
    start: datetime
    end: datetime
    by: Level
    by_user: bool


def read(
    database: Database[Document], report: SessionReport, after: Sequence[Any] | None, limit: int
) -> tuple[list[StoredPeriod], list[Any] | None]:
    """Return up to `limit` periods by time and user, and the position of the last of these.

    A position is [period in ISO form, user]; None: no periods follow. Periods without a session
    have no row.
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
    # Each branch has its own bounds, so the server reads no user before the position.
    same = {"site": report.site, "period": {**span, "$eq": period}, "user": {"$gt": user}}
    return {"$or": [same, later]}
