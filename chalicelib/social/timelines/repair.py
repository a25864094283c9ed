"""Keeping stored news what their definition says: back-fill, rebuilding, verifying, trimming.

The definition is what `pull` finds: complete for the newest 1,000 posts of a reader's news and
of what was sent to the reader.
"""

from collections.abc import Callable
from typing import Any

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.graph import users
from chalicelib.social.graph.reader import Reader
from chalicelib.social.paging.positions import Entry, Position
from chalicelib.social.posts import audiences, posts
from chalicelib.social.posts.visibility import may_see, was_sent
from chalicelib.social.timelines import news, propagation, pull
from chalicelib.social.timelines.news import Belongs, is_news

POSTS_PER_AUTHOR = 200
COMPLETE = 1_000
# Stored per reader: five times what has to be complete, for what the checks take out.
KEPT = 5_000
_PAGE = 200

Pages = Callable[[str, Position | None, int], list[Entry]]


def back_fill(runtime: Runtime, reader_id: str, author_id: str) -> None:
    """Give a reader an author's newest posts, as far as they are the reader's by now."""
    found = pull.newest_of(runtime.database, author_id, POSTS_PER_AUTHOR)
    reader = audiences.reader_of(runtime.database, reader_id, found)
    wanted = [post for post in found if _is_due(reader, post)]
    news.design(runtime).add(wanted, [reader_id])
    propagation.repair(runtime, wanted)


def rebuild(runtime: Runtime, user_id: str) -> None:
    """Make the news of a reader who was skipped by fan-outs, and have them shown again."""
    verify(runtime, user_id)
    people = users.collection(runtime.database)
    people.update_one({"_id": user_id}, {"$set": {"stale": False}})


def trim(runtime: Runtime, user_id: str) -> None:
    """Drop a reader's oldest news; a page that goes on beyond is pulled from there."""
    if news.design(runtime).trim(user_id, KEPT):
        people = users.collection(runtime.database)
        people.update_one({"_id": user_id}, {"$set": {"trimmed": True}})


def verify(runtime: Runtime, user_id: str) -> dict[str, list[str]]:
    """Compare a reader's stored news with the definition and repair them.

    Returns the ids of posts that were missing, and of those that should not have been there.
    """
    view = news.design(runtime)
    if isinstance(view, pull.PulledNews):
        return {"missing": [], "surplus": []}
    source = pull.PulledNews(runtime.database)
    wanted = _wanted(runtime, user_id, source.newest, is_news)
    wanted |= _wanted(runtime, user_id, source.sent, was_sent)
    stored = _stored(view.newest, user_id)
    missing = [post for post_id, post in wanted.items() if post_id not in stored]
    surplus = sorted(stored.keys() - _justified(runtime, user_id, stored))
    view.add(missing, [user_id])
    propagation.repair(runtime, missing)
    view.take(surplus, user_id)
    return {"missing": sorted(post["_id"] for post in missing), "surplus": surplus}


def _wanted(runtime: Runtime, user_id: str, fetch: Pages, belongs: Belongs) -> dict[str, Document]:
    """Return the newest posts that belong to a reader's news by id, without pulled ones."""
    wanted: dict[str, Document] = {}
    after: Position | None = None
    while len(wanted) < COMPLETE:
        entries = fetch(user_id, after, _PAGE)
        found = [entry.post for entry in entries if entry.post]
        reader = _unblocked(runtime, user_id, found)
        due = [post for post in found if belongs(reader, post) and may_see(reader, post)]
        wanted |= {post["_id"]: post for post in _pushed(runtime, due)}
        if len(entries) < _PAGE:
            break
        after = entries[-1].position
    return wanted


def _pushed(runtime: Runtime, found: list[Document]) -> list[Document]:
    """Return those of the posts that are brought to their readers."""
    where = {"_id": {"$in": [post["_id"] for post in found]}, "fan_out.pull": True}
    rows = posts.collection(runtime.database).find(where, {"_id": 1})
    pulled = {row["_id"] for row in rows}
    return [post for post in found if post["_id"] not in pulled]


def _stored(fetch: Pages, user_id: str) -> dict[str, Document | None]:
    stored: dict[str, Document | None] = {}
    after: Position | None = None
    while True:
        entries = fetch(user_id, after, _PAGE)
        stored |= {entry.position.post_id: entry.post for entry in entries}
        if len(entries) < _PAGE:
            return stored
        after = entries[-1].position


def _justified(runtime: Runtime, user_id: str, stored: dict[str, Any]) -> set[str]:
    """Return the stored posts that the reader's news, or what was sent, may show one day."""
    found = pull.alive(runtime.database, stored)
    reader = _unblocked(runtime, user_id, found)
    return {post["id"] for post in found if _is_due(reader, post)}


def _is_due(reader: Reader, post: Document) -> bool:
    return (is_news(reader, post) or was_sent(reader, post)) and may_see(reader, post)


def _unblocked(runtime: Runtime, user_id: str, found: list[Document]) -> Reader:
    """Return the reader as if there were no blocks, which may end without another word."""
    reader = audiences.reader_of(runtime.database, user_id, found)
    return Reader(reader.id, reader.circled_by, reader.following, kept=reader.kept)
