"""Rewriting stored documents part by part under traffic: the third kind of migration.

A release with a new form of documents reads both forms and writes the new form. Documents that it
does not write keep the old form until a rewrite (MongoDB Applied Design Patterns, ch. 2: "Schema
Evolution"). A rewrite may stop early, be repeated, and run twice at once.
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

# Documents between two records of the progress: at most a second's work.
DOCUMENTS_AT_ONCE = 100
# Refused documents that the progress names.
MOST_NAMED = 20


@dataclass(frozen=True)
class DocumentRewrite:
    """A change that brings the documents of a collection up to date.

    `where` finds documents that may need it; only their `fields` are read. `change` returns the
    update of a document, or None: it needs no update. It reads with the session of the update's
    transaction.
    """

    collection: Collection[Any]
    where: Mapping[str, Any]
    fields: tuple[str, ...]
    change: Callable[[Database[Document], Any, ClientSession], Document | None]


class RewriteProgress(TypedDict):
    """The progress of a rewrite: it has examined every document up to `after`.

    `ended` None: documents remain. `refused` counts the documents that the server refused;
    `refused_ids` names the first of them.
    """

    _id: str
    after: Any
    examined: int
    changed: int
    refused: int
    refused_ids: Annotated[list[Any], AtMost(MOST_NAMED)]
    begun: datetime
    ended: datetime | None


PROGRESS = Collection("plaza.rewrite", RewriteProgress)


@dataclass
class _Part:
    """The result of a part: documents up to `after`."""

    after: Any = None
    examined: int = 0
    changed: int = 0
    refused: list[Any] = field(default_factory=list)


class Limits(NamedTuple):
    """The end of a run: it begins no part after `until` by the clock `now`."""

    now: Callable[[], datetime]
    until: datetime

    @classmethod
    def of(cls, now: Callable[[], datetime], seconds: int) -> "Limits":
        """Return the limits of a run of `seconds`."""
        return cls(now, now() + timedelta(seconds=seconds))


def run(
    database: Database[Document], name: str, rewrite: DocumentRewrite, limits: Limits
) -> RewriteProgress:
    """Rewrite documents in the order of their ids, from where the last run stopped.

    Returns the progress; after the end, the next run begins anew. A transaction reads and changes
    each document, so that no concurrent write is lost.
    """
    progress = _begin(database, name, limits.now())
    while progress["ended"] is None and limits.now() < limits.until:
        part = _rewrite_part(database, rewrite, progress["after"])
        progress = _record(database, name, part, limits.now())
    return progress


def _begin(database: Database[Document], name: str, now: datetime) -> RewriteProgress:
    """Return the progress of an unfinished run, or of a new run."""
    rows = PROGRESS.of(database)
    found = rows.find_one({"_id": name})
    if found and found["ended"] is None:
        return found
    new: RewriteProgress = {
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


def _record(database: Database[Document], name: str, part: _Part, now: datetime) -> RewriteProgress:
    """Record a part's result; the progress never goes back, even with concurrent runs."""
    counted = {"examined": part.examined, "changed": part.changed, "refused": len(part.refused)}
    change: Document = {
        "$inc": counted,
        "$push": {"refused_ids": {"$each": part.refused, "$slice": MOST_NAMED}},
    }
    if part.examined:
        change["$max"] = {"after": part.after}
    else:
        # The place has no more use, and an id may name a person.
        change["$set"] = {"ended": now, "after": None}
    rows = PROGRESS.of(database)
    found = rows.find_one_and_update({"_id": name}, change, return_document=True)
    assert found is not None  # noqa: S101 - `_begin` wrote it, and no code deletes it
    return found


def _rewrite_part(database: Database[Document], rewrite: DocumentRewrite, after: Any) -> _Part:
    rows, part = database[rewrite.collection.name], _Part()
    where = {**rewrite.where, **({} if after is None else {"_id": {"$gt": after}})}
    # An update by id needs the shard key.
    names = [name for name in rewrite.collection.shard_key if "." not in name]
    found = rows.find(where, dict.fromkeys(names, 1)).sort("_id", ASCENDING)
    for key in found.limit(DOCUMENTS_AT_ONCE):
        part.after = key["_id"]
        part.examined += 1
        try:
            part.changed += _rewrite_one(database, rewrite, key)
        except WriteError:
            # Its validator or its size refuses it: go on with the others.
            part.refused.append(key["_id"])
    return part


def _rewrite_one(database: Database[Document], rewrite: DocumentRewrite, key: Document) -> bool:
    rows, fields = database[rewrite.collection.name], dict.fromkeys(rewrite.fields, 1)

    def work(session: ClientSession) -> bool:
        # Read again: it may have changed or gone since its id was read.
        document = rows.find_one({**rewrite.where, **key}, fields, session=session)
        change = document and rewrite.change(database, document, session)
        if not change:
            return False
        return rows.update_one(key, change, session=session).matched_count == 1

    return in_transaction(database, work)
