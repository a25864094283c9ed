"""Marks of a page of comments: the counts and a reader's own marks, in one round trip."""

from collections.abc import Iterable
from typing import Any

from pymongo.database import Database

from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import ENTRIES, key_of
from chalicelib.comments.mark_answers import Marks
from chalicelib.comments.shapes import Node
from chalicelib.database import Document
from chalicelib.marks import reading
from chalicelib.marks.shapes import State

# The id of the page itself among its comments.
PAGE = ""
COUNTS = ("up", "down", "base", "reactions")
# With the fields that decide whether a caller sees the counts, for calls without the comments.
GUARDED_COUNTS = (*COUNTS, "author_id", "posted", "state", "shadow")


def read(
    database: Database[Document],
    node: Node,
    ids: Iterable[str],
    user_id: str | None,
    fields: Iterable[str] = COUNTS,
) -> Marks:
    """Return these fields of entries, and a person's own marks, both by comment id or PAGE."""
    keys = [key_of(node, each) for each in dict.fromkeys(ids)]
    counts: dict[str, Any] = {}
    mine: dict[str, State] = {}
    for row in _rows(database, node, keys, user_id, dict.fromkeys(fields, 1)):
        said = reading.state_of_row(row)
        if said is None:
            counts[_comment_id(row["_id"])] = row
        else:
            mine[_comment_id(said.thing_id)] = said.state
    return Marks(counts, mine)


def _rows(
    database: Database[Document],
    node: Node,
    keys: list[Document],
    user_id: str | None,
    fields: Document,
) -> Iterable[Any]:
    """Return entries and the person's marks on them."""
    where: Document = {"site": node["site"], "_id": {"$in": [key["_id"] for key in keys]}}
    rows: Any = ENTRIES.of(database)
    if user_id is None:
        return rows.find(where, fields)  # type: ignore[no-any-return]
    mine = reading.with_mine(user_id, KIND, map(thing_id, keys))
    stages = [{"$match": where}, {"$project": fields}, mine]
    return rows.aggregate(stages)  # type: ignore[no-any-return]


def _comment_id(id_: str) -> str:
    return id_.rpartition("/")[2]
