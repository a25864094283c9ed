"""The collections of sessions, and of the periods that they are rolled up to."""

from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel

from chalicelib.analytics.hits import DAY
from chalicelib.database import Collection
from chalicelib.database.validators import AtMost

Level = Literal["hour", "day", "week", "month", "year"]
LEVELS: Final[tuple[Level, ...]] = ("hour", "day", "week", "month", "year")
# Entry and exit pages of a period, the most frequent ones.
MAX_PAGES = 50
_HOUR = timedelta(hours=1)


class StoredSession(TypedDict):
    """A session; `_id` is `site:day:visitor:n`, the n-th of the visitor on the day (UTC).

    `making` is the id of what made it last.
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


class Pages(TypedDict):
    """How many sessions began or ended on a page."""

    path: str
    sessions: int


class StoredPeriod(TypedDict):
    """A period of a site, or of one user of it; means are made of its sums when they are read."""

    _id: str
    site: str
    user: NotRequired[str]
    period: datetime
    sessions: int
    hits: int
    seconds: float
    bounces: int
    entries: Annotated[list[Pages], AtMost(MAX_PAGES)]
    exits: Annotated[list[Pages], AtMost(MAX_PAGES)]


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
    """Return when the period (UTC) that a time is in begins; weeks begin on Mondays (ISO 8601)."""
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
    """Return when the period that begins at a time ends."""
    longest = {"hour": _HOUR, "day": DAY, "week": 7 * DAY, "month": 31 * DAY, "year": 366 * DAY}
    after = start + longest[level]
    # Months and years may be shorter: what comes after is in the next one.
    return start_of(level, after) if level in ("month", "year") else after
