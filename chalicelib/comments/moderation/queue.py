"""The queue of comments that wait for a moderator: listing, upkeep of its rows, and metrics."""

from datetime import datetime
from typing import Any, NamedTuple, TypedDict, cast, get_args

from bson.datetime_ms import DatetimeMS
from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.comments.entries.rows import ENTRIES, EXCERPT_CHARACTERS, QUEUED, CommentEntry
from chalicelib.comments.forms import PendingQuery
from chalicelib.comments.moderation.claims import claim_answer
from chalicelib.comments.moderation.forms import PendingAnswer, QueueAnswer
from chalicelib.comments.shapes import (
    Author,
    Comment,
    GivenState,
    Node,
    Queue,
    WaitingQueue,
)
from chalicelib.comments.stores import store_of
from chalicelib.database import Collection, Document, upsert
from chalicelib.http.paging import Cursors, page_of
from chalicelib.identity import Principal
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import WAITING
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import check_moderator, moderated_sites

_SCOPE = "moderation:pending"
_ORDER = [("posted", ASCENDING), ("_id", ASCENDING)]
_WAITING: tuple[Queue, ...] = get_args(WaitingQueue)
_QUEUE_ORDER = [("queued_at", ASCENDING), ("_id", ASCENDING)]


class Pending(TypedDict):
    """A comment that waits for a moderator."""

    _id: str
    site: str
    node_id: str
    id: str
    posted: datetime
    edited: datetime | None
    author: Author
    excerpt: str


PENDING = Collection(
    "comments.pending",
    Pending,
    indexes=(
        IndexModel(_ORDER),
        IndexModel([("site", ASCENDING), *_ORDER]),
        IndexModel([("site", ASCENDING), ("node_id", ASCENDING)]),
        # Finds the comments of a person to rename or erase.
        IndexModel([("author.id", ASCENDING)]),
    ),
    shard_key={"site": 1, "_id": 1},
)


def settle(database: Database[Document], node: Node, comment: Comment) -> None:
    """Make `PENDING` agree with a comment: only a pending comment has a row.

    A pending comment that flags hold back has none: only its entry has the start of its wait.
    """
    key = {"_id": f"{node['_id']}/{comment['id']}", "site": node["site"]}
    author, text = comment["author"], comment["text"]
    is_queued = comment["state"] == "pending" and "flagged" not in comment.get("reasons", [])
    if not is_queued or author is None or text is None:
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
    """Remove a comment from the queue."""
    key = {"_id": f"{node['_id']}/{comment_id}", "site": node["site"]}
    PENDING.of(database).delete_one(key)


def forget(database: Database[Document], node: Node, until: datetime | None = None) -> None:
    """Remove a node's comments from the queue; `until`: the latest time of posting, None: any."""
    posted: Document = {"posted": {"$lte": until}} if until else {}
    PENDING.of(database).delete_many({"site": node["site"], "node_id": node["_id"], **posted})


def queue_again(runtime: Runtime, node: Node) -> None:
    """Replace the queue's rows of a node by rows of its pending comments."""
    forget(runtime.database, node)
    for batch in store_of(runtime, node).export(node):
        for comment in batch:
            if comment["state"] == "pending":
                settle(runtime.database, node, comment)


class _Row(NamedTuple):
    """A waiting comment, and its place in the order of waiting."""

    since: datetime
    key: str
    answer: PendingAnswer


def list_pending(runtime: Runtime, query: PendingQuery, moderator: Principal) -> QueueAnswer:
    """Return a page of the waiting comments at the moderator's sites, longest waiting first.

    `query.queue`: None for all queues. Reads entries, and for pending comments also `PENDING`
    (`docs/decisions/0158-an-entry-beside-every-comment.md`). Raises Forbidden and InvalidCursor.
    """
    cursors = Cursors(_scope(query), runtime.settings.signing_keys)
    sites, after, limit = _sites(query, moderator), cursors.position(query), query.limit + 1
    found: dict[str, _Row] = {}
    if query.queue in (None, "pending"):
        by = {"author.id": query.author} if query.author else {}
        ranges = [{**sites, **by, **part} for part in _ranges(_ORDER, after)]
        rows = PENDING.of(runtime.database).find({"$or": ranges}).sort(_ORDER).limit(limit)
        found = {row["_id"]: _Row(row["posted"], row["_id"], _answer(row)) for row in rows}
    # One query for each queue: the server would sort a query over several in memory.
    for name in [query.queue] if query.queue else _WAITING:
        # The type selects the partial indexes.
        by = {"author_id": query.author} if query.author else {}
        waiting = {**sites, **by, "queue": {"$type": "string", "$eq": name}}
        queued = [{**waiting, **part} for part in _ranges(_QUEUE_ORDER, after)]
        entries = ENTRIES.of(runtime.database).find({"$or": queued}).sort(_QUEUE_ORDER)
        found |= {row["_id"]: _row(row, runtime.now()) for row in entries.limit(limit)}
    ordered = sorted(found.values(), key=lambda row: row[:2])
    shown, last = page_of(ordered[:limit], query.limit)
    position = [int(DatetimeMS(last.since)), last.key] if last else None
    return {"comments": [row.answer for row in shown], "next": cursors.following(position)}


