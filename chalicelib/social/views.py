"""What every design of the walls and of the news can do."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from chalicelib.database import Document

WallDesign = Literal["copies", "posts"]
NewsDesign = Literal["references", "copies", "pull"]


class Position(NamedTuple):
    """Where a post stands in every view, or an action in a feed or a slice."""

    ts: datetime
    post_id: str


class Entry(NamedTuple):
    """A place in a view; the post, or action, that stood there may be gone."""

    position: Position
    post: Document | None


class View(Protocol):
    """Where the posts of many users' walls, or news, are found.

    A view holds what may be shown: who may see it is asked at reading. Whatever is added,
    changed or removed twice is so once.
    """

    def add(self, posts: Sequence[Document], user_ids: Sequence[str]) -> None:
        """Give each user each post, read with its last comments.

        Raises NotInserted or another failure after bringing them to all others.
        """
        ...

    def refresh(self, post: Document) -> None:
        """Make every copy of a post what the post is, unless it is newer already."""
        ...

    def remove(self, post_id: str) -> None:
        """Take a post from every user."""
        ...

    def take(self, post_ids: Sequence[str], user_id: str) -> None:
        """Take posts from one user."""
        ...

    def erase(self, user_id: str) -> None:
        """Drop all that a user has here."""
        ...

    def count(self, user_id: str) -> int:
        """Count the documents that a user has here."""
        ...

    def newest(self, user_id: str, after: Position | None, count: int) -> list[Entry]:
        """Return what follows a position, newest first: fewer than `count` at the end alone."""
        ...


class NewsView(View, Protocol):
    """The news, and what was sent to a user among them."""

    def trim(self, user_id: str, keep: int) -> bool:
        """Drop what a user has beyond at least so many; tell whether there was any."""
        ...

    def sent(self, user_id: str, after: Position | None, count: int) -> list[Entry]:
        """Return what was perhaps sent to a user, in the same way."""
        ...


def older_than(position: Position | None, ts: str, post_id: str) -> Document:
    """Return the filter for what follows a position, by the names of its two fields.

    The range on `ts` stands by itself, so that it bounds an index.
    """
    if position is None:
        return {}
    earlier, same = {ts: {"$lt": position.ts}}, {post_id: {"$lt": position.post_id}}
    return {ts: {"$lte": position.ts}, "$or": [earlier, same]}


def newer_than(position: Position, ts: str, post_id: str) -> Document:
    """Return the filter for what comes after a position, oldest first."""
    later, same = {ts: {"$gt": position.ts}}, {post_id: {"$gt": position.post_id}}
    return {ts: {"$gte": position.ts}, "$or": [later, same]}


def merge(count: int, *lists: list[Entry]) -> list[Entry]:
    """Return the newest of several lists of entries, a post that is in two of them once."""
    entries: dict[Position, Entry] = {}
    for entry in (entry for each in lists for entry in each):
        if entry.post or entry.position not in entries:
            entries[entry.position] = entry
    return sorted(entries.values(), key=lambda entry: entry.position, reverse=True)[:count]
