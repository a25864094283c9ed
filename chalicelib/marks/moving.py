"""Moving marks to a thing's new id, within a transaction of the caller."""

from typing import Any, NamedTuple

from pymongo import ASCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.marks.changes import Delta, delta
from chalicelib.marks.shapes import MARKS, NOTHING, Kind, counted_of, mark_id, marks_on


class Carried(NamedTuple):
    """The number of moved marks, and their counts on the old id (`left`) and new id (`arrived`)."""

    marks: int
    left: Delta
    arrived: Delta


class ChangedId(NamedTuple):
    """A thing's id before and after a move."""

    old: str
    new: str


def carry(
    database: Database[Document],
    kind: Kind,
    ids: ChangedId,
    most: int,
    session: ClientSession,
) -> Carried:
    """Move at most `most` marks of a thing to its new id; 0 `marks` in the result: none is left.

    The caller subtracts `left` from the old id's counter, and adds `arrived` to the new id's
    counter. Of a person with marks on both ids, the mark on the new id stays, and the mark on the
    old id goes.
    """
    rows = MARKS.of(database)
    some = rows.find(marks_on(kind, ids.old), session=session).sort("_id", ASCENDING)
    found = list(some.limit(most))
    if not found:
        return Carried(0, Delta(), Delta())
    carried: list[Any] = [
        {**mark, "_id": mark_id(kind, ids.new, mark["user_id"])} for mark in found
    ]
    named = {"_id": {"$in": [mark["_id"] for mark in carried]}}
    there = {mark["_id"] for mark in rows.find(named, {"_id": 1}, session=session)}
    rows.delete_many({"_id": {"$in": [mark["_id"] for mark in found]}}, session=session)
    new = [mark for mark in carried if mark["_id"] not in there]
    if new:
        rows.insert_many(new, session=session)
    left, arrived = (delta((NOTHING, counted_of(mark)) for mark in each) for each in (found, new))
    return Carried(len(found), left, arrived)
