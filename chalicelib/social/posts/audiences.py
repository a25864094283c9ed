"""Whom a post goes to: today's followers or members, or those of the moment it was posted."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document, insert_missing
from chalicelib.database.validators import AtMost
from chalicelib.social.errors import UnknownUser
from chalicelib.social.graph import following, users
from chalicelib.social.graph.reader import Reader
from chalicelib.social.paging.id_range import IdRange
from chalicelib.social.posts.models import ALL_CIRCLES, AT_POST, PUBLIC

MEMBERS_PER_DOCUMENT = 1_000


class Audience(TypedDict):
    """Some of those whom a post went to, in order, from the first to the last."""

    _id: str
    post_id: str
    ts: datetime
    first: str
    last: str
    members: Annotated[list[str], AtMost(MEMBERS_PER_DOCUMENT)]


# The audience of a post `at_post`, a thousand sorted ids a document.
AUDIENCES = Collection(
    "social.audience",
    Audience,
    indexes=(
        IndexModel([("post_id", ASCENDING), ("first", ASCENDING)]),
        IndexModel([("members", ASCENDING), ("ts", ASCENDING), ("post_id", ASCENDING)]),
    ),
    shard_key={"post_id": 1},
)


def of(database: Database[Document], post: Document, ids: IdRange) -> list[str]:
    """Return the ids of those whom a post goes to, in order.

    A public post goes to the followers, another to the members of its circles.
    """
    if post["audience"] == AT_POST:
        return _kept_ids(database, post["_id"], ids)
    return _today(database, post, ids)


def _today(database: Database[Document], post: Document, ids: IdRange) -> list[str]:
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
    rows = database[AUDIENCES.name].find({"post_id": post_id, "last": {"$gt": ids.after}})
    found: list[str] = []
    for row in rows.sort("first", ASCENDING):
        found += ids.cut(row["members"])
        if ids.limit and len(found) >= ids.limit:
            break
    return found[: ids.limit]


def is_above(database: Database[Document], post: Document, line: int) -> bool:
    """Tell whether a post goes to more than so many; the author's counts answer if they can."""
    author = users.collection(database).find_one({"_id": post["by"]["id"]}, {"counts": 1})
    if author is None:
        return False
    count = "followers" if post["circles"] == [PUBLIC] else "following"
    if post["circles"] == [PUBLIC] or author["counts"][count] <= line:
        return bool(author["counts"][count] > line)
    return len(of(database, post, IdRange(limit=line + 1))) > line


def keep(database: Database[Document], post: Document) -> None:
    """Write down who a new post goes to, before the post itself is written."""
    ids, number = IdRange(limit=MEMBERS_PER_DOCUMENT), 0
    while members := _today(database, post, ids):
        row: Audience = {
            # A number, since an id that names a member could not be taken from it again.
            "_id": f"{post['_id']}:{number}",
            "post_id": post["_id"],
            "ts": post["ts"],
            "first": members[0],
            "last": members[-1],
            "members": members,
        }
        insert_missing(database[AUDIENCES.name], [{**row}])
        ids, number = ids._replace(after=members[-1]), number + 1


def forget(database: Database[Document], post_id: str) -> None:
    """Drop what was kept for a post."""
    database[AUDIENCES.name].delete_many({"post_id": post_id})


def forget_member(database: Database[Document], user_id: str) -> None:
    """Take a user out of every audience that was kept, and from its bounds."""
    rows = database[AUDIENCES.name]
    rows.delete_many({"members": [user_id]})
    others = {"$filter": {"input": "$members", "cond": {"$ne": ["$$this", user_id]}}}
    bounds = {"first": {"$first": "$members"}, "last": {"$last": "$members"}}
    rows.update_many({"members": user_id}, [{"$set": {"members": others}}, {"$set": bounds}])


def kept_for(
    database: Database[Document], reader_id: str, post_ids: Iterable[str]
) -> frozenset[str]:
    """Return those of the posts that kept the reader as one of their audience."""
    wanted = list(post_ids)
    if not wanted:
        return frozenset()
    has = {"first": {"$lte": reader_id}, "last": {"$gte": reader_id}, "members": reader_id}
    rows = database[AUDIENCES.name].find({"post_id": {"$in": wanted}, **has}, {"post_id": 1})
    return frozenset(row["post_id"] for row in rows)


def reader_of(database: Database[Document], reader_id: str | None, posts: list[Document]) -> Reader:
    """Return what a reader is to some posts: to their authors and to those who commented."""
    people = {post["by"]["id"] for post in posts}
    people |= {comment["by"]["id"] for post in posts for comment in post["comments"]}
    reader = following.reader(database, reader_id, people)
    if reader_id is None:
        return reader
    kept = kept_for(database, reader_id, [p["id"] for p in posts if p["audience"] == AT_POST])
    return replace(reader, kept=kept)
