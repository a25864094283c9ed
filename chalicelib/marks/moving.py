"""Marks of things that get other ids: carried there within a transaction of the feature's own."""

from typing import Any

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.marks.changes import Delta, delta
from chalicelib.marks.shapes import MARKS, NOTHING, counted_of
from chalicelib.marks.things import Kind, mark_id, marks_on


def carry(
    database: Database[Document], kind: Kind, thing_id: str, to: str, session: ClientSession
) -> Delta:
    """Give the marks of a thing to another; return by how much less is counted there.

    The caller adds the thing's counts to the other's. Who has marked both keeps the mark on the
    other, and what is counted of the first goes.
    """
    rows = MARKS.of(database)
    found = list(rows.find(marks_on(kind, thing_id), session=session))
    if not found:
        return Delta()
    carried: list[Any] = [{**mark, "_id": mark_id(kind, to, mark["user_id"])} for mark in found]
    ids = {"_id": {"$in": [mark["_id"] for mark in carried]}}
    there = {mark["_id"] for mark in rows.find(ids, {"_id": 1}, session=session)}
    rows.delete_many({"_id": {"$in": [mark["_id"] for mark in found]}}, session=session)
    new = [mark for mark in carried if mark["_id"] not in there]
    if new:
        rows.insert_many(new, session=session)
    dropped = [mark for mark in carried if mark["_id"] in there]
    return delta((counted_of(mark), NOTHING) for mark in dropped)
