"""Posts: the system of record behind every view."""

from collections.abc import Iterable
from typing import cast

from pydantic import BaseModel
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib import happenings
from chalicelib.assets import pictures
from chalicelib.database import Collection, Document, in_transaction
from chalicelib.errors import Forbidden
from chalicelib.happenings import Cause
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE
from chalicelib.social.delivery import state
from chalicelib.social.errors import PollHasVotes, PostTypeNotAllowed, UnknownPost
from chalicelib.social.graph import blocks, circles, users
from chalicelib.social.graph.audience import PUBLIC, Reader
from chalicelib.social.graph.users import By
from chalicelib.social.messages import Deliver, Propagate
from chalicelib.social.posts import audiences
from chalicelib.social.posts.forms import AT_POST, COMMENTS_SHOWN, NewPost, PostEdit
from chalicelib.social.posts.shapes import Post, PostBody, ReadPost, ShownPost
from chalicelib.social.posts.types import is_allowed, picture_fields
from chalicelib.social.posts.visibility import may_see, without_hidden

POSTS = Collection(
    "social.post",
    Post,
    indexes=(
        IndexModel([("by.id", ASCENDING), ("ts", ASCENDING), ("_id", ASCENDING)]),
        IndexModel([("wall", ASCENDING), ("ts", ASCENDING), ("_id", ASCENDING)]),
        *state.INDEXES,
        IndexModel([("comments.by.id", ASCENDING)], sparse=True),
        IndexModel(
            [("spread.due", ASCENDING)],
            partialFilterExpression={"spread.due": {"$exists": True}},
        ),
    ),
    shard_key={"_id": "hashed"},
)

# The projection for readers: the post and its last comments.
BODY = {"fan_out": 0, "comments": {"$slice": -COMMENTS_SHOWN}}
# The condition of an edit: a poll has no votes.
_NO_VOTES = {"vote_count": {"$in": [None, 0]}}


def publish(runtime: Runtime, caller: Principal, new: NewPost) -> ReadPost:
    """Store a post and its pending fan-out in one write; then send the fan-out's message.

    If the message is lost, the sweep sends it again. If the wall's owner blocks the author, the
    post goes to the author's own wall. Raises PostTypeNotAllowed, UnknownCircle, UnknownUser
    (`wall`) and UnknownAsset.
    """
    if not is_allowed(new.type, runtime.settings.post_types):
        raise PostTypeNotAllowed
    database = runtime.database
    author = users.ensure(runtime, caller)
    keys = circles.keys(database, caller.id, [new.circles])
    wall = _wall_for(database, caller.id, new.wall_owner_id)
    post = _new_post(runtime, author, new, wall, [keys[each] for each in new.circles])
    named = pictures.find_assets(picture_fields(new.type), post["detail"])
    pictures.check(database, named, caller)
    is_recorded = new.audience == AT_POST
    if is_recorded:
        audiences.keep(runtime, post)

    def store(session: ClientSession | None) -> None:
        POSTS.of(database).insert_one(post, session=session)
        if is_recorded:
            audiences.settle(database, post["_id"], session)

    with happenings.telling(runtime, DEFAULT_SITE, "post", post["_id"]):
        if is_recorded and not named:
            in_transaction(database, store)
        else:
            pictures.writing(database, named, store)
    runtime.queues.send(Deliver(post_id=post["_id"]))
    return to_read_post(post)


def _wall_for(database: Database[Document], author_id: str, wanted: str | None) -> str:
    """Return the owner of a new post's wall; raises UnknownUser.

    Returns the author if `wanted` is None or blocks the author.
    """
    if wanted is None or wanted == author_id:
        return author_id
    users.find(database, wanted)
    return author_id if blocks.among(database, wanted, {author_id}) else wanted


def _new_post(runtime: Runtime, author: By, new: NewPost, wall: str, audience: list[str]) -> Post:
    now = runtime.now()
    return {
        "_id": new_id(now, runtime.random),
        "by": author,
        "wall": wall,
        "circles": audience,
        "type": new.type,
        "detail": _detail(runtime, new.type, new.detail),
        "ts": now,
        "edited": None,
        "audience": new.audience,
        "deleted": False,
        "comments": [],
        "comment_count": 0,
        "spread": {"version": 0},
        "fan_out": {**state.new(runtime), "pull": False},
    }


def _detail(runtime: Runtime, name: str, given: BaseModel) -> Document:
    """Return the detail of a post of a type in its stored form."""
    detail = given.model_dump(exclude_none=True)
    return pictures.to_references(picture_fields(name), detail, runtime.settings.public_url)


