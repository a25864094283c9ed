"""Rewriting stored documents part by part, while traffic flows: the third kind of migration.

A release that stores something in another way reads both ways, and writes the new one. What it
does not write to stays as it was, until a rewrite brings it up to date (MongoDB Applied Design
Patterns, ch. 2: "Schema Evolution"). A rewrite may be cut short, repeated and run twice at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, NamedTuple, TypedDict

from pymongo import ASCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import WriteError

from chalicelib.database.connection import Collection, Document, in_transaction
from chalicelib.database.validators import AtMost

# Documents between two records of the progress: a second's work or less.
DOCUMENTS_AT_ONCE = 100
# Of those that the server refused, so many are named.
MOST_NAMED = 20


@dataclass(frozen=True)
class Rewrite:
    """What brings the documents of a collection up to date.

    `where` finds those that may need it, which are read by `fields` alone. `change` returns the
    update of such a document, or None if it needs none; what it reads with the session is of
    the moment at which the update is made.
    """

    collection: Collection[Any]
    where: Mapping[str, Any]
    fields: tuple[str, ...]
    change: Callable[[Database[Document], Any, ClientSession], Document | None]


class Progress(TypedDict):
    """How far a rewrite has come: every document up to `after` has been examined.

    `ended` is None while there is more; `refused` counts the documents that the server did not
    take, and names the first of them.
    """

    _id: str
    after: Any
    examined: int
    changed: int
    refused: int
    refused_ids: Annotated[list[Any], AtMost(MOST_NAMED)]
    begun: datetime
    ended: datetime | None


PROGRESS = Collection("plaza.rewrite", Progress)


@dataclass
class _Part:
    """What was done to some documents, up to the one called `after`."""

    after: Any = None
    examined: int = 0
    changed: int = 0
    refused: list[Any] = field(default_factory=list)


class Limits(NamedTuple):
    """When a run ends: it begins no part after `until`, as `now` tells the time."""

    now: Callable[[], datetime]
    until: datetime

    @classmethod
    def of(cls, now: Callable[[], datetime], seconds: int) -> "Limits":
        """Return the limits of a run that may take so many seconds."""
        return cls(now, now() + timedelta(seconds=seconds))


def run(database: Database[Document], name: str, rewrite: Rewrite, limits: Limits) -> Progress:
    """Rewrite documents in the order of their ids, from where the last run stopped.

    Returns the progress; one that has ended begins anew with the next run. Each document is
    read and changed in one transaction, so that nothing that is written meanwhile is lost.
    """
    progress = _begin(database, name, limits.now())
    while progress["ended"] is None and limits.now() < limits.until:
        part = _rewrite_part(database, rewrite, progress["after"])
        progress = _record(database, name, part, limits.now())
    return progress


def _begin(database: Database[Document], name: str, now: datetime) -> Progress:
    """Return the progress of an unfinished run, or of a new one."""
    rows = PROGRESS.of(database)
    found = rows.find_one({"_id": name})
    if found and found["ended"] is None:
        return found
    new: Progress = {
        "_id": name,
        "after": None,
        "examined": 0,
        "changed": 0,
        "refused": 0,
        "refused_ids": [],
        "begun": now,
        "ended": None,
    }
    rows.replace_one({"_id": name}, new, upsert=True)
    return new


def _record(database: Database[Document], name: str, part: _Part, now: datetime) -> Progress:
    """Record what a part has done; the progress never goes back, whoever else runs."""
    counted = {"examined": part.examined, "changed": part.changed, "refused": len(part.refused)}
    change: Document = {
        "$inc": counted,
        "$push": {"refused_ids": {"$each": part.refused, "$slice": MOST_NAMED}},
    }
    if part.examined:
        change["$max"] = {"after": part.after}
    else:
        # The place is of no use any more, and an id may name a person.
        change["$set"] = {"ended": now, "after": None}
    rows = PROGRESS.of(database)
    found = rows.find_one_and_update({"_id": name}, change, return_document=True)
    assert found is not None  # noqa: S101 - it is written before, and never deleted
    return found


def _rewrite_part(database: Database[Document], rewrite: Rewrite, after: Any) -> _Part:
    rows, part = database[rewrite.collection.name], _Part()
    where = {**rewrite.where, **({} if after is None else {"_id": {"$gt": after}})}
    # Without the shard key, a document could not be changed by its id.
    names = [name for name in rewrite.collection.shard_key if "." not in name]
    found = rows.find(where, dict.fromkeys(names, 1)).sort("_id", ASCENDING)
    for key in found.limit(DOCUMENTS_AT_ONCE):
        part.after = key["_id"]
        part.examined += 1
        try:
            part.changed += _rewrite_one(database, rewrite, key)
        except WriteError:
            # By its validator, or its size: the others are not to wait for it.
            part.refused.append(key["_id"])
    return part


def _rewrite_one(database: Database[Document], rewrite: Rewrite, key: Document) -> bool:
    rows, fields = database[rewrite.collection.name], dict.fromkeys(rewrite.fields, 1)

    def work(session: ClientSession) -> bool:
        # Again, as it may have been changed, or have gone, since its id was read.
        document = rows.find_one({**rewrite.where, **key}, fields, session=session)
        change = document and rewrite.change(database, document, session)
        if not change:
            return False
        return rows.update_one(key, change, session=session).matched_count == 1

    return in_transaction(database, work)
