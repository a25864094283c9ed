"""Rolling sessions up: to hours, days, weeks and months, and years.

Weeks straddle months, so both are made of days. A period is always made whole of the one below, and
replaced, so doing it again changes nothing. Source: "MongoDB Applied Design Patterns", ch. 4,
hierarchical aggregation; but means are made of sums, since a mean of means is wrong.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from pymongo import ReplaceOne
from pymongo.database import Database

from chalicelib.analytics.hits import DAY
from chalicelib.analytics.sessions.periods import (
    MAX_PAGES,
    PERIODS,
    SESSIONS,
    Level,
    Pages,
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


@dataclass
class _Sums:
    """What a period adds up to."""

    sessions: int = 0
    hits: int = 0
    seconds: float = 0.0
    bounces: int = 0
    entries: Counter[str] = field(default_factory=Counter)
    exits: Counter[str] = field(default_factory=Counter)


# By user, None for the whole site, and by period.
_Made = dict[tuple[str | None, datetime], _Sums]


def roll_up(database: Database[Document], site: str, day: datetime) -> None:
    """Make the hours of a site's day of its sessions, and every period above of the one below."""
    made: _Made = {}
    for row in _of_sessions(database, site, day):
        _add(made, row)
    _replace(database, site, "hour", (day, day + DAY), made)
    for level, below in _BELOW.items():
        start = start_of(level, day)
        span = start, end_of(level, start)
        made = {}
        within = {"site": site, "period": {"$gte": span[0], "$lt": span[1]}}
        for row in PERIODS[below].of(database).find(within):
            _add(made, {**row, "period": start})
        _replace(database, site, level, span, made)


def _of_sessions(database: Database[Document], site: str, day: datetime) -> Iterator[Any]:
    """Give the sums of a day's sessions by hour, user, entry and exit; and again without users."""
    key = {"period": "$hour", "user": "$user", "entry": "$entry", "exit": "$exit"}
    pipeline = [
        {"$match": {"site": site, "day": day}},
        {"$set": {"hour": {"$dateTrunc": {"date": "$started", "unit": "hour"}}}},
        {
            "$group": {
                "_id": key,
                "sessions": {"$sum": 1},
                "hits": {"$sum": "$hits"},
                "seconds": {"$sum": "$seconds"},
                "bounces": {"$sum": {"$cond": ["$bounce", 1, 0]}},
            }
        },
    ]
    rows: Any = SESSIONS.of(database)
    for row in rows.aggregate(pipeline, allowDiskUse=True):
        of, number = row["_id"], row["sessions"]
        pages = {
            "period": of["period"],
            "entries": [{"path": of["entry"], "sessions": number}],
            "exits": [{"path": of["exit"], "sessions": number}],
        }
        yield {**row, **pages}
        if "user" in of:
            yield {**row, **pages, "user": of["user"]}


def _add(made: _Made, row: Any) -> None:
    sums = made.setdefault((row.get("user"), row["period"]), _Sums())
    sums.sessions += row["sessions"]
    sums.hits += row["hits"]
    sums.seconds += row["seconds"]
    sums.bounces += row["bounces"]
    for pages, counter in ((row["entries"], sums.entries), (row["exits"], sums.exits)):
        for page in pages:
            counter[page["path"]] += page["sessions"]


def _replace(
    database: Database[Document],
    site: str,
    level: Level,
    span: tuple[datetime, datetime],
    made: _Made,
) -> None:
    """Put the periods of a span in the place of those that were there."""
    rows = PERIODS[level].of(database)
    periods = [_stored(site, user, period, sums) for (user, period), sums in made.items()]
    writes = [
        ReplaceOne({"_id": each["_id"], "site": site, "period": each["period"]}, each, upsert=True)
        for each in periods
    ]
    if writes:
        rows.bulk_write(writes, ordered=False)
    gone = {"site": site, "period": {"$gte": span[0], "$lt": span[1]}}
    rows.delete_many({**gone, "_id": {"$nin": [each["_id"] for each in periods]}})


def _stored(site: str, user: str | None, period: datetime, sums: _Sums) -> StoredPeriod:
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


def _most(pages: Counter[str]) -> list[Pages]:
    most: Iterable[tuple[str, int]] = sorted(pages.items(), key=lambda page: (-page[1], page[0]))
    return [{"path": path, "sessions": number} for path, number in list(most)[:MAX_PAGES]]
