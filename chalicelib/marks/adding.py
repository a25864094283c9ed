"""Import of marks from another system; they count as other marks, but not in the pace."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from pymongo.client_session import ClientSession

from chalicelib.database import Document, in_transaction
from chalicelib.marks import counters
from chalicelib.marks.changes import delta
from chalicelib.marks.shapes import MARKS, NOTHING, Kind, Mark, counted_of, mark_id
from chalicelib.runtime import Runtime

# Marks in a transaction: few, so that it holds up other writers only briefly.
_AT_ONCE = 1_000


class GivenMark(NamedTuple):
    """A person's mark to import: a vote (0: none) and reactions; `at`: the time of the mark."""

    thing_id: str
    user_id: str
    at: datetime
    vote: Literal[-1, 0, 1]
    reactions: tuple[str, ...] = ()


def add(runtime: Runtime, kind: Kind, given: Sequence[GivenMark]) -> None:
    """Store and count marks; if a person has a mark on a thing already, that mark stays as it is.

    Each 1,000 marks are one transaction with their counts: a repeat after a crash counts no mark
    twice.
    """
    for first in range(0, len(given), _AT_ONCE):
        _add(runtime, kind, given[first : first + _AT_ONCE])


def _add(runtime: Runtime, kind: Kind, given: Sequence[GivenMark]) -> None:
    rows = MARKS.of(runtime.database)
    wanted = {mark_id(kind, each.thing_id, each.user_id): each for each in given}

    def work(session: ClientSession) -> None:
        named = {"_id": {"$in": list(wanted)}}
        there = {row["_id"] for row in rows.find(named, {"_id": 1}, session=session)}
        made: dict[str, list[Mark]] = {}
        for key, mark in wanted.items():
            if key not in there:
                made.setdefault(mark.thing_id, []).append(_row(key, mark))
        if not made:
            return
        rows.insert_many([mark for of in made.values() for mark in of], session=session)
        changes = [(thing_id, _counting(runtime, kind, of)) for thing_id, of in made.items()]
        counters.add(runtime.database, kind, changes, session)

    in_transaction(runtime.database, work)


def _counting(runtime: Runtime, kind: Kind, made: Sequence[Mark]) -> list[Document]:
    """Return the update that counts imported marks, but not in the pace: they are not recent."""
    counted = delta((NOTHING, counted_of(mark)) for mark in made)
    return counters.stages(kind, counted._replace(marks=0), runtime.now(), runtime.bounds.marks)


def _row(key: str, mark: GivenMark) -> Mark:
    return {
        "_id": key,
        "user_id": mark.user_id,
        "at": mark.at,
        "vote": mark.vote,
        "reactions": list(mark.reactions),
    }
