"""The rotating log: a collection for each day, dropped as a whole.

For much traffic: a drop costs next to nothing and frees the disk at once. Collections have dated
names: renaming a collection would cut its readers off, and is not safe to repeat.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.analytics.hits import DAY, Dimension, StoredHit, day_of
from chalicelib.analytics.logs import rows
from chalicelib.analytics.logs.log import HitPosition, LogUsage, Span
from chalicelib.analytics.settings import MIN_KEEP_DAYS, LogName, SiteAnalytics, kept_since
from chalicelib.database import Collection, Document, Family, insert_missing, migration

DAILY_EVENTS = Family(
    "hit.event",
    StoredHit,
    indexes=(
        IndexModel([("site", ASCENDING), ("path", ASCENDING), ("ts", ASCENDING)]),
        IndexModel([("site", ASCENDING), ("ts", ASCENDING)]),
        IndexModel([("user", ASCENDING)], sparse=True),
    ),
    shard_key={"site": 1, "path": 1, "_id": 1},
)
# A repeat of a beacon may have another time, and around midnight another day.
_NEAR_MIDNIGHT = timedelta(hours=1)


class RotatingLog:
    """Hits in a collection for each UTC day."""

    name: LogName = "rotating"
    is_transactional = True
    can_forget = True

    def __init__(self, database: Database[Document], sites: Mapping[str, SiteAnalytics]) -> None:
        self._database = database
        self._sites = sites

    def prepare(self, days: Sequence[datetime]) -> None:
        """Make the missing collections of these days: the schedule may be late."""
        there = set(DAILY_EVENTS.days(self._database))
        for day in sorted(set(days) - there):
            migration.ensure(self._database, DAILY_EVENTS.of_day(day))

    def needs_receipt(self, hit: StoredHit) -> bool:
        """Return whether a repeat of the hit may have another day."""
        since = hit["ts"] - day_of(hit["ts"])
        return since < _NEAR_MIDNIGHT or since >= DAY - _NEAR_MIDNIGHT

    def find_known(self, session: ClientSession | None, hits: Sequence[StoredHit]) -> set[str]:
        """Return the ids of the stored hits among these."""
        found: set[str] = set()
        for day, some in _by_day(hits).items():
            found |= rows.find_known(DAILY_EVENTS.of_day(day).of(self._database), some, session)
        return found

    def admit(self, session: ClientSession, hits: Sequence[StoredHit]) -> None:
        """Store new hits, each in its day."""
        for day, some in _by_day(hits).items():
            DAILY_EVENTS.of_day(day).of(self._database).insert_many(some, session=session)

    def append(self, hits: Sequence[StoredHit]) -> None:
        """Store hits outside of any transaction, for a move."""
        for day, some in _by_day(hits).items():
            insert_missing(DAILY_EVENTS.of_day(day).of(self._database), some)

    def aggregate(self, span: Span, stages: Sequence[Document]) -> Iterator[Any]:
        """Run the stages over each day of a span."""
        for part in self._parts(span):
            found = part.of(self._database).aggregate(
                [{"$match": rows.match(span)}, *stages], allowDiskUse=True
            )
            yield from found

    def read(self, span: Span, after: HitPosition | None, limit: int) -> list[StoredHit]:
        """Return the first hits of a span after a position, day by day."""
        found: list[StoredHit] = []
        rest = span if after is None else span._replace(start=max(span.start, after.ts))
        for part in self._parts(rest):
            if len(found) == limit:
                break
            found += rows.page(part.of(self._database), span, after, limit - len(found))
        return found

    def holds(self, day: datetime) -> bool:  # noqa: ARG002 - only time takes hits from it
        """Return True: only time takes hits from it."""
        return True

    def forget(self, user: str, until: datetime | None = None) -> None:
        """Delete a user's hits of every day up to `until`; None: all."""
        for part in DAILY_EVENTS.collections(self._database):
            part.of(self._database).delete_many(rows.of_user(user, until))

    def of_user(self, user: str) -> list[tuple[MongoCollection[Any], Document]]:
        """Return every day's collection with the filter of a user's hits."""
        parts = DAILY_EVENTS.collections(self._database)
        return [(part.of(self._database), {"user": user}) for part in parts]

    def remove(self, site: str, path: str | None = None) -> None:
        """Delete a site's hits of every day, of one path or all."""
        for part in DAILY_EVENTS.collections(self._database):
            rows.remove(part.of(self._database), site, path)

    def forget_source(self, span: Span, dimension: Dimension, value: str) -> None:
        """Remove a source from the hits of a span."""
        for part in self._parts(span):
            rows.forget_source(part.of(self._database), span, dimension, value)

    def trim(self, now: datetime) -> int:
        """Drop the days past every site's limit; delete the other hits past their own site's limit.

        Return the number of dropped days. A day stays one day longer than the limit: a worker with
        a late clock may still write to it.
        """
        dropped, longest = 0, timedelta(days=MIN_KEEP_DAYS)
        for site in self._sites.values():
            longest = max(longest, timedelta(days=site["keep_days"]))
        for day in DAILY_EVENTS.days(self._database):
            part = DAILY_EVENTS.of_day(day).of(self._database)
            if day < day_of(now) - longest - DAY:
                part.drop()
                dropped += 1
                continue
            past = [name for name, site in self._sites.items() if day < kept_since(site, now)]
            for name in part.distinct("site", {"site": {"$in": past}}) if past else ():
                rows.remove(part, name)
        return dropped

    def size(self, site: str) -> LogUsage:
        """Return a site's part of all days."""
        sizes = [
            rows.size(self._database, part.name, site)
            for part in DAILY_EVENTS.collections(self._database)
        ]
        return {
            "hits": sum(each["hits"] for each in sizes),
            "bytes": sum(each["bytes"] for each in sizes),
            "index_bytes": sum(each["index_bytes"] for each in sizes),
            "oldest": min((each["oldest"] for each in sizes if each["oldest"]), default=None),
        }

    def _parts(self, span: Span) -> list[Collection[StoredHit]]:
        """Return the existing collections of a span's days."""
        days = DAILY_EVENTS.days(self._database)
        within = [day for day in days if span.start < day + DAY and day < span.end]
        return [DAILY_EVENTS.of_day(day) for day in within]


def _by_day(hits: Sequence[StoredHit]) -> dict[datetime, list[StoredHit]]:
    days: dict[datetime, list[StoredHit]] = {}
    for hit in hits:
        days.setdefault(day_of(hit["ts"]), []).append(hit)
    return days
