"""Repair of stored news: back-fill, rebuild, verify, trim; and of walls without their copies.

The posts that `pull` finds define the news. Since the instants in a reader's `complete_since`,
the stored news are complete. A job raises the instants before it omits or deletes posts, so
deliveries, back-fills, rebuilds and trims may come twice and in any order.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pymongo import ASCENDING

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.graph import following, users
from chalicelib.social.graph.audience import ALL_CIRCLES, CompleteSince, Reader
from chalicelib.social.paging import ListPosition
from chalicelib.social.posts import audiences, posts
from chalicelib.social.posts.shapes import PostBody, ReadPost, ShownPost
from chalicelib.social.posts.visibility import may_see
from chalicelib.social.timelines import news, propagation, pull, walls
from chalicelib.social.timelines.copies import MonthCopies
from chalicelib.social.timelines.view import NewsView, Part, StoredNews

# The number of newest posts of each part for a rebuild or a verification.
COMPLETE = 1_000
_PAGE = 200
# Of a part: posts that the reader may not see would lead a walk on for ever.
_MOST_PAGES = 20
_JUDGED_AT_ONCE = 500
_COPIED_AT_ONCE = 100
_INSTANT = timedelta(milliseconds=1)
_WHOLE: CompleteSince = {"news": users.EPOCH, "sent": users.EPOCH}


def back_fill(runtime: Runtime, reader_id: str, author_id: str) -> None:
    """Add an author's newest posts to a reader's news, if they belong there by now.

    If the author has more, pages read the older posts from the posts themselves.
    """
    view = news.stored_design(runtime)
    if view is None:
        return
    database, most = runtime.database, runtime.bounds.social.back_fill_posts
    found: dict[str, ReadPost] = {}
    since = _WHOLE
    for part, where in _ties(following.reader(database, reader_id, {author_id}), author_id):
        newest = pull.newest_of(database, author_id, where, most + 1)
        left = _next_instant(newest[most]["ts"]) if len(newest) > most else users.EPOCH
        since = news.raise_since(runtime, reader_id, _instants_of(part, left)) or _WHOLE
        found |= {post["id"]: post for post in newest[:most]}
    reader = audiences.reader_of(database, reader_id, list(found.values()))
    wanted = [post for post in found.values() if _is_due(reader, post, since)]
    view.add(wanted, [reader_id])
    propagation.repair(runtime, wanted)


def _instants_of(part: Part, instant: datetime) -> CompleteSince:
    """Return the instants that raise one part of the news alone."""
    others = users.EPOCH
    return {
        "news": instant if part == "news" else others,
        "sent": instant if part == "sent" else others,
    }


def _ties(reader: Reader, author_id: str) -> Iterator[tuple[Part, Document]]:
    """Yield the parts of a reader's news with an author's posts, and a filter of these posts.

    Posts to a circle concern the `sent` part alone: a stranger who makes a reader a member cannot
    raise the instant of the reader's news.
    """
    if author_id in reader.following:
        yield "news", {}
    if circles := reader.circled_by.get(author_id):
        yield "sent", {"circles": {"$in": [ALL_CIRCLES, *sorted(circles)]}}


def rebuild(runtime: Runtime, user_id: str) -> None:
    """Rebuild a reader's news after fan-outs skipped the reader, and show them again."""
    people, view = users.USERS.of(runtime.database), news.stored_design(runtime)
    whole = {**_WHOLE, "design": runtime.settings.news}
    # First, so that the instants cover posts omitted from now on.
    people.update_one(
        {"_id": user_id, **news.unknown_filter(runtime)},
        {"$set": {"complete_since": whole, "trimmed": False, "stale": True}},
    )
    if view:
        # Deliveries went on for a month of an absence, and nothing has shortened them.
        trim(runtime, user_id)
        walked, _ = _repair(runtime, view, user_id)
        news.raise_since(runtime, user_id, walked)
    people.update_one({"_id": user_id}, {"$set": {"stale": False}})


