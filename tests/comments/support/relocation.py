"""What tests of moves to another id do and read."""

from typing import Any

from chalicelib.comments.forms import PendingQuery
from chalicelib.comments.moderation import queue
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout

OLD, NEW = "a-page", "blog:a-page"


ADMIN = Principal("root", "Root", frozenset({"admin"}))


def filled(runtime: Runtime, layout: Layout, number: int = 12) -> Discussion:
    """Return a discussion with replies, a tombstone, hidden and waiting comments."""
    discussion = Discussion.make(runtime, layout, OLD)
    posted: list[str] = []
    for index in range(number):
        parent = posted[index // 3] if layout.threaded and index % 2 else None
        posted.append(
            discussion.post(f"text {index}", parent, by="ann" if index % 2 else "bob")["id"]
        )
    discussion.set_state(posted[1], "pending")
    discussion.set_state(posted[2], "hidden")
    discussion.edit(posted[3], "edited")
    discussion.delete(posted[0])
    return discussion


def waiting(runtime: Runtime) -> list[tuple[str, str, str]]:
    rows = queue.list_pending(runtime, PendingQuery(limit=200), ADMIN)["comments"]
    return [(row["site"], row["node_id"], row["id"]) for row in rows]


def rows(runtime: Runtime) -> int:
    """Return how many rows of comments are stored, under whatever node and generation."""
    return sum(runtime.database[each.name].count_documents({}) for each in (COMMENTS, PAGES))


def told(discussion: Discussion, order: Any, by: str | None) -> list[dict[str, Any]]:
    return [{**each, "node_id": None} for each in discussion.walk(order, limit=5, by=by)]