def _row(entry: CommentEntry, now: datetime) -> _Row:
    return _Row(entry["queued_at"], entry["_id"], _waiting(entry, now))


def _scope(query: PendingQuery) -> str:
    asked = [part for part in (query.queue, query.site, query.author) if part]
    return ":".join([_SCOPE, *asked])


def _sites(query: PendingQuery, moderator: Principal) -> Document:
    """Return the filter of the query's sites; raises Forbidden."""
    if query.site is not None:
        check_moderator(moderator, query.site)
        return {"site": query.site}
    own_sites = moderated_sites(moderator)
    return {} if own_sites is None else {"site": {"$in": sorted(own_sites)}}


def _ranges(order: list[tuple[str, int]], after: tuple[Any, ...] | None) -> list[Document]:
    """Return the ranges after a position, as parts of a filter."""
    if after is None:
        return [{}]
    (time, _), (key, _) = order
    since, last_id = DatetimeMS(after[0]), after[1]
    return [{time: {"$gt": since}}, {time: since, key: {"$gt": last_id}}]


def _waiting(entry: CommentEntry, now: datetime) -> PendingAnswer:
    """Return the queue's answer for a waiting entry."""
    return {
        "id": entry["id"],
        "node_id": entry["node_id"],
        "site": entry["site"],
        "posted_at": entry["posted"],
        "edited_at": entry["edited"],
        # Deleted comments are in no queue.
        "state": cast("GivenState", entry["state"]),
        "author": {"id": entry["author_id"] or "", "name": entry["author_name"]},
        "excerpt": entry["excerpt"],
        "reasons": entry.get("reasons", []),
        "queue": entry["queue"] or "pending",
        "waits_since": entry["queued_at"],
        "flags": entry.get("flags", 0) / 100,
        "claimed": claim_answer(entry, now),
    }


def _answer(row: Pending) -> PendingAnswer:
    """Return the queue's answer for a row of `PENDING`."""
    return {
        "id": row["id"],
        "node_id": row["node_id"],
        "site": row["site"],
        "posted_at": row["posted"],
        "edited_at": row["edited"],
        "state": "pending",
        "author": row["author"],
        "excerpt": row["excerpt"],
        "reasons": [],
        "queue": "pending",
        "waits_since": row["posted"],
        "flags": 0,
        "claimed": None,
    }


# A count ends here, which bounds its cost.
_MOST_COUNTED = 10_000


def measure(runtime: Runtime) -> int:
    """Log as metrics the number of waiting comments and the longest wait, for each queue.

    Each count ends at 10,000. Returns the sum of the counts.
    """
    waiting = 0
    for queue in get_args(WaitingQueue):
        fields = {"queue": queue, **_measure_queue(runtime, queue)}
        log.info("waiting comments", extra={"fields": fields, "metrics": WAITING})
        waiting += fields["waiting_comments"]
    return waiting


def _measure_queue(runtime: Runtime, queue: str) -> dict[str, int]:
    rows = ENTRIES.of(runtime.database)
    where = {"$and": [QUEUED, {"queue": queue}]}
    oldest = rows.find(where, {"queued_at": 1}).sort("queued_at", ASCENDING).limit(1)
    since = next((row["queued_at"] for row in oldest), runtime.now())
    return {
        "waiting_comments": rows.count_documents(where, limit=_MOST_COUNTED),
        "waiting_seconds": max(0, int((runtime.now() - since).total_seconds())),
    }
