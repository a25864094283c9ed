"""Repair of stored news (back-fill, rebuild, verify, trim), and of walls that lack copies.

`pull` defines the news. Stored news are complete from the instants of the reader's
`complete_since` on. A job raises an instant before it omits or deletes posts. So deliveries,
back-fills, rebuilds and trims may come twice and in any order.
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
# The bound of a walk of one part: posts that the reader may not see could lead it on and on.
_MOST_PAGES = 20
_JUDGED_AT_ONCE = 500
_COPIED_AT_ONCE = 100
_INSTANT = timedelta(milliseconds=1)
_WHOLE: CompleteSince = {"news": users.EPOCH, "sent": users.EPOCH}


def back_fill(runtime: Runtime, reader_id: str, author_id: str) -> None:
    """Add an author's newest posts that belong to a reader's news, after a follow or a new circle.

    If the author has more than `back_fill_posts`, raise the instants: pages pull older posts.
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
    """Return instants that raise only one part; EPOCH raises nothing."""
    others = users.EPOCH
    return {
        "news": instant if part == "news" else others,
        "sent": instant if part == "sent" else others,
    }


def _ties(reader: Reader, author_id: str) -> Iterator[tuple[Part, Document]]:
    """Yield each part of a reader's news that gets an author's posts, with the filter of the posts.

    If the reader does not follow the author, posts to circles belong to the part `sent` alone. So a
    stranger who puts the reader into a circle cannot raise the instant of the part `news`.
    """
    if author_id in reader.following:
        yield "news", {}
    if circles := reader.circled_by.get(author_id):
        yield "sent", {"circles": {"$in": [ALL_CIRCLES, *sorted(circles)]}}


def rebuild(runtime: Runtime, user_id: str) -> None:
    """Rebuild a reader's stored news after skipped fan-outs, and end the mark `stale`."""
    people, view = users.USERS.of(runtime.database), news.stored_design(runtime)
    whole = {**_WHOLE, "design": runtime.settings.news}
    # First: the jobs that run from now on raise these instants when they omit posts.
    people.update_one(
        {"_id": user_id, **news.unknown_filter(runtime)},
        {"$set": {"complete_since": whole, "trimmed": False, "stale": True}},
    )
    if view:
        # Deliveries went on for the first month of the absence, without a trim.
        trim(runtime, user_id)
        walked, _ = _repair(runtime, view, user_id)
        news.raise_since(runtime, user_id, walked)
    people.update_one({"_id": user_id}, {"$set": {"stale": False}})


def trim(runtime: Runtime, user_id: str) -> None:
    """Delete a reader's oldest stored news; from then on, pages pull posts of that age."""
    view = news.stored_design(runtime)
    if view is None:
        return
    followed = following.following(runtime.database, user_id)
    kept = view.kept_since(user_id, runtime.bounds.social.news_kept, followed)
    # Before the deletion: otherwise a page in between would end at the last stored post.
    since = news.raise_since(runtime, user_id, kept)
    if since:
        # Up to the present instants: also posts that a late delivery added.
        view.discard(user_id, since)


def copy_walls(runtime: Runtime, after: str = "", most_posts: int = 1_000) -> Document:
    """Copy posts to the walls that lack them, in the order of their ids.

    If `PLAZA_WALL` is `posts`, copies nothing. Returns `{posts, next}`: the number of examined
    posts, and the id to continue after; null at the end.
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
    """Make the walls agree with a post, even if a crashed run left copies of an older version."""
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
    """Compare a reader's stored news with the news that `pull` finds, and repair the stored news.

    Returns the ids of `missing` posts, and of `surplus` posts that do not belong to the news.
    """
    view = news.stored_design(runtime)
    if view is None:
        return {"missing": [], "surplus": []}
    return _repair(runtime, view, user_id)[1]


def _repair(
    runtime: Runtime, view: StoredNews, user_id: str
) -> tuple[CompleteSince, dict[str, list[str]]]:
    """Repair stored news; return the instants from which they are complete, and the mistakes.

    The mistakes: the ids of `missing` and of `surplus` posts.
    """
    since = news.raise_since(runtime, user_id, _WHOLE) or _WHOLE
    walks = {part: _walk(runtime, user_id, part, since[part]) for part in news.PARTS}
    wanted = walks["news"].wanted | walks["sent"].wanted
    stored = _read_stored_ids(view, user_id, min(since["news"], since["sent"]))
    missing = [post for post_id, post in wanted.items() if post_id not in stored]
    surplus = [
        post_id for some in _parts(sorted(stored)) for post_id in _surplus(runtime, user_id, some)
    ]
    view.take(surplus, user_id)
    # A concurrent back-fill may have skipped a surplus post, still stored, before its removal.
    back = _due_again(runtime, user_id, surplus, since)
    view.add([*missing, *back], [user_id])
    propagation.repair(runtime, [*missing, *back])
    wrong = {"missing": sorted(post["_id"] for post in missing), "surplus": surplus}
    return {"news": walks["news"].since, "sent": walks["sent"].since}, wrong


def _due_again(
    runtime: Runtime, user_id: str, surplus: Sequence[str], since: CompleteSince
) -> list[ReadPost]:
    """Return the posts among `surplus` that by now belong to the reader's news."""
    due: list[ReadPost] = []
    for some in _parts(surplus):
        found = pull.find_existing(runtime.database, some)
        reader = _without_blocks(runtime, user_id, found)
        due += [post for post in found if _is_due(reader, post, since)]
    return due


def _parts(post_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the ids in batches: the posts of all ids may exceed the memory."""
    for first in range(0, len(post_ids), _JUDGED_AT_ONCE):
        yield post_ids[first : first + _JUDGED_AT_ONCE]


class _Walk(NamedTuple):
    """The pushed posts of a part of a reader's news, by id, complete from `since` on."""

    wanted: dict[str, ReadPost]
    since: datetime


def _walk(runtime: Runtime, user_id: str, part: Part, since: datetime) -> _Walk:
    """Return the newest pushed posts of a part: back to `since`, or at least `COMPLETE` posts.

    The walk ends after `_MOST_PAGES` pages at the latest; readers' pages pull older posts.
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
    """Return the instant one millisecond later.

    News may lack some of the posts at `ts` itself, so they are complete only from the next instant.
    """
    return ts + _INSTANT


def _pushed_posts(runtime: Runtime, user_id: str, found: list[ReadPost]) -> list[ReadPost]:
    """Return the posts that workers deliver to a user, without the posts that pages pull.

    Workers deliver each post by another author on the user's wall, even above the pull threshold:
    pages do not pull posts by their wall.
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
    """Return the ids of stored posts that do not belong to the news, even without blocks."""
    found = pull.find_existing(runtime.database, stored)
    reader = _without_blocks(runtime, user_id, found)
    seen = {post["id"] for post in found if _is_due(reader, post, _WHOLE)}
    return [each for each in stored if each not in seen]


def _is_due(reader: Reader, post: ReadPost, since: CompleteSince) -> bool:
    """Return whether the reader may see a post, and some part of the news must have it.

    A part must have all of its posts from its instant in `since` on.
    """
    parts = (part for part in news.PARTS if news.is_part_of(part, reader, post))
    return may_see(reader, post) and any(post["ts"] >= since[part] for part in parts)


def _without_blocks(runtime: Runtime, user_id: str, found: Sequence[ShownPost]) -> Reader:
    """Return the reader without blocks.

    Stored news include posts of blocked authors, because the end of a block delivers nothing.
    """
    reader = audiences.reader_of(runtime.database, user_id, found)
    return Reader(reader.id, reader.circled_by, reader.following, kept=reader.kept)
