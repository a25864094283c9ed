"""Recounting marks: whether every counter has what its marks say."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.marks import counters
from chalicelib.marks.changes import Delta, delta
from chalicelib.marks.shapes import MARKS, NOTHING, counted_of
from chalicelib.marks.things import Kind, marks_on, thing_of

# Of the things that are counted wrongly, so many are named.
_MOST_NAMED = 20


class Verdict(NamedTuple):
    """How many things were recounted, which are counted wrongly, and what is still owed."""

    things: int
    wrong: int
    wrong_ids: list[str]
    owed: int


def verify(database: Database[Document], kind: Kind) -> Verdict:
    """Recount every thing of a kind that has marks or counts, each on a snapshot of its own."""
    things = set(_with_marks(database, kind)) | set(_with_counts(database, kind))
    wrong = [id_ for id_ in sorted(things) if not _is_exact(database, kind, id_)]
    owed = {"_id": _of_kind(kind), "due": {"$exists": True}}
    return Verdict(
        len(things), len(wrong), wrong[:_MOST_NAMED], MARKS.of(database).count_documents(owed)
    )


def _is_exact(database: Database[Document], kind: Kind, thing_id: str) -> bool:
    def work(session: ClientSession) -> bool:
        marks = MARKS.of(database).find(marks_on(kind, thing_id), session=session)
        counted = delta((NOTHING, counted_of(mark)) for mark in marks)
        rows = counters.of(kind, database)
        counter = rows.find_one(counters.kept(kind, thing_id), session=session)
        # The marks of a thing that has gone are about to be deleted.
        return counter is None or _of(counter) == counted._replace(marks=0)

    return in_transaction(database, work)


def _of(counter: Any) -> Delta:
    reactions = sorted(counter.get("reactions", {}).items())
    return Delta(
        counter.get("up", 0),
        counter.get("down", 0),
        tuple((k, n) for k, n in reactions if n),
        flags=counter.get("flags", 0),
    )


def _of_kind(kind: Kind) -> Document:
    # The colon's successor ends the range.
    return {"$gt": f"{kind.name}:", "$lt": f"{kind.name};"}


def _with_marks(database: Database[Document], kind: Kind) -> Iterator[str]:
    for mark in MARKS.of(database).find({"_id": _of_kind(kind)}, {"_id": 1}):
        yield thing_of(mark["_id"])[1]


def _with_counts(database: Database[Document], kind: Kind) -> Iterator[str]:
    fields = dict.fromkeys(("_id", *kind.counters.shard_key), 1)
    for counter in counters.of(kind, database).find({"marking": {"$exists": True}}, fields):
        yield kind.id_of(counter)
