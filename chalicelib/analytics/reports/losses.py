"""Losses of reports: faults of beacons, and hits that count as `*other*`.

Reports count losses by cause, for the publisher. A receipt makes the faults of a beacon count once,
however often the beacon comes.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypedDict

from pymongo import ASCENDING, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics.hits import DIMENSIONS, OTHER, WHOLE_SITE, Hits, day_of
from chalicelib.analytics.logs import receipts
from chalicelib.analytics.reports.days import DAYS, SOURCES, Place, Subject, name_of
from chalicelib.database import Document

# A beacon has its first hit's id. The mark, which no hit's id has, makes the two receipts differ.
_MARK = "~"
_COUNTED = ("hits", "bots", "feeds")
_FIELDS = ("day", "path", "dimension", "value", "dropped", "causes", *_COUNTED)


class DroppedRow(TypedDict):
    """The faults of one beacon; `_id` is `site:~id`."""

    _id: str
    site: str
    ts: datetime
    faults: dict[str, int]


class Loss(NamedTuple):
    """The losses of a day: faults of beacons, and by group the counts of `*other*`."""

    day: datetime
    dropped: Counter[str]
    other: dict[str, Counter[str]]


def rows_of(messages: Sequence[Hits], oldest: datetime) -> list[DroppedRow]:
    """Return the faults of messages, each beacon's once, without beacons before `oldest`."""
    found: dict[str, DroppedRow] = {}
    for message in messages:
        dropped = message.dropped
        if dropped is not None and dropped.at >= oldest:
            name = f"{message.site}:{_MARK}{dropped.id}"
            row: DroppedRow = {
                "_id": name,
                "site": message.site,
                "ts": dropped.at,
                "faults": dropped.faults,
            }
            found.setdefault(name, row)
    return list(found.values())


def count(
    database: Database[Document], session: ClientSession, dropped: Sequence[DroppedRow], shard: int
) -> None:
    """Add claimed faults to their days, in the caller's transaction; skip counted faults."""
    fresh = receipts.settle(database, session, dropped)
    updates = [_update(row, shard) for row in dropped if row["_id"] in fresh]
    if updates:
        DAYS.of(database).bulk_write(updates, ordered=False, session=session)


def _update(row: DroppedRow, shard: int) -> UpdateOne:
    day = day_of(row["ts"])
    name = name_of(Place(Subject(row["site"], None, WHOLE_SITE), day), shard)
    this = {"_id": name, "site": row["site"], "path": WHOLE_SITE, "day": day}
    counts = {f"dropped.{fault}": number for fault, number in row["faults"].items()}
    change = {"$inc": counts, "$setOnInsert": {"shard": shard}}
    return UpdateOne(this, change, upsert=True, hint=[("_id", ASCENDING)])


def read(database: Database[Document], site: str, start: datetime, end: datetime) -> list[Loss]:
    """Return the losses of each UTC day of a span, the earliest first; skip days without losses."""
    days = {"$gte": day_of(start), "$lt": end}
    fields = {"_id": 0, **dict.fromkeys(_FIELDS, 1)}
    of_pages = {"site": site, "path": {"$in": [WHOLE_SITE, OTHER]}, "day": days}
    of_sources = {"site": site, "dimension": {"$in": list(DIMENSIONS)}, "day": days, "value": OTHER}
    found: dict[datetime, Loss] = {}
    for collection, where in ((DAYS, of_pages), (SOURCES, of_sources)):
        rows: Any = collection.of(database)
        for row in rows.find(where, fields):
            loss = found.setdefault(row["day"], Loss(row["day"], Counter(), {}))
            loss.dropped.update(row.get("dropped", {}))
            if WHOLE_SITE not in (row.get("path"), row.get("value")):
                other = loss.other.setdefault(row.get("dimension", "path"), Counter())
                other.update({name: row[name] for name in _COUNTED if name in row})
                causes = row.get("causes", {}).items()
                other.update({f"causes.{cause}": number for cause, number in causes})
    return [found[day] for day in sorted(found) if found[day].dropped or found[day].other]
