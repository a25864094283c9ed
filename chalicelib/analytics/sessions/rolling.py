"""Rolling sessions up: to hours, days, weeks and months, and years.

Weeks straddle months, so days make both. A run makes each period whole from the periods below and
replaces it, so a repeat changes nothing. Source: "MongoDB Applied Design Patterns", ch. 4,
hierarchical aggregation; but sums make the means, since a mean of means is wrong.
"""

import heapq
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any, Final, NamedTuple

from pymongo import ReplaceOne
from pymongo.database import Database

from chalicelib.analytics.hits import DAY
from chalicelib.analytics.sessions.periods import (
    MAX_PAGES,
    PERIODS,
    SESSIONS,
    Level,
    PageCount,
    StoredPeriod,
    end_of,
    start_of,
)
from chalicelib.database import Document

_BELOW: Final[dict[Level, Level]] = {
    "day": "hour",
    "week": "day",
    "month": "day",
    "year": "month",
}
# The most users with periods in memory at once.
_USERS_AT_ONCE = 200
_ROWS_AT_ONCE = 1_000


@dataclass
class _Sums:
    """The sums of a period."""

    sessions: int = 0
    hits: int = 0
    seconds: float = 0.0
    bounces: int = 0
    entries: Counter[str] = field(default_factory=Counter)
    exits: Counter[str] = field(default_factory=Counter)


# By (user, period); None for the user: the whole site.
_Made = dict[tuple[str | None, datetime], _Sums]


def roll_up(database: Database[Document], site: str, day: datetime) -> None:
    """Make the hours of a site's day from its sessions, and longer periods from shorter periods.

    Users come in parts of a bounded size: a site may have any number of users.
    """
    _roll_up(database, _Part(site, day, None), _of_sessions(database, site, day, by_user=False))
    seen: set[str] = set()
    for users, rows in _by_users(_of_sessions(database, site, day, by_user=True)):
        seen.update(users)
        _roll_up(database, _Part(site, day, users), rows)
    # Users without sessions on the day any more may still have sums of it.
    of_users = {"site": site, "period": day, "user": {"$exists": True}}
    counted = PERIODS["day"].of(database).find(of_users, {"user": 1})
    gone = [row["user"] for row in counted if row["user"] not in seen]
    for first in range(0, len(gone), _USERS_AT_ONCE):
        _take_off(database, _Part(site, day, gone[first : first + _USERS_AT_ONCE]))


class _Part(NamedTuple):
    """The periods of some users on a site's day; `users` None: the whole site's periods."""

    site: str
    day: datetime
    users: Sequence[str] | None

    def within(self, span: tuple[datetime, datetime]) -> Document:
        """Return the filter of the periods of a span."""
        whose = {"$exists": False} if self.users is None else {"$in": list(self.users)}
        return {"site": self.site, "period": {"$gte": span[0], "$lt": span[1]}, "user": whose}


def _roll_up(database: Database[Document], part: _Part, rows: Iterable[Any]) -> None:
    """Make a part's hours from sums of sessions, and the longer periods."""
    made: _Made = {}
    for row in rows:
        _add(made, row)
    _replace(database, part, "hour", (part.day, part.day + DAY), made)
    for level in _BELOW:
        _make_of_shorter(database, part, level)


def _take_off(database: Database[Document], part: _Part) -> None:
    """Take a day off the periods of users without sessions on the day any more.

    The sums of the day itself go last: after a crash, the next run finds the users by these sums.
    """
    for level, below in _BELOW.items():
        if level != "day":
            _make_of_shorter(database, part, level, without=part.day if below == "day" else None)
    shorter: tuple[Level, ...] = ("hour", "day")
    for level in shorter:
        _replace(database, part, level, (part.day, part.day + DAY), {})


def _make_of_shorter(
    database: Database[Document], part: _Part, level: Level, without: datetime | None = None
) -> None:
    """Make a part's period of a level from its shorter periods, except `without`."""
    start = start_of(level, part.day)
    span = start, end_of(level, start)
    made: _Made = {}
    for row in PERIODS[_BELOW[level]].of(database).find(part.within(span)):
        if row["period"] != without:
            _add(made, {**row, "period": start})
    _replace(database, part, level, span, made)


