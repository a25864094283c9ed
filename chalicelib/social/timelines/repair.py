"""Repairing stored news: back-fill, rebuilding, verifying, trimming.

The news are defined by what `pull` finds, complete for the newest 1,000 posts of a reader's
news and of what was sent to the reader.
"""

from collections.abc import Callable, Sequence

from chalicelib.runtime import Runtime
from chalicelib.social.graph import users
from chalicelib.social.graph.reader import Reader
from chalicelib.social.paging.positions import Entry, Position
from chalicelib.social.posts import audiences, posts
from chalicelib.social.posts.shapes import ReadPost, ShownPost
from chalicelib.social.posts.visibility import may_see, was_sent
from chalicelib.social.timelines import news, propagation, pull
from chalicelib.social.timelines.news import Belongs, is_news
from chalicelib.social.timelines.view import NewsView

COMPLETE = 1_000
_PAGE = 200

Definition = Callable[[str, Position | None, int], Sequence[Entry[ReadPost]]]


def back_fill(runtime: Runtime, reader_id: str, author_id: str) -> None:
    """Add an author's newest posts to a reader's news, as far as they belong there by now."""
    view = news.stored(runtime)
    if view is None:
        return
    found = pull.newest_of(runtime.database, author_id, runtime.bounds.social.back_fill_posts)
    reader = audiences.reader_of(runtime.database, reader_id, found)
    wanted = [post for post in found if _is_due(reader, post)]
    view.add(wanted, [reader_id])
    propagation.repair(runtime, wanted)


def rebuild(runtime: Runtime, user_id: str) -> None:
    """Rebuild the news of a reader who was left out by fan-outs, and show them again."""
    verify(runtime, user_id)
    people = users.USERS.of(runtime.database)
    people.update_one({"_id": user_id}, {"$set": {"stale": False}})


def trim(runtime: Runtime, user_id: str) -> None:
    """Delete a reader's oldest news; pages beyond them are pulled."""
    view = news.stored(runtime)
    if view and view.trim(user_id, runtime.bounds.social.news_kept):
        people = users.USERS.of(runtime.database)
        people.update_one({"_id": user_id}, {"$set": {"trimmed": True}})


def verify(runtime: Runtime, user_id: str) -> dict[str, list[str]]:
    """Compare a reader's stored news with the definition and repair them.

    Returns the ids of posts that were missing, and of those that should not have been there.
    """
    view = news.stored(runtime)
    if view is None:
        return {"missing": [], "surplus": []}
    source = pull.PulledNews(runtime.database)
    wanted = _wanted(runtime, user_id, source.newest, is_news)
    wanted |= _wanted(runtime, user_id, source.sent, was_sent)
    stored = _stored(view, user_id)
    missing = [post for post_id, post in wanted.items() if post_id not in stored]
    surplus = sorted(stored - _justified(runtime, user_id, stored))
    view.add(missing, [user_id])
    propagation.repair(runtime, missing)
    view.take(surplus, user_id)
    return {"missing": sorted(post["_id"] for post in missing), "surplus": surplus}


def _wanted(
    runtime: Runtime, user_id: str, fetch: Definition, belongs: Belongs
) -> dict[str, ReadPost]:
    """Return the newest posts that belong to a reader's news by id, without pulled ones."""
    wanted: dict[str, ReadPost] = {}
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


def _pushed(runtime: Runtime, found: list[ReadPost]) -> list[ReadPost]:
    """Return the posts among these that are delivered to their readers."""
    where = {"_id": {"$in": [post["_id"] for post in found]}, "fan_out.pull": True}
    rows = posts.POSTS.of(runtime.database).find(where, {"_id": 1})
    pulled = {row["_id"] for row in rows}
    return [post for post in found if post["_id"] not in pulled]


def _stored(view: NewsView, user_id: str) -> set[str]:
    stored: set[str] = set()
    after: Position | None = None
    while True:
        entries = view.newest(user_id, after, _PAGE)
        stored |= {entry.position.post_id for entry in entries}
        if len(entries) < _PAGE:
            return stored
        after = entries[-1].position


def _justified(runtime: Runtime, user_id: str, stored: set[str]) -> set[str]:
    """Return the stored posts that may be shown to the reader now or when a block ends."""
    found = pull.alive(runtime.database, stored)
    reader = _unblocked(runtime, user_id, found)
    return {post["id"] for post in found if _is_due(reader, post)}


def _is_due(reader: Reader, post: ShownPost) -> bool:
    return (is_news(reader, post) or was_sent(reader, post)) and may_see(reader, post)


def _unblocked(runtime: Runtime, user_id: str, found: Sequence[ShownPost]) -> Reader:
    """Return the reader as if there were no blocks: nothing is sent when one ends."""
    reader = audiences.reader_of(runtime.database, user_id, found)
    return Reader(reader.id, reader.circled_by, reader.following, kept=reader.kept)