def edit(runtime: Runtime, post_id: str, caller: Principal, given: PostEdit) -> ShownPost:
    """Change the detail of a post of the caller's, and propagate it to every copy.

    Raises UnknownPost, Forbidden for readers other than the author, PollHasVotes and UnknownAsset.
    """
    own = find_own(runtime.database, post_id, caller)
    detail, fields = _detail(runtime, own["type"], given.detail), picture_fields(own["type"])
    added = pictures.find_assets(fields, detail) - pictures.find_assets(fields, own["detail"])
    pictures.check(runtime.database, added, caller)
    change = {"detail": detail, "edited": runtime.now()}
    if not _mark(runtime, post_id, change, _NO_VOTES):
        find_own(runtime.database, post_id, caller)
        raise PollHasVotes
    runtime.queues.send(Propagate(post_id=post_id))
    return find_visible(runtime.database, post_id, caller.id)


def delete(runtime: Runtime, post_id: str, caller: Principal) -> None:
    """Delete a post of the caller's, or any as a social moderator; workers delete its copies.

    A tombstone without content stays, so that a late delivery finds nothing to deliver. Raises
    UnknownPost and Forbidden.
    """
    if not caller.has("social_moderator"):
        find_own(runtime.database, post_id, caller)
    if not bury(runtime, post_id):
        raise UnknownPost
    runtime.queues.send(Propagate(post_id=post_id))


def bury(runtime: Runtime, post_id: str) -> bool:
    """Make a post a tombstone; return False if it is a tombstone already, or unknown."""
    gone = {"deleted": True, "detail": {}, "comments": [], "reactions": {}, **state.end_fields()}
    with happenings.telling(runtime, DEFAULT_SITE, "post", post_id):
        return _mark(runtime, post_id, gone)


def _mark(runtime: Runtime, post_id: str, change: Document, also: Document | None = None) -> bool:
    """Change a post and note, in the same write, that its copies are behind.

    `change` has the new detail; the transaction releases pictures that only the former detail has.
    Returns False for a tombstone, or if the post does not meet the condition `also`.
    """
    rows, there = POSTS.of(runtime.database), {"_id": post_id, "deleted": False, **(also or {})}
    update, kept = (
        mark_behind(runtime, {"$set": change}),
        rows.find_one({"_id": post_id}, {"type": 1}),
    )
    fields = picture_fields(kept["type"]) if kept else frozenset()
    if not fields:
        return bool(rows.update_one(there, update).matched_count)

    def work(session: ClientSession) -> bool:
        before = rows.find_one_and_update(there, update, {"detail": 1}, session=session)
        if before is None:
            return False
        held, named = (pictures.find_assets(fields, each["detail"]) for each in (before, change))
        pictures.change(runtime.database, session, held, named)
        return True

    return in_transaction(runtime.database, work)


def mark_behind(runtime: Runtime, change: Document) -> Document:
    """Return an update of posts that also notes that their copies are behind.

    The caller runs the update and sends a `Propagate` for each post.
    """
    due, version = {"spread.due": state.lease_end(runtime)}, {"spread.version": 1}
    return {
        **change,
        "$set": {**change.get("$set", {}), **due},
        "$inc": {**change.get("$inc", {}), **version},
    }


def find_own(database: Database[Document], post_id: str, caller: Principal) -> ShownPost:
    """Return a post of the caller's; raises UnknownPost and Forbidden."""
    post = find_visible(database, post_id, caller.id)
    if post["by"]["id"] != caller.id:
        raise Forbidden("Only its author can change a post")
    return post


def find_visible(database: Database[Document], post_id: str, reader_id: str | None) -> ShownPost:
    """Return a post with its last comments; raises UnknownPost if the reader may not see it."""
    reader, post = find_with_reader(database, post_id, reader_id)
    return without_hidden(reader, post)


def find_with_reader(
    database: Database[Document], post_id: str, reader_id: str | None
) -> tuple[Reader, ReadPost]:
    """Return the reader's relations and a post, including comments that blocks hide.

    The relations are to the authors of the post and its last comments. Raises UnknownPost if the
    reader may not see the post.
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
) -> dict[str, ReadPost]:
    """Return posts by id with their last comments; no tombstones, no check for the reader."""
    where = {"_id": {"$in": list(post_ids)}, "deleted": False, **(also or {})}
    return {post["_id"]: to_read_post(post) for post in POSTS.of(database).find(where, BODY)}


def find_cause(runtime: Runtime, post_id: str) -> Cause | None:
    """Return a public post as the cause of an action. None: the post is gone or not public."""
    post = find_all(runtime.database, [post_id]).get(post_id)
    if post is None or post["circles"] != [PUBLIC]:
        return None
    return Cause(post["by"]["id"], post["by"]["name"], post["ts"], thing_id=post_id)


def to_read_post(post: PostBody) -> ReadPost:
    """Return a post with the copies' field `id`, and with `votes`, empty before the first vote."""
    # Later steps add `results` and `reacted`.
    return cast("ReadPost", {**post, "id": post["_id"], "votes": post.get("votes", {})})