def _of_sessions(
    database: Database[Document], site: str, day: datetime, *, by_user: bool
) -> Iterator[Any]:
    """Yield the rows of each hour of a day: sums, most frequent entries, most frequent exits.

    With `by_user`, yield rows of each user and hour, by user. The server cuts the pages of each row
    to MAX_PAGES: a stranger may send any number of paths.
    """
    whose: Document = {"user": {"$exists": True}} if by_user else {}
    period: Document = {"$dateTrunc": {"date": "$started", "unit": "hour"}}
    of: Document = {"period": period, **({"user": "$user"} if by_user else {})}
    sums = {
        "sessions": {"$sum": 1},
        "hits": {"$sum": "$hits"},
        "seconds": {"$sum": "$seconds"},
        "bounces": {"$sum": {"$cond": ["$bounce", 1, 0]}},
    }
    steps: list[list[Document]] = [
        [{"$group": {"_id": of, **sums}}],
        _most_frequent("entries", {**of, "path": "$entry"}, by_user=by_user),
        _most_frequent("exits", {**of, "path": "$exit"}, by_user=by_user),
    ]
    matching = {"$match": {"site": site, "day": day, **whose}}
    ordered: list[Document] = [{"$sort": {"_id.user": 1}}] if by_user else []
    rows: Any = SESSIONS.of(database)
    # The driver decodes a batch at once, by default up to 16 MB of rows.
    found = (
        rows.aggregate([matching, *step, *ordered], allowDiskUse=True, batchSize=_ROWS_AT_ONCE)
        for step in steps
    )
    for row in heapq.merge(*found, key=lambda each: str(each["_id"].get("user"))):
        yield {**row, "period": row["_id"]["period"], "user": row["_id"].get("user")}


def _most_frequent(pages: str, of: Document, *, by_user: bool) -> list[Document]:
    """Return the stages for the most frequent pages of each period; `by_user`: per user and period.

    `of`: the key of a group: period, path and, with `by_user`, user. `pages`: the name of the
    output field.
    """
    whole: Document = {"period": "$_id.period", **({"user": "$_id.user"} if by_user else {})}
    frequent = {
        "n": MAX_PAGES,
        "sortBy": {"sessions": -1, "_id.path": 1},
        "output": {"path": "$_id.path", "sessions": "$sessions"},
    }
    return [
        {"$group": {"_id": of, "sessions": {"$sum": 1}}},
        {"$group": {"_id": whole, pages: {"$topN": frequent}}},
    ]


def _by_users(rows: Iterable[Any]) -> Iterator[tuple[list[str], list[Any]]]:
    """Yield (users, all their rows), in parts of bounded size, from rows in the order of users."""
    users: list[str] = []
    part: list[Any] = []
    for user, mine in itertools.groupby(rows, key=itemgetter("user")):
        users.append(user)
        part += mine
        if len(users) == _USERS_AT_ONCE or len(part) >= _ROWS_AT_ONCE:
            yield users, part
            users, part = [], []
    if users:
        yield users, part


def _add(made: _Made, row: Any) -> None:
    sums = made.setdefault((row.get("user"), row["period"]), _Sums())
    if "sessions" in row:
        sums.sessions += row["sessions"]
        sums.hits += row["hits"]
        sums.seconds += row["seconds"]
        sums.bounces += row["bounces"]
    for name, counter in (("entries", sums.entries), ("exits", sums.exits)):
        for page in row.get(name, ()):
            counter[page["path"]] += page["sessions"]


def _replace(
    database: Database[Document],
    part: _Part,
    level: Level,
    span: tuple[datetime, datetime],
    made: _Made,
) -> None:
    """Replace a part's periods of a span."""
    rows = PERIODS[level].of(database)
    periods = [_to_period(part.site, user, period, sums) for (user, period), sums in made.items()]
    writes = [
        ReplaceOne(
            {"_id": each["_id"], "site": part.site, "period": each["period"]}, each, upsert=True
        )
        for each in periods
    ]
    if writes:
        rows.bulk_write(writes, ordered=False)
    made_now = [each["_id"] for each in periods]
    rows.delete_many({**part.within(span), "_id": {"$nin": made_now}})


def _to_period(site: str, user: str | None, period: datetime, sums: _Sums) -> StoredPeriod:
    stored: StoredPeriod = {
        "_id": f"{site}/{user or ''}/{period:%Y%m%d%H}",
        "site": site,
        "period": period,
        "sessions": sums.sessions,
        "hits": sums.hits,
        "seconds": sums.seconds,
        "bounces": sums.bounces,
        "entries": _most(sums.entries),
        "exits": _most(sums.exits),
    }
    if user is not None:
        stored["user"] = user
    return stored


def _most(pages: Counter[str]) -> list[PageCount]:
    most: Iterable[tuple[str, int]] = sorted(pages.items(), key=lambda page: (-page[1], page[0]))
    return [{"path": path, "sessions": number} for path, number in list(most)[:MAX_PAGES]]