def trim(runtime: Runtime, user_id: str) -> None:
    """Delete a reader's oldest news; pages beyond the rest are pulled."""
    view = news.stored_design(runtime)
    if view is None:
        return
    followed = following.following(runtime.database, user_id)
    kept = view.kept_since(user_id, runtime.bounds.social.news_kept, followed)
    # First: otherwise a page in between would end with the stored posts.
    since = news.raise_since(runtime, user_id, kept)
    if since:
        # Also posts of late deliveries.
        view.discard(user_id, since)


def copy_walls(runtime: Runtime, after: str = "", most_posts: int = 1_000) -> Document:
    """Copy posts to the walls that lack them, in the order of their ids.

    While `PLAZA_WALL` is `posts`, no copies are made. Returns `{posts, next}`: the number of posts,
    and the post to continue after, or null.
    """
    if walls.stored_design(runtime) is None:
        return {"posts": 0, "next": None}
    rows, copied = posts.POSTS.of(runtime.database), 0
    while copied < most_posts:
        found = rows.find({"_id": {"$gt": after}}, posts.BODY).sort("_id", ASCENDING)
        batch = list(found.limit(min(_COPIED_AT_ONCE, most_posts - copied)))
        if not batch:
            return {"posts": copied, "next": None}
        for post in batch:
            _copy_to_walls(runtime, post)
        copied, after = copied + len(batch), batch[-1]["_id"]
    return {"posts": copied, "next": after}


def _copy_to_walls(runtime: Runtime, post: PostBody) -> None:
    """Make the walls agree with a post, also where a run has died after it read an older post."""
    copies = MonthCopies(runtime.database, walls.WALLS)
    if post["deleted"]:
        copies.remove(post["_id"])
        return
    try:
        copies.add([post], sorted({post["by"]["id"], post["wall"]}))
    finally:
        propagation.repair(runtime, [post])
    if post.get("off_wall"):
        copies.take_from_others(post["_id"], post["by"]["id"])


def verify(runtime: Runtime, user_id: str) -> dict[str, list[str]]:
    """Compare a reader's stored news with the definition and repair them.

    Returns the ids of `missing` posts, and of `surplus` posts that do not belong there.
    """
    view = news.stored_design(runtime)
    if view is None:
        return {"missing": [], "surplus": []}
    return _repair(runtime, view, user_id)[1]


def _repair(
    runtime: Runtime, view: StoredNews, user_id: str
) -> tuple[CompleteSince, dict[str, list[str]]]:
    """Correct stored news; return the instants since when they are right, and the mistakes."""
    since = news.raise_since(runtime, user_id, _WHOLE) or _WHOLE
    walks = {part: _walk(runtime, user_id, part, since[part]) for part in news.PARTS}
    wanted = walks["news"].wanted | walks["sent"].wanted
    stored = _read_stored_ids(view, user_id, min(since["news"], since["sent"]))
    missing = [post for post_id, post in wanted.items() if post_id not in stored]
    surplus = [
        post_id for some in _parts(sorted(stored)) for post_id in _surplus(runtime, user_id, some)
    ]
    view.take(surplus, user_id)
    # A back-fill may have found some of them in place just before this removal.
    back = _due_again(runtime, user_id, surplus, since)
    view.add([*missing, *back], [user_id])
    propagation.repair(runtime, [*missing, *back])
    wrong = {"missing": sorted(post["_id"] for post in missing), "surplus": surplus}
    return {"news": walks["news"].since, "sent": walks["sent"].since}, wrong


def _due_again(
    runtime: Runtime, user_id: str, surplus: Sequence[str], since: CompleteSince
) -> list[ReadPost]:
    """Return the removed posts that belong to a reader's news by now."""
    due: list[ReadPost] = []
    for some in _parts(surplus):
        found = pull.find_existing(runtime.database, some)
        reader = _without_blocks(runtime, user_id, found)
        due += [post for post in found if _is_due(reader, post, since)]
    return due


