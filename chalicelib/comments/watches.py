"""Watches: a person watches or mutes a discussion or a thread.

A watch of a thread overrides the watch of its discussion.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel, UpdateOne
from pymongo.database import Database

from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import all_of
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import root_id
from chalicelib.database import Collection, Document, prefix_range, upsert
from chalicelib.http.paging import Position
from chalicelib.notifications.errors import TooManyWatches
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE

WatchLevel = Literal["watching", "muted"]
MOST = 1_000
_AT_ONCE = 100
WHOLE = ""


class Watch(TypedDict):
    """A person's watch; `_id` is `{node}/{thread}/{person}`.

    `thread`: the id of its first comment; empty: the whole discussion. `since`: the last change of
    the level; earlier comments do not notify.
    """

    _id: str
    site: str
    node_id: str
    thread: str
    user_id: str
    level: WatchLevel
    since: datetime


WATCHES = Collection(
    "comments.watch",
    Watch,
    indexes=(
        IndexModel([("user_id", ASCENDING), ("since", DESCENDING), ("_id", DESCENDING)]),
        # Finds the people who watch, in pages.
        IndexModel([("site", ASCENDING), ("_id", ASCENDING)]),
    ),
    shard_key={"site": 1, "_id": 1},
)


def thread_of(node: Node, comment: Comment) -> str:
    """Return the thread of a comment; a flat discussion has none."""
    return root_id(comment["full_slug"]) if node["threaded"] else WHOLE


def watch_id(node_id: str, thread: str, user_id: str) -> str:
    """Return the id of a person's watch."""
    return f"{node_id}/{thread}/{user_id}"


def _key(node: Node, thread: str, user_id: str) -> Document:
    return {"_id": watch_id(node["_id"], thread, user_id), "site": node["site"]}


def put(runtime: Runtime, node: Node, thread: str, user_id: str, level: WatchLevel) -> Watch:
    """Set a person's level of a discussion or thread; raises TooManyWatches."""
    rows, key = WATCHES.of(runtime.database), _key(node, thread, user_id)
    found = find(runtime.database, node, thread, user_id)
    if found is not None and found["level"] == level:
        return found
    # Concurrent calls may exceed the limit by a few.
    if found is None and rows.count_documents({"user_id": user_id}, limit=MOST) == MOST:
        raise TooManyWatches
    watch: Watch = {
        "_id": key["_id"],
        "site": node["site"],
        "node_id": node["_id"],
        "thread": thread,
        "user_id": user_id,
        "level": level,
        "since": runtime.now(),
    }
    upsert(rows, key, {"$set": {name: value for name, value in watch.items() if name not in key}})
    return watch


def remove(database: Database[Document], node: Node, thread: str, user_id: str) -> bool:
    """Remove a person's watch; return whether there was a watch."""
    return WATCHES.of(database).delete_one(_key(node, thread, user_id)).deleted_count > 0


def find(database: Database[Document], node: Node, thread: str, user_id: str) -> Watch | None:
    """Return a person's watch of a thread, or of the discussion if `thread` is empty."""
    return WATCHES.of(database).find_one(_key(node, thread, user_id))


def find_own(
    database: Database[Document], user_id: str, limit: int, after: Position | None
) -> list[Watch]:
    """Return a person's watches, the latest first."""
    where: Document = {"user_id": user_id}
    if after is not None:
        since, last = after
        where["$or"] = [{"since": {"$lt": since}}, {"since": since, "_id": {"$lt": last}}]
    rows = WATCHES.of(database).find(where).sort([("since", DESCENDING), ("_id", DESCENDING)])
    return list(rows.limit(limit))


def levels(
    database: Database[Document], node: Node, thread: str, people: Iterable[str]
) -> dict[str, WatchLevel]:
    """Return people's levels for a thread, by user id; people without a watch are absent.

    A level of the thread overrides a level of the discussion.
    """
    ids = [watch_id(node["_id"], each, who) for who in people for each in {WHOLE, thread}]
    if not ids:
        return {}
    found = list(WATCHES.of(database).find({"site": node["site"], "_id": {"$in": ids}}))
    # A thread's row sorts behind its discussion's row, and overrides it.
    return {row["user_id"]: row["level"] for row in sorted(found, key=lambda row: row["thread"])}


def find_watchers(
    database: Database[Document], node: Node, comment: Comment, after: str, most: int
) -> Sequence[Watch]:
    """Return `watching` rows of a comment's discussion and thread, by id, behind the id `after`.

    Omits watches newer than the comment.
    """
    threads = {WHOLE, thread_of(node, comment)}
    ranges = [{"_id": {**prefix_range(f"{node['_id']}/{each}/"), "$gt": after}} for each in threads]
    until = {"level": "watching", "since": {"$lte": comment["posted"]}}
    found = WATCHES.of(database).find({"site": node["site"], "$or": ranges, **until})
    return list(found.sort("_id", ASCENDING).limit(most))


def forget(database: Database[Document], node: Node, until: datetime) -> None:
    """Remove a node's watches; `until`: the latest `since`."""
    WATCHES.of(database).delete_many({**all_of(node, node["site"]), "since": {"$lte": until}})


def erase(database: Database[Document], user_id: str, until: datetime | None) -> None:
    """Remove a person's watches; `until`: the latest `since`, None: all watches."""
    since: Document = {"since": {"$lte": until}} if until else {}
    WATCHES.of(database).delete_many({"user_id": user_id, **since})


def carry(runtime: Runtime, node: Node, to: str) -> None:
    """Move the watches of a moved node to its new id.

    An existing watch at the new id stays. A repeated call continues after a crash. If a new node
    has taken the former id, nothing changes.
    """
    rows, site = WATCHES.of(runtime.database), site_of(to) or DEFAULT_SITE
    while found := list(rows.find(all_of(node, node["site"])).limit(_AT_ONCE)):
        if not nodes.forwards(runtime.database, node["_id"], to):
            return
        rows.bulk_write(
            [_insertion_of_watch(row, to, site, row["user_id"]) for row in found], ordered=False
        )
        ids = [row["_id"] for row in found]
        rows.delete_many({"site": node["site"], "_id": {"$in": ids}})


def give(database: Database[Document], site: str, giver: str, to: str) -> None:
    """Move a person's watches at a site to an account; existing watches of the account stay."""
    rows = WATCHES.of(database)
    for row in list(rows.find({"user_id": giver, "site": site})):
        rows.bulk_write([_insertion_of_watch(row, row["node_id"], site, to)])
        rows.delete_one({"_id": row["_id"], "site": site})


def _insertion_of_watch(row: Watch, node_id: str, site: str, user_id: str) -> UpdateOne:
    """Return the upsert of a watch at another node or person; an existing watch stays."""
    moved = {"node_id": node_id, "user_id": user_id}
    kept = {"thread": row["thread"], "level": row["level"], "since": row["since"]}
    key = {"_id": watch_id(node_id, row["thread"], user_id), "site": site}
    return UpdateOne(key, {"$setOnInsert": {**moved, **kept}}, upsert=True)
