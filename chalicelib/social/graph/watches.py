"""Watches of authors: each new post of an author notifies the followers who watch the author."""

from collections.abc import Collection as Ids
from datetime import datetime
from typing import TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document, upsert
from chalicelib.notifications.errors import TooManyWatches
from chalicelib.runtime import Runtime
from chalicelib.social.errors import NotFollowed
from chalicelib.social.graph import following
from chalicelib.social.paging import IdRange, ListPosition, older_than

MOST = 1_000


class AuthorWatch(TypedDict):
    """A reader's watch of an author; `_id` is `{author}/{reader}`.

    `since`: the watch notifies the reader of posts from then on.
    """

    _id: str
    author_id: str
    user_id: str
    since: datetime


AUTHOR_WATCHES = Collection(
    "social.watch",
    AuthorWatch,
    indexes=(
        IndexModel([("user_id", ASCENDING), ("since", DESCENDING), ("_id", DESCENDING)]),
        # Finds the readers who watch an author, in pages.
        IndexModel([("author_id", ASCENDING), ("_id", ASCENDING)]),
    ),
    shard_key={"author_id": 1, "_id": 1},
)


def watch_id(author_id: str, reader_id: str) -> str:
    """Return the id of a reader's watch of an author."""
    return f"{author_id}/{reader_id}"


def _key(author_id: str, reader_id: str) -> Document:
    return {"_id": watch_id(author_id, reader_id), "author_id": author_id}


def begin(runtime: Runtime, author_id: str, reader_id: str) -> AuthorWatch:
    """Watch an author; a second call changes nothing. Raises NotFollowed and TooManyWatches."""
    database = runtime.database
    rows, key = AUTHOR_WATCHES.of(database), _key(author_id, reader_id)
    if not find_followed(database, reader_id, {author_id}):
        raise NotFollowed
    found = rows.find_one(key)
    if found is not None:
        return found
    # Concurrent calls may exceed `MOST` by a few.
    if rows.count_documents({"user_id": reader_id}, limit=MOST) == MOST:
        raise TooManyWatches
    since = runtime.now()
    upsert(rows, key, {"$setOnInsert": {"user_id": reader_id, "since": since}})
    return {"_id": key["_id"], "author_id": author_id, "user_id": reader_id, "since": since}


def remove(database: Database[Document], author_id: str, reader_id: str) -> None:
    """Remove a reader's watch; without one, nothing changes."""
    AUTHOR_WATCHES.of(database).delete_one(_key(author_id, reader_id))


def find(database: Database[Document], author_id: str, reader_id: str) -> AuthorWatch | None:
    """Return a reader's watch of an author. None: no watch, or the reader no longer follows."""
    found = AUTHOR_WATCHES.of(database).find_one(_key(author_id, reader_id))
    return found if found and find_followed(database, reader_id, {author_id}) else None


def find_own(
    database: Database[Document], reader_id: str, limit: int, after: ListPosition | None
) -> list[AuthorWatch]:
    """Return a reader's watches, the latest first, even after the following has ended."""
    where = {"user_id": reader_id, **older_than(after, "since", "_id")}
    rows = AUTHOR_WATCHES.of(database).find(where)
    return list(rows.sort([("since", DESCENDING), ("_id", DESCENDING)]).limit(limit))


def find_followed(
    database: Database[Document], reader_id: str, author_ids: Ids[str]
) -> frozenset[str]:
    """Return the authors among `author_ids` whom a reader follows."""
    return following.reader(database, reader_id, author_ids).following


def has_watchers(database: Database[Document], author_id: str) -> bool:
    """Return whether any reader watches an author."""
    return AUTHOR_WATCHES.of(database).find_one({"author_id": author_id}, {"_id": 1}) is not None


def find_watchers(
    database: Database[Document], author_id: str, until: datetime, ids: IdRange
) -> list[str]:
    """Return the ids of readers who began to watch an author at `until` or earlier, in order.

    Only `after` and `limit` of `ids` apply.
    """
    after = {"$gt": watch_id(author_id, ids.after)}
    where = {"author_id": author_id, "_id": after, "since": {"$lte": until}}
    rows = AUTHOR_WATCHES.of(database).find(where, {"user_id": 1}).sort("_id", ASCENDING)
    return [row["user_id"] for row in rows.limit(ids.limit or 0)]


def watchers_among(
    database: Database[Document], author_id: str, until: datetime, reader_ids: Ids[str]
) -> list[str]:
    """Return the ids among `reader_ids` that began to watch an author at `until` or earlier."""
    ids = [watch_id(author_id, each) for each in reader_ids]
    where = {"author_id": author_id, "_id": {"$in": ids}, "since": {"$lte": until}}
    return [row["user_id"] for row in AUTHOR_WATCHES.of(database).find(where, {"user_id": 1})]


def end_without_tie(database: Database[Document], reader_id: str) -> None:
    """Remove a reader's watches of authors whom the reader no longer follows."""
    rows = AUTHOR_WATCHES.of(database)
    watched = {row["author_id"] for row in rows.find({"user_id": reader_id}, {"author_id": 1})}
    if ended := sorted(watched - find_followed(database, reader_id, watched)):
        ids = [watch_id(each, reader_id) for each in ended]
        rows.delete_many({"author_id": {"$in": ended}, "_id": {"$in": ids}})


def erase(database: Database[Document], user_id: str, until: datetime | None = None) -> None:
    """Remove a person's watches, and other readers' watches of the person.

    With `until`, only watches that began at that time or earlier.
    """
    since: Document = {"since": {"$lte": until}} if until else {}
    for field in ("user_id", "author_id"):
        AUTHOR_WATCHES.of(database).delete_many({field: user_id, **since})
