"""Removing the marks of a person, or of a deleted thing."""

from datetime import datetime

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.database import Document, delete_some, in_transaction, prefix_range
from chalicelib.marks import counters
from chalicelib.marks.changes import delta
from chalicelib.marks.shapes import MARKS, NOTHING, Kind, Kinds, counted_of, marks_on, thing_of
from chalicelib.runtime import Runtime


def remove_from(database: Database[Document], kind: Kind, thing_id: str) -> None:
    """Delete all marks on a thing; leave the counts."""
    MARKS.of(database).delete_many(marks_on(kind, thing_id))


def remove_below(
    database: Database[Document], kind: Kind, prefix: str, until: datetime, most: int
) -> bool:
    """Delete up to `most` marks placed by `until` on things whose ids begin with a prefix.

    The counters stay as they are. Returns whether more may remain.
    """
    below: Document = {"_id": prefix_range(f"{kind.name}:{prefix}"), "at": {"$lte": until}}
    return delete_some(MARKS.of(database), below, most) == most


def take_back(runtime: Runtime, kinds: Kinds, user_id: str, until: datetime | None = None) -> bool:
    """Delete a person's marks placed by `until`, and subtract their counts; None: all marks.

    It stops after half of the remaining time, and returns whether more may remain.
    """
    has_time = deadlines.share(0.5)
    mine: Document = {"user_id": user_id, **({"at": {"$lte": until}} if until else {})}
    for mark in MARKS.of(runtime.database).find(mine, {"_id": 1}):
        _take_back(runtime, kinds, {**mine, "_id": mark["_id"]})
        if not has_time():
            return True
    return False


def _take_back(runtime: Runtime, kinds: Kinds, key: Document) -> None:
    database = runtime.database
    name, thing_id = thing_of(key["_id"])

    def work(session: ClientSession) -> None:
        mark = MARKS.of(database).find_one_and_delete(key, session=session)
        by = delta([(counted_of(mark), NOTHING)])
        if mark is None or by.is_nothing:
            return
        kind = kinds[name]
        stages = counters.stages(kind, by, runtime.now(), runtime.bounds.marks)
        # A missing thing has no counts to lower.
        counters.add(database, kind, [(thing_id, stages)], session)

    in_transaction(database, work)
