"""Comments as things that people mark; their entries count the marks."""

from collections.abc import Mapping
from typing import Any

from chalicelib.comments.entries.ranking import rank_stages
from chalicelib.comments.entries.reported import unqueue_stages
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.database import Document
from chalicelib.errors import UnknownComment
from chalicelib.marks.shapes import Kind


def thing_id(entry: Mapping[str, Any]) -> str:
    """Return the id of an entry among the things of its kind; a page's id ends with `/`.

    The site comes first: it is the shard key of entries, and ids of old nodes do not name it.
    """
    return f"{entry['site']}/{entry['_id']}"


def _key(id_: str) -> Document:
    site, _, entry_id = id_.partition("/")
    return {"site": site, "_id": entry_id}


def _takes(user_id: str) -> Document:
    own = {"shadow": "visible", "author_id": user_id}
    return {"$or": [{"state": "visible"}, own]}


KIND = Kind(
    name="comment",
    counters=ENTRIES,
    key=_key,
    takes=_takes,
    # A tombstone keeps the counts of its stored marks.
    keeps={},
    missing=UnknownComment,
    derived=rank_stages,
    reported=unqueue_stages,
    id_of=thing_id,
    shown=(
        *("up", "down", "base", "reactions", "marking"),
        *("author_id", "posted", "site", "flags", "hold_at", "featured", "cleared", "revision"),
    ),
)
