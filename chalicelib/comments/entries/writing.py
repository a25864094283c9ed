"""Writes of entries: a post makes the entry before the comment, and each change settles it.

A crash leaves an entry too many, never one too few. Readers skip an entry without a comment, and
`upkeep.sweep` removes it.
"""

from datetime import datetime

from pymongo import UpdateOne
from pymongo.database import Database
from pymongo.errors import BulkWriteError

from chalicelib.comments.entries.kind import KIND
from chalicelib.comments.entries.ranking import rank_stages
from chalicelib.comments.entries.reported import report_fields
from chalicelib.comments.entries.rows import (
    ENTRIES,
    OPTIONAL,
    fields_from,
    forget_some,
    key_of,
    new_entry,
    root_key,
)
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.store import GONE
from chalicelib.database import Document, only_duplicates, upsert
from chalicelib.marks import removal
from chalicelib.runtime import Runtime


def add(database: Database[Document], node: Node, comment: Comment, now: datetime) -> bool:
    """Make the entry of a comment that is yet to be stored; return False if the entry exists.

    The same round trip counts a reply in its thread; from then on ranked pages list the root,
    whatever its state.
    """
    entries, made = ENTRIES.of(database), new_entry(node, comment, now)
    writes = [UpdateOne(key_of(node, comment["id"]), {"$setOnInsert": made}, upsert=True)]
    if comment["parent_id"]:
        writes.append(UpdateOne(root_key(node, comment), _reply_update()))
    try:
        if entries.bulk_write(writes).upserted_count:
            return True
    except BulkWriteError as error:
        if only_duplicates(error):
            # Another writer made the entry in the same moment; the bulk ended before the count.
            return False
        raise
    if comment["parent_id"]:
        entries.update_one(root_key(node, comment), {"$inc": {"thread": -1}})
    return False


def owed_since(runtime: Runtime, node: Node) -> datetime | None:
    """Return since when the entry of a comment that changes now owes its events, if any."""
    return runtime.now() if settings.owes_events(runtime, node["site"]) else None


def owe(runtime: Runtime, node: Node, comment_id: str) -> None:
    """Note that an entry owes events of a mark that is yet to be stored, if its site has any."""
    todo = owed_since(runtime, node)
    if todo is not None:
        rows = ENTRIES.of(runtime.database)
        rows.update_one(key_of(node, comment_id), {"$set": {"todo": todo}})


def settle(
    database: Database[Document], node: Node, comment: Comment, todo: datetime | None = None
) -> None:
    """Make an entry agree with its comment; a missing entry appears. `todo`: as of an entry."""
    upsert(ENTRIES.of(database), key_of(node, comment["id"]), settling_update(node, comment, todo))


def settling_update(node: Node, comment: Comment, todo: datetime | None = None) -> list[Document]:
    """Return the update that makes an entry agree with its comment, and leaves all else."""
    own_fields = fields_from(comment)
    fields: Document = {name: {"$literal": value} for name, value in own_fields.items()}
    if comment["state"] in GONE:
        fields["featured"] = "$$REMOVE"
    fields |= {name: "$$REMOVE" for name in OPTIONAL if name not in own_fields}
    if own_fields["queue"] is not None:
        # An edit ends no claim.
        fields["claimed"] = {"$ifNull": ["$claimed", "$$REMOVE"]}
    if own_fields["queue"] == "flagged":
        fields["queued_at"] = _since(comment)
    is_visible = comment["state"] == "visible"
    if is_visible:
        fields |= report_fields(comment)
    fields["hold_at"] = {"$ifNull": ["$hold_at", "$$REMOVE"]} if is_visible else "$$REMOVE"
    # Fields that no comment decides stay; these are the values of a new entry.
    defaults = {"thread": 1, "up": 0, "down": 0, "reactions": {}, "todo": None}
    fields |= {name: {"$ifNull": [f"${name}", {"$literal": at}]} for name, at in defaults.items()}
    if todo is not None:
        fields["todo"] = {"$literal": todo}
    return [
        {"$set": {**fields, "node_id": {"$literal": node["_id"]}}},
        {"$set": {"ranked": RANKED}},
        *rank_stages(),
    ]


def _since(comment: Comment) -> Document:
    """Return the expression of the time since which a flagged comment waits."""
    return {"$ifNull": ["$queued_at", {"$ifNull": ["$hold_at", {"$literal": comment["posted"]}]}]}


# `CommentEntry.ranked` as an expression over the other fields.
RANKED: Document = {
    "$and": [
        {"$eq": ["$depth", 0]},
        {"$or": [{"$in": ["$state", ["visible", "deleted"]]}, {"$gt": ["$thread", 1]}]},
    ]
}


def remove(database: Database[Document], node: Node, comment: Comment) -> None:
    """Remove the entry of a comment that never came."""
    entries = ENTRIES.of(database)
    if entries.delete_one(key_of(node, comment["id"])).deleted_count and comment["parent_id"]:
        entries.update_one(root_key(node, comment), {"$inc": {"thread": -1}})


def forget(database: Database[Document], node: Node, until: datetime, most: int) -> bool:
    """Remove `most` entries and marks of a node; return whether more may remain.

    `until`: the latest time of posting.
    """
    has_entries = forget_some(ENTRIES.of(database), node, until, most)
    below = f"{node['site']}/{node['_id']}/"
    return removal.remove_below(database, KIND, below, until, most) or has_entries


def _reply_update() -> list[Document]:
    """Return the update of a root for one more comment in its thread."""
    # A root that went a moment ago, without replies, becomes a tombstone.
    state = {"$cond": [{"$eq": ["$state", "removed"]}, "deleted", "$state"]}
    return [{"$set": {"thread": {"$add": ["$thread", 1]}, "ranked": True, "state": state}}]
