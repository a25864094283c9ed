"""Walls as copies: a document per user, month and number, holding up to a hundred posts.

MongoDB Applied Design Patterns, ch. 9, "Dependent Collections". A copy carries what its post
says, the last three comments and `comments_shown`, their number, by which the truncation
finds the copies that have too many.
"""

from datetime import datetime
from typing import Any

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.database import Collection, Document
from chalicelib.http import PageQuery
from chalicelib.runtime import Runtime
from chalicelib.social import graph, timelines
from chalicelib.social.timelines import Entry, Position, older_than
from chalicelib.social.visibility import may_see

WALLS = Collection(
    "social.wall",
    indexes=(
        IndexModel([("user_id", ASCENDING), ("month", ASCENDING), ("seq", ASCENDING)], unique=True),
        IndexModel([("posts.id", ASCENDING)]),
        IndexModel([("posts.comments_shown", ASCENDING)]),
    ),
    shard_key={"user_id": 1},
)
POSTS_PER_DOCUMENT = 100
COMMENTS_SHOWN = 3
COPIED = ("by", "wall", "circles", "type", "detail", "ts", "edited", "comment_count")
# The order of comments, from the oldest.
BY_TIME = {"ts": 1, "id": 1}


def read(
    runtime: Runtime, owner_id: str, reader_id: str | None, query: PageQuery
) -> dict[str, Any]:
    """Return a page of a wall: posts by or to its owner that the reader may see.

    On their own wall, owners see what others wrote if they follow them.
    """

    def fetch(after: Position | None, count: int) -> list[Entry]:
        copies = newest(runtime.database, owner_id, after, count)
        return [Entry(Position(copy["ts"], copy["id"]), copy) for copy in copies]

    def check(posts: list[Document]) -> list[bool]:
        authors = {post["by"]["id"] for post in posts}
        reader = graph.reader(runtime.database, reader_id, authors)
        welcome = reader.following | {owner_id} if reader_id == owner_id else authors
        return [may_see(reader, post) and post["by"]["id"] in welcome for post in posts]

    return timelines.page(runtime, query, f"wall:{owner_id}", fetch, check)


def append(database: Database[Document], user_id: str, post: Document) -> None:
    """Put a copy of a post, read with its last comments, on a wall; doing so again changes nothing.

    The copy goes to the month's last document, and to the next one when that is full.
    `appended` never falls, so a document that was full for one worker is full for all: no two
    can put the same post into two documents.
    """
    walls = _collection(database)
    month = {"user_id": user_id, "month": month_of(post["ts"])}
    if walls.find_one({**month, "posts.id": post["_id"]}, {"_id": 1}):
        return
    last = walls.find_one(month, {"seq": 1}, sort=[("seq", DESCENDING)])
    seq = last["seq"] if last else 0
    while not _append_to(walls, {**month, "seq": seq}, _copy(post)):
        seq += 1


def _append_to(walls: MongoCollection[Document], key: Document, copy: Document) -> bool:
    """Put a copy into one document, which is made where it is missing; False if it is full."""
    room = {"appended": {"$lt": POSTS_PER_DOCUMENT}, "posts.id": {"$ne": copy["id"]}}
    push = {"$push": {"posts": copy}, "$inc": {"appended": 1}}
    while True:
        try:
            walls.update_one({**key, **room}, push, upsert=True)
        except DuplicateKeyError:
            # It is full, has the copy, or was made by another worker just now.
            if walls.find_one({**key, "posts.id": copy["id"]}, {"_id": 1}):
                return True
            if walls.find_one({**key, "appended": {"$gte": POSTS_PER_DOCUMENT}}, {"_id": 1}):
                return False
        else:
            return True


def _copy(post: Document) -> Document:
    comments = post["comments"][-COMMENTS_SHOWN:]
    return {
        "id": post["_id"],
        **{name: post[name] for name in COPIED},
        "comments": comments,
        "comments_shown": len(comments),
    }


def newest(
    database: Database[Document], user_id: str, after: Position | None, count: int
) -> list[Document]:
    """Return up to `count` copies that follow a position, newest first, across months."""
    walls = _collection(database)
    where: Document = {"user_id": user_id}
    if after:
        where["month"] = {"$lte": month_of(after.ts)}
    found: list[Document] = []
    while len(found) < count:
        last = walls.find_one(where, {"month": 1}, sort=[("month", DESCENDING)])
        if last is None:
            break
        found += _of_month(walls, user_id, last["month"], after, count - len(found))
        where["month"] = {"$lt": last["month"]}
    return found


def _of_month(
    walls: MongoCollection[Document],
    user_id: str,
    month: str,
    after: Position | None,
    count: int,
) -> list[Document]:
    """Return a month's copies, its documents merged, so that late deliveries stand in place."""
    return list(
        walls.aggregate(
            [
                {"$match": {"user_id": user_id, "month": month}},
                {"$unwind": "$posts"},
                {"$replaceRoot": {"newRoot": "$posts"}},
                {"$match": older_than(after, "ts", "id")},
                {"$sort": {"ts": -1, "id": -1}},
                {"$limit": count},
            ]
        )
    )


def spread_comments(database: Database[Document], post: Document) -> None:
    """Bring a post's last comments to every copy of it, in whatever month.

    A copy that has a comment is left alone, and the sort keeps the newest ones, so that
    neither a repeat nor a late delivery brings an old comment back.
    """
    walls = _collection(database)
    for comment in post["comments"][-COMMENTS_SHOWN:]:
        lacks = {"id": post["_id"], "comments.id": {"$ne": comment["id"]}}
        in_each = {f"each.{name}": value for name, value in lacks.items()}
        in_short = {f"short.{name}": value for name, value in lacks.items()}
        walls.update_many(
            {"posts": {"$elemMatch": lacks}},
            {
                "$push": {"posts.$[each].comments": _keep_last([comment])},
                "$max": {"posts.$[each].comment_count": post["comment_count"]},
                "$inc": {"posts.$[short].comments_shown": 1},
            },
            array_filters=[in_each, {**in_short, "short.comments_shown": {"$lt": COMMENTS_SHOWN}}],
        )


def truncate_comments(database: Database[Document]) -> int:
    """Cut every copy that shows too many comments to the last ones; return how many documents.

    Such copies come of a bound that was lowered. All copies of a document are cut at once.
    """
    too_many = {"comments_shown": {"$gt": COMMENTS_SHOWN}}
    return (
        _collection(database)
        .update_many(
            {f"posts.{name}": value for name, value in too_many.items()},
            {
                "$push": {"posts.$[long].comments": _keep_last([])},
                "$set": {"posts.$[long].comments_shown": COMMENTS_SHOWN},
            },
            array_filters=[{f"long.{name}": value for name, value in too_many.items()}],
        )
        .modified_count
    )


def month_of(ts: datetime) -> str:
    """Return the month of a post as its walls' documents name it: `202603`, in UTC."""
    return f"{ts.year:04}{ts.month:02}"


def _keep_last(comments: list[Document]) -> Document:
    return {"$each": comments, "$sort": BY_TIME, "$slice": -COMMENTS_SHOWN}


def _collection(database: Database[Document]) -> MongoCollection[Document]:
    return database[WALLS.name]
