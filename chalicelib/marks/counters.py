"""Counters of marks: the counts on a thing's own document, and the pace of their changes.

The update that counts a mark also stores the counting design of the thing: `folded`, which
counts in batches, for a hot thing. So a change of design takes no further write, and all containers
see the same design.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.operations import UpdateOne

from chalicelib.bounds import MarkBounds
from chalicelib.database import Document
from chalicelib.marks.changes import Delta
from chalicelib.marks.shapes import Kind, is_key

_MINUTE = "$marking.minute"


def of(kind: Kind, database: Database[Document]) -> MongoCollection[Any]:
    """Return the collection of a kind's counters."""
    return kind.counters.of(database)


def filter_of(kind: Kind, thing_id: str) -> Document:
    """Return the filter of a thing's counter; it matches no thing outside the kind's `keeps`."""
    return {**kind.key(thing_id), **kind.keeps}


def stages(kind: Kind, change: Delta, now: datetime, bounds: MarkBounds) -> list[Document]:
    """Return the pipeline that adds a sum of changes to a counter, and sets its derived fields."""
    counts: Document = {}
    for name, by in (("up", change.up), ("down", change.down)):
        if by:
            counts[name] = {"$add": [{"$ifNull": [f"${name}", 0]}, by]}
    for key, by in change.reactions:
        counts[f"reactions.{key}"] = _sum(key, by)
    if change.flags:
        counts["flags"] = {"$add": [{"$ifNull": ["$flags", 0]}, change.flags]}
    if change.reports:
        counts["reports"] = {"$add": [{"$ifNull": ["$reports", 0]}, change.reports]}
    marking = {"$set": {"marking": _marking(change.marks, now, bounds)}}
    follows = [*kind.derived(), *(kind.reported() if change.reports else [])]
    return [*([{"$set": counts}] if counts else []), *follows, marking]


def owing(owes: Mapping[str, Any], now: datetime) -> Document:
    """Return the stage that sets a missing `hold_at` if `owes` is true.

    If `owes` is false, the stage removes `hold_at`.
    """
    since = {"$cond": [owes, {"$ifNull": ["$hold_at", now]}, "$$REMOVE"]}
    return {"$set": {"hold_at": since}}


def _sum(key: str, by: int) -> Document:
    """Return the new count of a reaction; a count of 0 has no field."""
    if not is_key(key):
        raise ValueError(f"{key!r} is no key of a reaction")
    total = {"$add": [{"$ifNull": [f"$reactions.{key}", 0]}, by]}
    return {"$cond": [{"$eq": [total, 0]}, "$$REMOVE", total]}


def _marking(marks: int, now: datetime, bounds: MarkBounds) -> Document:
    """Return the new `marking`: the marks of this minute, and the design for the next marks.

    A folded thing stays folded until the first counted change after `quiet_minutes` without any.
    Withdrawals are changes, too.
    """
    minute = now.replace(second=0, microsecond=0)
    before = {"$cond": [{"$eq": [_MINUTE, minute]}, "$marking.marks", 0]}
    total = {"$add": [before, marks]}
    quiet_since = minute - timedelta(minutes=bounds.quiet_minutes)
    stays = {"$and": [{"$eq": ["$marking.design", "folded"]}, {"$gte": [_MINUTE, quiet_since]}]}
    is_hot = {"$gte": [total, bounds.hot_marks_a_minute]}
    return {
        "minute": minute,
        "marks": total,
        "design": {"$cond": [{"$or": [is_hot, stays]}, "folded", "$$REMOVE"]},
    }


def add(
    database: Database[Document],
    kind: Kind,
    changes: list[tuple[str, list[Document]]],
    session: ClientSession,
) -> set[str]:
    """Update the counters of things by their stages; return the ids of things without a counter.

    Call it last in a transaction: all people's marks on a thing write the same counter.
    """
    rows = of(kind, database)
    updates = [UpdateOne(filter_of(kind, id_), update) for id_, update in sorted(changes, key=_id)]
    if rows.bulk_write(updates, session=session).matched_count == len(updates):
        return set()
    ids = [thing_id for thing_id, _ in changes]
    return {
        id_
        for id_ in ids
        if rows.find_one(filter_of(kind, id_), {"_id": 1}, session=session) is None
    }


def _id(change: tuple[str, list[Document]]) -> str:
    return change[0]
