"""Positions and entries in a listing, newest first, and times in cursors."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from chalicelib.database import Document

# What is listed: a post, a comment or an action.
Listed = TypeVar("Listed", bound=Mapping[str, Any])
Listed_co = TypeVar("Listed_co", bound=Mapping[str, Any], covariant=True)


class Position(NamedTuple):
    """The place of a post in every view, or of an action in a feed or a listing."""

    ts: datetime
    post_id: str


class Entry(NamedTuple, Generic[Listed_co]):
    """A place in a listing; what was listed there may be gone."""

    position: Position
    post: Listed_co | None


def older_than(position: Position | None, ts: str, post_id: str) -> Document:
    """Return the filter for what follows a position, by the names of its two fields.

    The range on `ts` is a condition of its own, so that it bounds an index.
    """
    if position is None:
        return {}
    earlier, same = {ts: {"$lt": position.ts}}, {post_id: {"$lt": position.post_id}}
    return {ts: {"$lte": position.ts}, "$or": [earlier, same]}


def newer_than(position: Position, ts: str, post_id: str) -> Document:
    """Return the filter for what comes after a position, oldest first."""
    later, same = {ts: {"$gt": position.ts}}, {post_id: {"$gt": position.post_id}}
    return {ts: {"$gte": position.ts}, "$or": [later, same]}


def merge(count: int, *lists: Sequence[Entry[Listed]]) -> list[Entry[Listed]]:
    """Return the newest of several lists of entries, a post that is in two of them once."""
    entries: dict[Position, Entry[Listed]] = {}
    for entry in (entry for each in lists for entry in each):
        if entry.post or entry.position not in entries:
            entries[entry.position] = entry
    return sorted(entries.values(), key=lambda entry: entry.position, reverse=True)[:count]


def dated(position: Sequence[Any] | None) -> Position | None:
    """Return the position of a cursor that has its time as text (ISO 8601)."""
    return Position(datetime.fromisoformat(position[0]), position[1]) if position else None
