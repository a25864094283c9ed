"""Posts: the system of record, from which every view is made."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from pymongo import ASCENDING, IndexModel
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.errors import Forbidden, UnknownCircle, UnknownPost
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.social import graph, users
from chalicelib.social.messages import Deliver
from chalicelib.social.models import ALL_CIRCLES, PUBLIC, NewPost
from chalicelib.social.visibility import may_see
from chalicelib.social.walls import COMMENTS_SHOWN

UNFINISHED = ("pending", "delivering")

POSTS = Collection(
    "social.post",
    indexes=(
        IndexModel([("by.id", ASCENDING), ("ts", ASCENDING), ("_id", ASCENDING)]),
        IndexModel([("wall", ASCENDING), ("ts", ASCENDING), ("_id", ASCENDING)]),
        IndexModel(
            [("fan_out.state", ASCENDING), ("fan_out.expires_at", ASCENDING)],
            partialFilterExpression={"fan_out.state": {"$in": list(UNFINISHED)}},
        ),
        IndexModel(
            [("spread.due", ASCENDING)],
            partialFilterExpression={"spread.due": {"$exists": True}},
        ),
    ),
    shard_key={"_id": "hashed"},
)

# What readers are shown: the post and its last comments.
_BODY = {"fan_out": 0, "comments": {"$slice": -COMMENTS_SHOWN}}


def collection(database: Database[Document]) -> MongoCollection[Document]:
    """Return the posts' collection."""
    return database[POSTS.name]


def publish(runtime: Runtime, caller: Principal, new: NewPost) -> Document:
    """Store a post with its fan-out pending, in one write; then ask for the fan-out.

    Should the asking fail, the sweep does it. Raises UnknownCircle and UnknownUser (`wall`).
    """
    database = runtime.database
    author = users.ensure(database, caller)
    named = set(new.circles) - {PUBLIC, ALL_CIRCLES}
    if not graph.has_circles(database, caller.id, named):
        raise UnknownCircle
    wall = new.wall or caller.id
    if wall != caller.id:
        users.find(database, wall)
    now = runtime.now()
    post: Document = {
        "_id": new_id(now, runtime.random),
        "by": author,
        "wall": wall,
        "circles": new.circles,
        "type": new.type,
        "detail": new.detail.model_dump(exclude_none=True),
        "ts": now,
        "edited": None,
        "audience": "at_view",
        "deleted": False,
        "comments": [],
        "comment_count": 0,
        "spread": {"version": 0},
        "fan_out": {
            "state": "pending",
            "owner": None,
            # Until then the message that follows is expected to be at work.
            "expires_at": now + timedelta(milliseconds=runtime.settings.lease_ms),
            "attempts": 0,
            "cursor": "",
            "planned": False,
            "chunks": [],
            "chunks_done": [],
            "reason": None,
        },
    }
    collection(database).insert_one(post)
    runtime.queues.send(Deliver(post_id=post["_id"]))
    return _shown(post)


def find_visible(database: Database[Document], post_id: str, reader_id: str | None) -> Document:
    """Return a post with its last comments; raises UnknownPost for those who may not see it."""
    post = find_all(database, [post_id]).get(post_id)
    if post is None or not may_see(graph.reader(database, reader_id, [post["by"]["id"]]), post):
        raise UnknownPost
    return post


def find_all(database: Database[Document], post_ids: Iterable[str]) -> dict[str, Document]:
    """Return posts by id with their last comments, whoever may see them."""
    where = {"_id": {"$in": list(post_ids)}, "deleted": False}
    return {post["_id"]: _shown(post) for post in collection(database).find(where, _BODY)}


def fan_out_of(database: Database[Document], post_id: str, caller: Principal) -> dict[str, Any]:
    """Return how far a post's fan-out has come, for its author and for staff.

    `delivered` and `total` count readers. Raises UnknownPost, and Forbidden for those who
    may see the post but not this.
    """
    post = collection(database).find_one({"_id": post_id, "deleted": False})
    if post is None:
        raise UnknownPost
    is_staff = caller.has("moderator")
    if caller.id != post["by"]["id"] and not is_staff:
        find_visible(database, post_id, caller.id)
        raise Forbidden("A fan-out is shown to the post's author and to moderators")
    fan_out = post["fan_out"]
    sizes = [chunk["size"] for chunk in fan_out["chunks"]]
    progress = {
        "state": fan_out["state"],
        "delivered": sum(sizes[number] for number in fan_out["chunks_done"]),
        "total": sum(sizes),
    }
    return {**progress, "reason": fan_out["reason"]} if is_staff else progress


def _shown(post: Document) -> Document:
    """Return a post under the names that its copies have."""
    return {**post, "id": post["_id"]}
