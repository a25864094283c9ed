"""The queue of comments that wait for a moderator, one small document for each."""

from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from bson.datetime_ms import DatetimeMS
from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.comments.answers import PendingAnswer, QueueAnswer
from chalicelib.comments.entries.rows import ENTRIES, EXCERPT_CHARACTERS, Entry
from chalicelib.comments.shapes import MAX_REASONS, Author, Comment, Node, Reason
from chalicelib.comments.stores import store_of
from chalicelib.database import Collection, Document, upsert
from chalicelib.database.validators import AtMost
from chalicelib.http import PageQuery
from chalicelib.http.pages import Cursors, paged
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderated_sites

_SCOPE = "moderation:pending"
_ORDER = [("posted", ASCENDING), ("_id", ASCENDING)]
_QUEUE_ORDER = [("queued_at", ASCENDING), ("_id", ASCENDING)]
# With the type, or the indexes, which are partial by it, would not be used.
_WAITING: Document = {"queue": {"$type": "string", "$eq": "pending"}}


class Pending(TypedDict):
    """A comment that waits for a moderator."""

    _id: str
    site: str
    node_id: str
    id: str
    posted: datetime
    edited: NotRequired[datetime | None]
    author: Author
    excerpt: str
    reasons: NotRequired[Annotated[list[Reason], AtMost(MAX_REASONS)]]


PENDING = Collection(
    "comments.pending",
    Pending,
    indexes=(
        IndexModel(_ORDER),
        IndexModel([("site", ASCENDING), *_ORDER]),
        IndexModel([("site", ASCENDING), ("node_id", ASCENDING)]),
        # Finds the comments of somebody who is renamed or erased.
        IndexModel([("author.id", ASCENDING)]),
    ),
    shard_key={"site": 1, "_id": 1},
)


def settle(database: Database[Document], node: Node, comment: Comment) -> None:
    """Make the queue agree with a comment: it is there exactly while it is pending."""
    key = {"_id": f"{node['_id']}/{comment['id']}", "site": node["site"]}
    author, text = comment["author"], comment["text"]
    if comment["state"] != "pending" or author is None or text is None:
        PENDING.of(database).delete_one(key)
        return
    waiting = {
        "node_id": node["_id"],
        "id": comment["id"],
        "posted": comment["posted"],
        "edited": comment["edited"],
        "author": author,
        "excerpt": text[:EXCERPT_CHARACTERS],
    }
    upsert(PENDING.of(database), key, {"$set": waiting})


def remove(database: Database[Document], node: Node, comment_id: str) -> None:
    """Take a comment off the queue."""
    key = {"_id": f"{node['_id']}/{comment_id}", "site": node["site"]}
    PENDING.of(database).delete_one(key)


def forget(database: Database[Document], node: Node) -> None:
    """Take every comment of a node off the queue."""
    PENDING.of(database).delete_many({"site": node["site"], "node_id": node["_id"]})


def queue_again(runtime: Runtime, node: Node) -> None:
    """Queue the node's pending comments, and take all others off the queue."""
    forget(runtime.database, node)
    for batch in store_of(runtime, node).export(node):
        for comment in batch:
            if comment["state"] == "pending":
                settle(runtime.database, node, comment)


def list_pending(runtime: Runtime, query: PageQuery, moderator: Principal) -> QueueAnswer:
    """Return the pending comments of the moderator's sites, oldest first: `{comments, next}`.

    They are read from their entries, and from the rows that the last release makes for what is
    posted to it: the next one drops these (`docs/decisions/0158-an-entry-beside-every-comment.md`).
    """
    cursors = Cursors(_SCOPE, runtime.settings.signing_keys)
    sites: Document = {}
    own_sites = moderated_sites(moderator)
    if own_sites is not None:
        sites["site"] = {"$in": sorted(own_sites)}
    after = cursors.position(query)
    ranges = [{**sites, **part} for part in _ranges(_ORDER, after)]
    rows = PENDING.of(runtime.database).find({"$or": ranges}).sort(_ORDER)
    queued = [{**sites, **_WAITING, **part} for part in _ranges(_QUEUE_ORDER, after)]
    entries = ENTRIES.of(runtime.database).find({"$or": queued}).sort(_QUEUE_ORDER)
    limit = query.limit + 1
    found = {row["_id"]: row for row in rows.limit(limit)}
    found |= {entry["_id"]: _waiting(entry) for entry in entries.limit(limit)}
    ordered = sorted(found.values(), key=lambda row: (row["posted"], row["_id"]))
    shown, last = paged(ordered[:limit], query.limit)
    position = [int(DatetimeMS(last["posted"])), last["_id"]] if last else None
    return {"comments": [_answer(row) for row in shown], "next": cursors.following(position)}


def _ranges(order: list[tuple[str, int]], after: tuple[Any, ...] | None) -> list[Document]:
    """Return the ranges after a position, as parts of a filter."""
    if after is None:
        return [{}]
    (time, _), (key, _) = order
    since, last_id = DatetimeMS(after[0]), after[1]
    return [{time: {"$gt": since}}, {time: since, key: {"$gt": last_id}}]


def _waiting(entry: Entry) -> Pending:
    """Return an entry that waits as a row of the queue."""
    return {
        "_id": entry["_id"],
        "site": entry["site"],
        "node_id": entry["node_id"],
        "id": entry["id"],
        "posted": entry["queued_at"],
        "edited": entry["edited"],
        "author": {"id": entry["author_id"] or "", "name": entry["author_name"]},
        "excerpt": entry["excerpt"],
        "reasons": entry.get("reasons", []),
    }


def _answer(row: Pending) -> PendingAnswer:
    return {
        "id": row["id"],
        "node_id": row["node_id"],
        "site": row["site"],
        "posted_at": row["posted"],
        # The last release queued comments without saying when they were edited.
        "edited_at": row.get("edited"),
        "author": row["author"],
        "excerpt": row["excerpt"],
        # Nor did it say why they wait.
        "reasons": row.get("reasons", []),
    }
