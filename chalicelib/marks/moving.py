"""Marks of things that get other ids: carried there within transactions of the feature's own."""

from typing import Any, NamedTuple

from pymongo import ASCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.marks.changes import Delta, delta
from chalicelib.marks.shapes import MARKS, NOTHING, Kind, counted_of, mark_id, marks_on


class Carried(NamedTuple):
    """How many marks were carried, what was counted of them, and what is counted there of those."""

    marks: int
    left: Delta
    arrived: Delta


def carry(
    database: Database[Document],
    kind: Kind,
    ids: tuple[str, str],
    most: int,
    session: ClientSession,
) -> Carried:
    """Give at most so many marks of a thing to another; `ids` are of both.

    The caller takes what `left` from the thing's counter, and adds what `arrived` to the other's.
    Who has marked both keeps the mark on the other, and what is counted of the first goes.
    """
    thing_id, to = ids
    rows = MARKS.of(database)
    some = rows.find(marks_on(kind, thing_id), session=session).sort("_id", ASCENDING)
    found = list(some.limit(most))
    if not found:
        return Carried(0, Delta(), Delta())
    carried: list[Any] = [{**mark, "_id": mark_id(kind, to, mark["user_id"])} for mark in found]
    named = {"_id": {"$in": [mark["_id"] for mark in carried]}}
    there = {mark["_id"] for mark in rows.find(named, {"_id": 1}, session=session)}
    rows.delete_many({"_id": {"$in": [mark["_id"] for mark in found]}}, session=session)
    new = [mark for mark in carried if mark["_id"] not in there]
    if new:
        rows.insert_many(new, session=session)
    left, arrived = (delta((NOTHING, counted_of(mark)) for mark in each) for each in (found, new))
    return Carried(len(found), left, arrived)
