"""Recounts of marks, and their comparison with the counters."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pymongo import ASCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction, prefix_range
from chalicelib.marks import counters
from chalicelib.marks.changes import Delta, delta
from chalicelib.marks.shapes import MARKS, NOTHING, Kind, counted_of, marks_on, thing_of

# The maximum length of `wrong_ids`.
_MOST_NAMED = 20
_SAID = dict.fromkeys(("vote", "reactions", "shadowed", "flag", "counted"), 1)

_Walk = Callable[[Database[Document], Kind, str], Iterator[tuple[str, bool]]]


class Verdict(NamedTuple):
    """The result of a recount.

    things: the number of recounted things. wrong: the number of wrongly counted things.
    wrong_ids: the first 20 of the wrong things.
    owed: the number of the kind's marks that wait for a worker.
    next: the `after` of the next call; None at the end.
    """

    things: int
    wrong: int
    wrong_ids: list[str]
    owed: int
    next: str | None


def verify(database: Database[Document], kind: Kind, after: str = "", most: int = 1_000) -> Verdict:
    """Recount at most `most` things of a kind, each on its own snapshot.

    Successive calls recount first the things with marks, then the things with counts but no marks.
    `after` is the `next` of the last call, or "" to begin; raises ValueError for any other.
    """
    walk, _, place = (after or f"{_MARKS} ").partition(" ")
    if walk not in _WALKS:
        raise ValueError("after has to be the `next` of an answer")
    found = list(itertools.islice(_WALKS[walk](database, kind, place), most))
    things = [thing_id for thing_id, is_marked in found if is_marked == (walk == _MARKS)]
    wrong = [id_ for id_ in things if not _is_exact(database, kind, id_)]
    owed = {"_id": _of_kind(kind), "due": {"$exists": True}}
    following = f"{walk} {found[-1][0]}" if len(found) == most else None
    if following is None and walk == _MARKS:
        following = f"{_COUNTERS} "
    return Verdict(
        len(things),
        len(wrong),
        wrong[:_MOST_NAMED],
        MARKS.of(database).count_documents(owed),
        following,
    )


def _is_exact(database: Database[Document], kind: Kind, thing_id: str) -> bool:
    def work(session: ClientSession) -> bool:
        marks = MARKS.of(database).find(marks_on(kind, thing_id), _SAID, session=session)
        counted = delta((NOTHING, counted_of(mark)) for mark in marks)
        rows = counters.of(kind, database)
        counter = rows.find_one(counters.filter_of(kind, thing_id), session=session)
        # A missing thing has no counts to compare; its marks go soon.
        return counter is None or _of(counter) == counted._replace(marks=0)

    return in_transaction(database, work)


def _of(counter: Any) -> Delta:
    reactions = sorted(counter.get("reactions", {}).items())
    return Delta(
        counter.get("up", 0),
        counter.get("down", 0),
        tuple((k, n) for k, n in reactions if n),
        flags=counter.get("flags", 0),
        reports=counter.get("reports", 0),
    )


def _of_kind(kind: Kind) -> Document:
    return prefix_range(f"{kind.name}:")


def _with_marks(database: Database[Document], kind: Kind, after: str) -> Iterator[tuple[str, bool]]:
    """Yield (thing, True) of things with marks, by the marks' ids; one index read for each."""
    beyond = _of_kind(kind)
    while True:
        if after:
            # The successor of the @ ends the marks of a thing.
            beyond = {**beyond, "$gt": f"{kind.name}:{after}A"}
        mark = MARKS.of(database).find_one({"_id": beyond}, {"_id": 1}, sort=[("_id", ASCENDING)])
        if mark is None:
            return
        after = thing_of(mark["_id"])[1]
        yield after, True


def _with_counts(
    database: Database[Document], kind: Kind, after: str
) -> Iterator[tuple[str, bool]]:
    """Yield (thing, whether it has marks) of things with counts, by the counters' `_id`."""
    fields = dict.fromkeys(("_id", *kind.counters.shard_key), 1)
    where: Document = {"marking": {"$exists": True}}
    if after:
        where["_id"] = {"$gt": kind.key(after)["_id"]}
    rows = counters.of(kind, database).find(where, fields).sort("_id", ASCENDING)
    for counter in rows:
        thing_id = kind.id_of(counter)
        mark = MARKS.of(database).find_one(marks_on(kind, thing_id), {"_id": 1})
        yield thing_id, mark is not None


_MARKS, _COUNTERS = "marks", "counters"
_WALKS: Mapping[str, _Walk] = {_MARKS: _with_marks, _COUNTERS: _with_counts}
