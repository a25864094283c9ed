"""Posts: the system of record, from which every view is made."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.errors import Forbidden
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.social.delivery import leases
from chalicelib.social.delivery.leases import FanOut
from chalicelib.social.errors import UnknownCircle, UnknownPost
from chalicelib.social.graph import blocks, circles, users
from chalicelib.social.graph.models import MAX_CIRCLES
from chalicelib.social.graph.reader import Reader
from chalicelib.social.graph.users import By
from chalicelib.social.messages import Deliver, Propagate
from chalicelib.social.posts import audiences
from chalicelib.social.posts.models import (
    ALL_CIRCLES,
    AT_POST,
    COMMENTS_SHOWN,
    HELD_ON_POST,
    PUBLIC,
    NewPost,
    PostEdit,
)
from chalicelib.social.posts.visibility import may_see, without_hidden


class PostFanOut(FanOut):
    """A post's fan-out; one that is to `pull` is read where it is."""

    pull: bool


class SpreadState(TypedDict):
    """The version of what is shown of a post; `due` while its copies may be behind.

    `resends` and `resent_by` say how often it was sent for again since, and by which sweep.
    """

    version: int
    due: NotRequired[datetime]
    resends: NotRequired[int]
    resent_by: NotRequired[str]


class Post(TypedDict):
    """A post as it is stored; a tombstone, being `deleted`, has no detail and no comments.

    One that is `off_wall` stood on another's wall, until that one's owner took it off.
    """

    _id: str
    by: By
    wall: str
    off_wall: NotRequired[bool]
    circles: Annotated[list[str], AtMost(MAX_CIRCLES)]
    type: str
    detail: Document
    ts: datetime
    edited: datetime | None
    audience: Literal["at_view", "at_post"]
    deleted: bool
    comments: Annotated[list[Document], AtMost(HELD_ON_POST)]
    comment_count: int
    spread: SpreadState
    fan_out: PostFanOut


POSTS = Collection(
    "social.post",
    Post,
    indexes=(
        IndexModel([("by.id", ASCENDING), ("ts", ASCENDING), ("_id", ASCENDING)]),
        IndexModel([("wall", ASCENDING), ("ts", ASCENDING), ("_id", ASCENDING)]),
        *leases.INDEXES,
        IndexModel([("comments.by.id", ASCENDING)], sparse=True),
        IndexModel(
            [("spread.due", ASCENDING)],
            partialFilterExpression={"spread.due": {"$exists": True}},
        ),
    ),
    shard_key={"_id": "hashed"},
)

# What readers are shown: the post and its last comments.
BODY = {"fan_out": 0, "comments": {"$slice": -COMMENTS_SHOWN}}


def collection(database: Database[Document]) -> MongoCollection[Document]:
    """Return the posts' collection."""
    return database[POSTS.name]


def publish(runtime: Runtime, caller: Principal, new: NewPost) -> Document:
    """Store a post with its fan-out pending, in one write; then ask for the fan-out.

    Should the asking fail, the sweep does it. A post to the wall of somebody who blocks its
    author goes to the author's own wall. Raises UnknownCircle and UnknownUser (`wall`).
    """
    database = runtime.database
    author = users.ensure(runtime, caller)
    if not circles.has_all(database, caller.id, set(new.circles) - {PUBLIC, ALL_CIRCLES}):
        raise UnknownCircle
    wall = _wall_for(database, caller.id, new.wall)
    post: Document = {**_new_post(runtime, author, new, wall)}
    if new.audience == AT_POST:
        audiences.keep(database, post)
    collection(database).insert_one(post)
    runtime.queues.send(Deliver(post_id=post["_id"]))
    return shown(post)


def _wall_for(database: Database[Document], author_id: str, wanted: str | None) -> str:
    """Return whose wall a new post stands on; raises UnknownUser."""
    if wanted is None or wanted == author_id:
        return author_id
    users.find(database, wanted)
    return author_id if blocks.among(database, wanted, {author_id}) else wanted


