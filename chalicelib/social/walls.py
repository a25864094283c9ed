"""Walls: what was written by and to a user, as copies or straight from the posts."""

from collections.abc import Sequence
from typing import Any

from pymongo import DESCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.runtime import Runtime
from chalicelib.social import audiences, blocks, posts, timelines
from chalicelib.social.month_copies import MonthCopies, month_collection
from chalicelib.social.views import Entry, Position, View, older_than
from chalicelib.social.visibility import may_see, without_hidden

WALLS = month_collection("social.wall")


class WallOfPosts:
    """The wall without a collection of its own: two indexes of the posts, merged."""

    def __init__(self, database: Database[Document]) -> None:
        self._posts = posts.collection(database)

    def add(self, posts: Sequence[Document], user_ids: Sequence[str]) -> None:
        """Do nothing, as in all that follows: the posts are the view."""

    def refresh(self, post: Document) -> None:
        """Do nothing."""

    def remove(self, post_id: str) -> None:
        """Do nothing."""

    def take(self, post_ids: Sequence[str], user_id: str) -> None:
        """Do nothing."""

    def erase(self, user_id: str) -> None:
        """Do nothing."""

    def count(self, user_id: str) -> int:  # noqa: ARG002 - nobody has anything here
        """Count nothing."""
        return 0

    def newest(self, user_id: str, after: Position | None, count: int) -> list[Entry]:
        """Return what was written by and to a user after a position, newest first."""
        where = {"deleted": False, **older_than(after, "ts", "_id")}
        order = [("ts", DESCENDING), ("_id", DESCENDING)]
        # Asked one by one: with the position's own `$or` inside, the two would not be merged.
        found: dict[str, Document] = {}
        for side in ("by.id", "wall"):
            rows = self._posts.find({side: user_id, **where}, posts.BODY).sort(order)
            found |= {row["_id"]: posts.shown(row) for row in rows.limit(count)}
        entries = [Entry(Position(post["ts"], post["id"]), post) for post in found.values()]
        return sorted(entries, key=lambda entry: entry.position, reverse=True)[:count]


def design(runtime: Runtime) -> View:
    """Return the design of the walls that is set."""
    if runtime.settings.wall == "posts":
        return WallOfPosts(runtime.database)
    return MonthCopies(runtime.database, WALLS)


def read(
    runtime: Runtime, owner_id: str, reader_id: str | None, query: PageQuery
) -> dict[str, Any]:
    """Return a page of a wall: posts by or to its owner that the reader may see.

    On their own wall, owners see what others wrote if they follow them. What was written to
    the wall by those whom its owner blocks does not stand there for anyone.
    """
    view = design(runtime)

    def fetch(after: Position | None, count: int) -> list[Entry]:
        return view.newest(owner_id, after, count)

    def show(found: list[Document]) -> list[Document | None]:
        reader = audiences.reader_of(runtime.database, reader_id, found)
        authors = {post["by"]["id"] for post in found}
        welcome = authors - blocks.among(runtime.database, owner_id, authors)
        if reader_id == owner_id:
            welcome &= reader.following | {owner_id}
        return [
            without_hidden(reader, post)
            if post["by"]["id"] in welcome and may_see(reader, post)
            else None
            for post in found
        ]

    return timelines.page(runtime, query, timelines.View(f"wall:{owner_id}", fetch, show))
