"""The folded design: a mark has a wanted and a counted state, and a worker counts in batches.

A message has the id of a mark, and the mark has the state. So a message may come twice, late or
never: a repeat finds nothing to count, and a sweep sends the message of an overdue mark again.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.jobs.resending import lease_end
from chalicelib.marks import counters
from chalicelib.marks.changes import Change, React, delta, stage
from chalicelib.marks.design import Marked
from chalicelib.marks.errors import TooManyReactions
from chalicelib.marks.messages import CountMark
from chalicelib.marks.shapes import (
    MARKS,
    NO_OPINION,
    NOTHING,
    OWED,
    Kind,
    Kinds,
    Mark,
    Thing,
    counted_of,
    thing_of,
    wanted_of,
)
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime


def place(runtime: Runtime, thing: Thing, user_id: str, change: Change) -> Marked:
    """Store a change of a mark by one update; send its message if a worker has to count it.

    Raises TooManyReactions. The returned counter lacks the change.
    """
    key, now = {"_id": thing.mark_of(user_id)}, runtime.now()
    mark = MARKS.of(runtime.database).find_one_and_update(
        key,
        [_remembering(), stage(change, user_id, now), _owing(lease_end(runtime))],
        upsert=change.adds,
        return_document=ReturnDocument.AFTER,
    )
    if mark is None:
        return Marked(NOTHING, thing.found)
    mine = wanted_of(mark)
    if isinstance(change, React) and change.adds and change.key not in mine.reactions:
        raise TooManyReactions
    if "due" in mark:
        runtime.queues.send(CountMark(mark_id=mark["_id"]))
    return Marked(mine, thing.found)


def _remembering() -> Document:
    """Return the stage that sets a missing `counted` to the opinion that the counter has.

    Without `counted`, the counter has the whole opinion of a mark, and none of a shadowed mark.
    """
    return {"$set": {"counted": {"$ifNull": ["$counted", _COUNTING]}}}


# The part of a mark that counts: its opinion, or none if the mark is shadowed.
_COUNTING: Document = {
    "$cond": [
        {"$eq": ["$shadowed", True]},
        {"$literal": NO_OPINION},
        {"vote": {"$ifNull": ["$vote", 0]}, "reactions": {"$ifNull": ["$reactions", []]}},
    ]
}


def _owing(due: datetime) -> Document:
    """Return the stage that sets a missing `due`, or removes `counted` and `due` if all is counted.

    An empty mark has `due` even if its change needs no counting, so that `fold` deletes the mark.
    """
    is_counted: Document = {
        "$let": {
            "vars": {"counting": _COUNTING},
            "in": {
                "$and": [
                    {"$eq": ["$counted.vote", "$$counting.vote"]},
                    {"$setEquals": ["$counted.reactions", "$$counting.reactions"]},
                ]
            },
        }
    }
    has_flag = {"$gt": ["$flag", None]}
    says = {"$or": [{"$ne": ["$vote", 0]}, {"$ne": ["$reactions", []]}, has_flag]}
    is_done = {"$and": [is_counted, says]}
    return {
        "$set": {
            "counted": {"$cond": [is_counted, "$$REMOVE", "$counted"]},
            "due": {"$cond": [is_done, "$$REMOVE", {"$ifNull": ["$due", due]}]},
        }
    }


def fold(runtime: Runtime, kinds: Kinds, mark_ids: Sequence[str]) -> int:
    """Count the uncounted changes of marks in one transaction; return the number of counted marks.

    It deletes empty marks, and leaves marks of unknown kinds to a newer release.
    """
    database, ids = runtime.database, sorted(set(mark_ids))

    def work(session: ClientSession) -> int:
        found = list(MARKS.of(database).find({"_id": {"$in": ids}}, session=session))
        known = [mark for mark in found if thing_of(mark["_id"])[0] in kinds]
        owed = [mark for mark in known if "counted" in mark]
        _settle(database, known, session)
        for kind, marks in _by_kind(kinds, owed):
            _count(runtime, kind, marks, session)
        if len(known) < len(found):
            fields = {"marks": len(found) - len(known)}
            log.warning("marks left to a newer release", extra={"fields": fields})
        return len(owed)

    return in_transaction(database, work) if ids else 0


def _settle(database: Database[Document], marks: Iterable[Mark], session: ClientSession) -> None:
    """Remove the fields `OWED` from counted marks, and delete empty marks."""
    rows = MARKS.of(database)
    said = [mark for mark in marks if wanted_of(mark) != NOTHING]
    empty = [mark["_id"] for mark in marks if wanted_of(mark) == NOTHING]
    owed = [mark["_id"] for mark in said if "counted" in mark]
    if owed:
        rows.update_many(
            {"_id": {"$in": owed}}, {"$unset": dict.fromkeys(OWED, "")}, session=session
        )
    if empty:
        rows.delete_many({"_id": {"$in": empty}}, session=session)


def _by_kind(kinds: Kinds, marks: Iterable[Mark]) -> list[tuple[Kind, list[Mark]]]:
    found: dict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        found[thing_of(mark["_id"])[0]].append(mark)
    return [(kinds[name], found[name]) for name in sorted(found)]


def _count(runtime: Runtime, kind: Kind, marks: list[Mark], session: ClientSession) -> None:
    """Add the marks' uncounted changes to their counters; delete the marks of missing things."""
    on: dict[str, list[Mark]] = defaultdict(list)
    for mark in marks:
        on[thing_of(mark["_id"])[1]].append(mark)
    sums = {
        id_: delta((counted_of(mark), wanted_of(mark)) for mark in each) for id_, each in on.items()
    }
    now, bounds = runtime.now(), runtime.bounds.marks
    changes = [(id_, counters.stages(kind, by, now, bounds)) for id_, by in sums.items()]
    gone = counters.add(runtime.database, kind, changes, session)
    if gone:
        ids = [mark["_id"] for id_ in gone for mark in on[id_]]
        MARKS.of(runtime.database).delete_many({"_id": {"$in": ids}}, session=session)
