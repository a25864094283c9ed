"""The export of a person: all data that Plaza stores of them, page by page."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from bson import json_util
from pydantic import Field
from pymongo import ASCENDING
from pymongo.database import Database
from typing_extensions import TypedDict

from chalicelib.database import Document
from chalicelib.errors import InvalidCursor
from chalicelib.http import MAX_PAGE, PageQuery
from chalicelib.http.paging import Cursors, Next, page_of
from chalicelib.people.features import ExportEntry, KeptText, People, Trace
from chalicelib.people.jobs import traces_of
from chalicelib.runtime import Runtime

# The most kinds of texts that an erasure leaves.
MAX_KEPT = 20


class ErasureAnswer(TypedDict):
    """How far the erasure of a person has come."""

    remaining: Annotated[
        int,
        Field(
            ge=0,
            description="Documents that are the person's or name the person; 0 when all are gone.",
            examples=[17],
        ),
    ]
    kept: Annotated[
        list[KeptText],
        Field(
            max_length=MAX_KEPT,
            description="Texts of others that may name the person and that no erasure finds, each "
            "with the reason. `remaining` does not count them.",
        ),
    ]


class ExportAnswer(TypedDict):
    """A page of what is stored of a person."""

    entries: Annotated[list[ExportEntry], Field(max_length=MAX_PAGE)]
    next: Next


# A node of comments can have several megabytes, and MongoDB sorts this many nodes in memory.
_DOCUMENTS_AT_ONCE = 20


class ExportPosition(NamedTuple):
    """A place in an export; `given` counts the entries of the document up to this place."""

    trace: str
    document_id: Any
    given: int


def page(runtime: Runtime, people: People, user_id: str, query: PageQuery) -> ExportAnswer:
    """Return a page of a person's export; raises InvalidCursor."""
    cursors = Cursors(f"export:{user_id}", runtime.settings.signing_keys)
    after = _decode(cursors.position(query))
    entries = _entries(runtime.database, people, user_id, after)
    shown, last = page_of(list(itertools.islice(entries, query.limit + 1)), query.limit)
    return {
        "entries": [entry for _, entry in shown],
        "next": cursors.following(_encode(last[0]) if last else None),
    }


def _entries(
    database: Database[Document], people: People, user_id: str, after: ExportPosition | None
) -> Iterator[tuple[ExportPosition, ExportEntry]]:
    """Yield the entries after a position, each with its own position."""
    found = traces_of(database, people, user_id)
    if after:
        names = [trace.name for trace in found]
        if after.trace not in names:
            raise InvalidCursor
        found = found[names.index(after.trace) :]
    for trace in found:
        begun = after if after and after.trace == trace.name else None
        for document in _documents(trace, begun):
            is_begun = begun and document["_id"] == begun.document_id
            given = begun.given if begun and is_begun else 0
            for number, entry in enumerate(trace.show(document), 1):
                if number > given:
                    yield ExportPosition(trace.name, document["_id"], number), entry


def _documents(trace: Trace, begun: ExportPosition | None) -> Iterator[Any]:
    """Yield the documents of a trace in the order of their ids; `begun`: from its document on."""
    if trace.not_shown:
        return
    since: Document = {"_id": {"$gte": begun.document_id}} if begun else {}
    while True:
        where = {"$and": [trace.where, since]}
        rows = trace.rows.find(where).sort("_id", ASCENDING).limit(_DOCUMENTS_AT_ONCE)
        documents = list(rows)
        yield from documents
        if len(documents) < _DOCUMENTS_AT_ONCE:
            return
        since = {"_id": {"$gt": documents[-1]["_id"]}}


def _encode(position: ExportPosition) -> list[Any]:
    return [position.trace, json_util.dumps(position.document_id), position.given]


def _decode(position: Sequence[Any] | None) -> ExportPosition | None:
    if position is None:
        return None
    trace, document_id, given = position
    return ExportPosition(trace, json_util.loads(document_id), given)