def _new_post(runtime: Runtime, author: By, new: NewPost, wall: str) -> Post:
    now = runtime.now()
    return {
        "_id": new_id(now, runtime.random),
        "by": author,
        "wall": wall,
        "circles": new.circles,
        "type": new.type,
        "detail": new.detail.model_dump(exclude_none=True),
        "ts": now,
        "edited": None,
        "audience": new.audience,
        "deleted": False,
        "comments": [],
        "comment_count": 0,
        "spread": {"version": 0},
        "fan_out": {**leases.new(runtime), "pull": False},
    }


def edit(runtime: Runtime, post_id: str, caller: Principal, given: PostEdit) -> Document:
    """Give a post of the caller's another detail, and have it brought to every copy.

    Raises UnknownPost, and Forbidden for those who may see the post but did not write it.
    """
    find_own(runtime.database, post_id, caller)
    now = runtime.now()
    change = {"detail": given.detail.model_dump(exclude_none=True), "edited": now}
    if not _mark(runtime, post_id, change):
        raise UnknownPost
    runtime.queues.send(Propagate(post_id=post_id))
    return find_visible(runtime.database, post_id, caller.id)


def delete(runtime: Runtime, post_id: str, caller: Principal) -> None:
    """Delete a post of the caller's, or as a social moderator; its copies go in the background.

    What stays is a tombstone without content, by which a delivery that comes late sees that
    there is nothing to deliver. Raises UnknownPost and Forbidden.
    """
    if not caller.has("social_moderator"):
        find_own(runtime.database, post_id, caller)
    if not bury(runtime, post_id):
        raise UnknownPost
    runtime.queues.send(Propagate(post_id=post_id))


def bury(runtime: Runtime, post_id: str) -> bool:
    """Make a post a tombstone; tell whether it was not one before."""
    gone = {"deleted": True, "detail": {}, "comments": [], **leases.ended()}
    return _mark(runtime, post_id, gone)


def _mark(runtime: Runtime, post_id: str, change: Document) -> bool:
    """Change a post and note, in the same write, that its copies are behind."""
    there = {"_id": post_id, "deleted": False}
    change = marked(runtime, {"$set": change})
    return bool(collection(runtime.database).update_one(there, change).matched_count)


def marked(runtime: Runtime, change: Document) -> Document:
    """Return an update of posts that notes as well that their copies are behind.

    Whoever makes it sends a Spread for each post.
    """
    due, version = {"spread.due": leases.lease_end(runtime)}, {"spread.version": 1}
    return {
        **change,
        "$set": {**change.get("$set", {}), **due},
        "$inc": {**change.get("$inc", {}), **version},
    }


def find_own(database: Database[Document], post_id: str, caller: Principal) -> Document:
    """Return a post of the caller's; raises UnknownPost and Forbidden."""
    post = find_visible(database, post_id, caller.id)
    if post["by"]["id"] != caller.id:
        raise Forbidden("Only its author can change a post")
    return post


def find_visible(database: Database[Document], post_id: str, reader_id: str | None) -> Document:
    """Return a post with its last comments; raises UnknownPost for those who may not see it."""
    reader, post = find_with_reader(database, post_id, reader_id)
    return without_hidden(reader, post)


def find_with_reader(
    database: Database[Document], post_id: str, reader_id: str | None
) -> tuple[Reader, Document]:
    """Return a post, its hidden comments included, and what the reader is to those on it.

    Raises UnknownPost for those who may not see it.
    """
    post = find_all(database, [post_id]).get(post_id)
    if post is None:
        raise UnknownPost
    reader = audiences.reader_of(database, reader_id, [post])
    if not may_see(reader, post):
        raise UnknownPost
    return reader, post


def find_all(
    database: Database[Document], post_ids: Iterable[str], also: Document | None = None
) -> dict[str, Document]:
    """Return posts by id with their last comments, whoever may see them."""
    where = {"_id": {"$in": list(post_ids)}, "deleted": False, **(also or {})}
    return {post["_id"]: shown(post) for post in collection(database).find(where, BODY)}


def shown(post: Document) -> Document:
    """Return a post under the names that its copies have."""
    return {**post, "id": post["_id"]}
