"""Comments on a post: stored on the post, then spread to the copies of it."""

from datetime import datetime, timedelta
from typing import Any, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document, insert_missing
from chalicelib.errors import Unavailable, UnknownComment
from chalicelib.http import PageQuery
from chalicelib.http.pages import Cursors
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.social.errors import UnknownPost
from chalicelib.social.graph import following as graph
from chalicelib.social.graph import users
from chalicelib.social.graph.users import By
from chalicelib.social.messages import Propagate
from chalicelib.social.paging import pages
from chalicelib.social.paging.positions import Entry, Position, dated, newer_than
from chalicelib.social.posts import posts
from chalicelib.social.posts.models import HELD_ON_POST, comment_answer
from chalicelib.social.posts.visibility import sees


class PostComment(TypedDict):
    """A comment as it stands on its post."""

    id: str
    by: By
    ts: datetime
    text: str


class OlderComment(PostComment):
    """A comment that has left its post."""

    _id: str
    post_id: str


# Older comments than these, which stand on the post itself.
OLDER_COMMENTS = Collection(
    "social.post_comment",
    OlderComment,
    indexes=(
        IndexModel([("post_id", ASCENDING), ("ts", ASCENDING), ("id", ASCENDING)]),
        IndexModel([("by.id", ASCENDING)]),
    ),
    shard_key={"post_id": 1},
)
_OF_A_MOMENT = 50
_MOVED_AT_ONCE = 20
_TRIES = 50
BY_TIME = {"ts": 1, "id": 1}


def add(runtime: Runtime, post_id: str, caller: Principal, text: str) -> Document:
    """Store a comment with its spread pending, in one write; then ask for the spread.

    Raises UnknownPost where the caller may not see the post.
    """
    posts.find_visible(runtime.database, post_id, caller.id)
    now = runtime.now()
    comment = {
        "id": new_id(now, runtime.random),
        "by": users.ensure(runtime, caller),
        "ts": now,
        "text": text,
    }
    _push(runtime, post_id, comment)
    runtime.queues.send(Propagate(post_id=post_id))
    return comment


def find(
    database: Database[Document], post_id: str, reader_id: str, position: tuple[datetime, str]
) -> Document:
    """Return the comment of a time and id; raises UnknownPost and UnknownComment."""
    posts.find_visible(database, post_id, reader_id)
    at, comment_id = position
    # Those of the same millisecond are few, and each other one is later.
    for comment in _after(database, post_id, Position(at, ""), _OF_A_MOMENT):
        if comment["id"] == comment_id:
            return comment
    raise UnknownComment


def _push(runtime: Runtime, post_id: str, comment: Document) -> None:
    """Put a comment on the post, in a place that is made where all are taken."""
    due = comment["ts"] + timedelta(milliseconds=runtime.settings.lease_ms)
    for _ in range(_TRIES):
        pushed = posts.collection(runtime.database).update_one(
            {"_id": post_id, f"comments.{HELD_ON_POST - 1}": {"$exists": False}, "deleted": False},
            {
                "$push": {"comments": {"$each": [comment], "$sort": BY_TIME}},
                "$inc": {"comment_count": 1, "spread.version": 1},
                "$set": {"spread.due": due},
            },
        )
        if pushed.matched_count:
            return
        _move_oldest(runtime.database, post_id)
    raise Unavailable("Too many are commenting on this post at once")


def _move_oldest(database: Database[Document], post_id: str) -> None:
    """Move the oldest comments off the post; a crash between leaves them in both places."""
    post = posts.collection(database).find_one(
        {"_id": post_id, "deleted": False}, {"comments": {"$slice": _MOVED_AT_ONCE}}
    )
    if post is None:
        raise UnknownPost
    rows = [{"_id": comment["id"], "post_id": post_id, **comment} for comment in post["comments"]]
    insert_missing(database[OLDER_COMMENTS.name], rows)
    moved = [comment["id"] for comment in post["comments"]]
    posts.collection(database).update_one(
        {"_id": post_id}, {"$pull": {"comments": {"id": {"$in": moved}}}}
    )


def list_all(
    runtime: Runtime, post_id: str, reader_id: str | None, query: PageQuery
) -> dict[str, Any]:
    """Return a page of a post's comments, oldest first: `{comments, next}`.

    One that blocks have thinned may be short before the end; `next` alone tells whether there
    is more. Raises UnknownPost where the reader may not see the post.
    """
    posts.find_visible(runtime.database, post_id, reader_id)
    database = runtime.database

    def fetch(after: Position | None, count: int) -> list[Entry]:
        found = _after(database, post_id, after, count)
        return [Entry(_at(comment), comment) for comment in found]

    def show(found: list[Document]) -> list[Document | None]:
        reader = graph.reader(database, reader_id, {each["by"]["id"] for each in found})
        return [comment if sees(reader, comment) else None for comment in found]

    cursors = Cursors(f"post-comments:{post_id}", runtime.settings.signing_keys)
    shown, last = pages.filled(query.limit, dated(cursors.position(query)), fetch, show)
    return {
        "comments": [comment_answer(comment) for _position, comment in shown],
        "next": cursors.following([last.ts.isoformat(), last.post_id] if last else None),
    }


def _after(
    database: Database[Document], post_id: str, after: Position | None, limit: int
) -> list[Document]:
    """Return the comments that follow a position, oldest first, wherever they stand."""
    # The post first: a comment that is being moved is then found in one place at least.
    post = posts.collection(database).find_one({"_id": post_id}, {"comments": 1})
    if post is None:
        raise UnknownPost
    held = [comment for comment in post["comments"] if after is None or _at(comment) > after]
    older = _older(database, post_id, after, limit)
    found = {each["id"]: each for each in [*older, *held]}
    return sorted(found.values(), key=_at)[:limit]


def _older(
    database: Database[Document], post_id: str, after: Position | None, limit: int
) -> list[Document]:
    where: Document = {"post_id": post_id}
    if after:
        where |= newer_than(after, "ts", "id")
    order = list(BY_TIME.items())
    return list(database[OLDER_COMMENTS.name].find(where).sort(order).limit(limit))


def _at(comment: Document) -> Position:
    return Position(comment["ts"], comment["id"])
