"""The audience of a post: today's followers or members, or the members recorded at posting."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.bounds import BOUNDS
from chalicelib.database import Collection, Document, insert_missing
from chalicelib.database.validators import AtMost
from chalicelib.runtime import Runtime
from chalicelib.social.errors import UnknownUser
from chalicelib.social.graph import following, users
from chalicelib.social.graph.audience import ALL_CIRCLES, PUBLIC, Reader
from chalicelib.social.paging import IdRange
from chalicelib.social.posts.forms import AT_POST
from chalicelib.social.posts.shapes import PostBody, ShownPost


class Audience(TypedDict):
    """A part of a post's audience: `members` has the ids from `first` to `last`, in order.

    `expires`: the time at which the server deletes a row without a stored post; `settle` removes
    this field.
    """

    _id: str
    post_id: str
    ts: datetime
    first: str
    last: str
    members: Annotated[list[str], AtMost(BOUNDS.social.audience_members)]
    expires: NotRequired[datetime]


# The audience of a post `at_post`, a thousand sorted ids a document.
AUDIENCES = Collection(
    "social.audience",
    Audience,
    indexes=(
        IndexModel([("post_id", ASCENDING), ("first", ASCENDING)]),
        IndexModel([("members", ASCENDING), ("ts", ASCENDING), ("post_id", ASCENDING)]),
        IndexModel("expires", expireAfterSeconds=0),
    ),
    shard_key={"post_id": 1},
)
# A repeated call with the same `Idempotency-Key` can store the post later, but not after this.
_UNSTORED_KEPT = timedelta(days=2)


def of(database: Database[Document], post: PostBody, ids: IdRange) -> list[str]:
    """Return the ids of a post's audience in a range of ids, in order.

    A public post goes to the followers, any other post to the members of its circles; an `at_post`
    post goes to the members recorded at posting.
    """
    if post["audience"] == AT_POST:
        return _kept_ids(database, post["_id"], ids)
    return _today(database, post, ids)


def _today(database: Database[Document], post: PostBody, ids: IdRange) -> list[str]:
    author = post["by"]["id"]
    try:
        store = following.store_of(database, author)
    except UnknownUser:
        return []
    if post["circles"] == [PUBLIC]:
        return store.follower_ids(author, ids)
    circles = None if post["circles"] == [ALL_CIRCLES] else post["circles"]
    return [each.id for each in store.members(author, circles, ids)]


def _kept_ids(database: Database[Document], post_id: str, ids: IdRange) -> list[str]:
    rows = AUDIENCES.of(database).find({"post_id": post_id, "last": {"$gt": ids.after}})
    found: list[str] = []
    for row in rows.sort("first", ASCENDING):
        found += ids.cut(row["members"])
        if ids.limit and len(found) >= ids.limit:
            break
    return found[: ids.limit]


def is_above(database: Database[Document], post: PostBody, line: int) -> bool:
    """Return whether a post's audience has more than `line` readers; False without its author.

    Reads the audience only if the author's counts do not decide.
    """
    author = users.USERS.of(database).find_one({"_id": post["by"]["id"]}, {"counts": 1})
    if author is None:
        return False
    if post["circles"] == [PUBLIC]:
        return author["counts"]["followers"] > line
    # The members of all circles; the audience is a part of them.
    if author["counts"]["following"] <= line:
        return False
    return len(of(database, post, IdRange(limit=line + 1))) > line


def keep(runtime: Runtime, post: PostBody) -> None:
    """Record the audience of a new post before the write of the post, in rows with a TTL.

    `settle` makes the rows permanent. A repeated call continues after the last row.
    """
    database = runtime.database
    ids, number = IdRange(limit=runtime.bounds.social.audience_members), 0
    last = AUDIENCES.of(database).find_one(
        {"post_id": post["_id"]}, {"last": 1}, sort=[("first", DESCENDING)]
    )
    if last is not None:
        ids = ids._replace(after=last["last"])
        number = int(last["_id"].rpartition(":")[2]) + 1
    while members := _today(database, post, ids):
        row: Audience = {
            # A number, no member's id: an erasure cannot change an `_id`.
            "_id": f"{post['_id']}:{number}",
            "post_id": post["_id"],
            "ts": post["ts"],
            "first": members[0],
            "last": members[-1],
            "members": members,
            "expires": runtime.now() + _UNSTORED_KEPT,
        }
        insert_missing(AUDIENCES.of(database), [row])
        ids, number = ids._replace(after=members[-1]), number + 1


def settle(database: Database[Document], post_id: str, session: ClientSession | None) -> None:
    """Make a recorded audience permanent, in the transaction that stores its post."""
    stays = {"$unset": {"expires": ""}}
    AUDIENCES.of(database).update_many({"post_id": post_id}, stays, session=session)


def forget(database: Database[Document], post_id: str) -> None:
    """Delete the recorded audience of a post."""
    AUDIENCES.of(database).delete_many({"post_id": post_id})


def forget_member(
    database: Database[Document], user_id: str, until: datetime | None = None
) -> None:
    """Remove a user from the recorded audiences of posts up to `until`, and from their bounds."""
    rows = AUDIENCES.of(database)
    old: Document = {"ts": {"$lte": until}} if until else {}
    rows.delete_many({"members": [user_id], **old})
    others = {"$filter": {"input": "$members", "cond": {"$ne": ["$$this", user_id]}}}
    bounds = {"first": {"$first": "$members"}, "last": {"$last": "$members"}}
    rows.update_many({"members": user_id, **old}, [{"$set": {"members": others}}, {"$set": bounds}])


def kept_for(
    database: Database[Document], reader_id: str, post_ids: Iterable[str]
) -> frozenset[str]:
    """Return the ids among `post_ids` of posts with the reader in the recorded audience."""
    wanted = list(post_ids)
    if not wanted:
        return frozenset()
    has = {"first": {"$lte": reader_id}, "last": {"$gte": reader_id}, "members": reader_id}
    rows = AUDIENCES.of(database).find({"post_id": {"$in": wanted}, **has}, {"post_id": 1})
    return frozenset(row["post_id"] for row in rows)


def reader_of(
    database: Database[Document], reader_id: str | None, posts: Sequence[ShownPost]
) -> Reader:
    """Return a reader's relations to the authors of posts and of their comments, with `kept`."""
    people = {post["by"]["id"] for post in posts}
    people |= {comment["by"]["id"] for post in posts for comment in post["comments"]}
    reader = following.reader(database, reader_id, people)
    if reader_id is None:
        return reader
    kept = kept_for(database, reader_id, [p["id"] for p in posts if p["audience"] == AT_POST])
    return replace(reader, kept=kept)