def _parts(post_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield ids a few at a time: the posts of a month of news are more than fits into memory."""
    for first in range(0, len(post_ids), _JUDGED_AT_ONCE):
        yield post_ids[first : first + _JUDGED_AT_ONCE]


class _Walk(NamedTuple):
    """The pushed posts of a part of a reader's news, by id, since an instant."""

    wanted: dict[str, ReadPost]
    since: datetime


def _walk(runtime: Runtime, user_id: str, part: Part, since: datetime) -> _Walk:
    """Find the newest posts of a part, back to an instant or until `COMPLETE` posts.

    Ends after `_MOST_PAGES` in any case: beyond, readers get the posts themselves.
    """
    source = pull.PulledNews(runtime.database)
    fetch = source.newest if part == "news" else source.newest_sent
    wanted: dict[str, ReadPost] = {}
    after: ListPosition | None = None
    pages = 0
    while True:
        entries = fetch(user_id, after, _PAGE)
        later = [entry for entry in entries if entry.position.ts >= since]
        found = [entry.post for entry in later if entry.post]
        reader = _without_blocks(runtime, user_id, found)
        due = [
            post for post in found if news.is_part_of(part, reader, post) and may_see(reader, post)
        ]
        wanted |= {post["_id"]: post for post in _pushed_posts(runtime, user_id, due)}
        if len(later) < _PAGE:
            return _Walk(wanted, since)
        after, pages = later[-1].position, pages + 1
        if len(wanted) >= COMPLETE or pages == _MOST_PAGES:
            return _Walk(wanted, _next_instant(after.ts))


def _next_instant(ts: datetime) -> datetime:
    """Return the next instant: some of several posts of one instant may be missing."""
    return ts + _INSTANT


def _pushed_posts(runtime: Runtime, user_id: str, found: list[ReadPost]) -> list[ReadPost]:
    """Return the posts among these that workers deliver to a user, not pages pull.

    Workers deliver every post by another on the user's wall: pages pull none by its wall.
    """
    where = {"_id": {"$in": [post["_id"] for post in found]}, "fan_out.pull": True}
    rows = posts.POSTS.of(runtime.database).find(where, {"_id": 1})
    pulled = {row["_id"] for row in rows}
    return [post for post in found if post["_id"] not in pulled or _is_on_wall_of(user_id, post)]


def _is_on_wall_of(user_id: str, post: ReadPost) -> bool:
    return post["wall"] == user_id != post["by"]["id"]


def _read_stored_ids(view: NewsView, user_id: str, since: datetime) -> set[str]:
    stored: set[str] = set()
    after: ListPosition | None = None
    while True:
        entries = view.newest(user_id, after, _PAGE)
        later = [entry.position for entry in entries if entry.position.ts >= since]
        stored |= {position.post_id for position in later}
        if len(later) < _PAGE:
            return stored
        after = later[-1]


def _surplus(runtime: Runtime, user_id: str, stored: Sequence[str]) -> list[str]:
    """Return the stored posts that the reader may not see, now or after the end of a block."""
    found = pull.find_existing(runtime.database, stored)
    reader = _without_blocks(runtime, user_id, found)
    seen = {post["id"] for post in found if _is_due(reader, post, _WHOLE)}
    return [each for each in stored if each not in seen]


def _is_due(reader: Reader, post: ReadPost, since: CompleteSince) -> bool:
    """Return whether a post is due in a stored part of the reader's news."""
    parts = (part for part in news.PARTS if news.is_part_of(part, reader, post))
    return may_see(reader, post) and any(post["ts"] >= since[part] for part in parts)


def _without_blocks(runtime: Runtime, user_id: str, found: Sequence[ShownPost]) -> Reader:
    """Return the reader as if there were no blocks: the end of a block delivers nothing."""
    reader = audiences.reader_of(runtime.database, user_id, found)
    return Reader(reader.id, reader.circled_by, reader.following, kept=reader.kept)
