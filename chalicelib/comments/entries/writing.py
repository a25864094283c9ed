"""Entries as comments are written: made before their comments, and settled after each change.

A crash leaves an entry too many, never one too few. Whoever reads entries skips those whose comment
is not there, and `upkeep.sweep` removes them.
"""

from datetime import datetime

from pymongo import UpdateOne
from pymongo.database import Database
from pymongo.errors import BulkWriteError

from chalicelib.comments.entries.kind import KIND
from chalicelib.comments.entries.ranking import rank_stages
from chalicelib.comments.entries.reported import while_reported
from chalicelib.comments.entries.rows import (
    ENTRIES,
    WHILE_TOLD,
    all_of,
    key_of,
    new_entry,
    root_key,
    told_by,
)
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import GONE
from chalicelib.database import Document, only_duplicates, upsert
from chalicelib.marks import removal


def add(database: Database[Document], node: Node, comment: Comment, now: datetime) -> bool:
    """Make the entry of a comment that is about to be stored; return False if there is one.

    A reply is counted in its thread in the same round trip, by which its root is listed from now
    on, whatever its state.
    """
    entries, made = ENTRIES.of(database), new_entry(node, comment, now)
    writes = [UpdateOne(key_of(node, comment["id"]), {"$setOnInsert": made}, upsert=True)]
    if comment["parent_id"]:
        writes.append(UpdateOne(root_key(node, comment), _replied()))
    try:
        if entries.bulk_write(writes).upserted_count:
            return True
    except BulkWriteError as error:
        if only_duplicates(error):
            # Made in the same moment by another writer; the bulk ended before the thread's count.
            return False
        raise
    if comment["parent_id"]:
        entries.update_one(root_key(node, comment), {"$inc": {"thread": -1}})
    return False


def settle(database: Database[Document], node: Node, comment: Comment) -> None:
    """Make an entry agree with its comment; one that is missing is made."""
    upsert(ENTRIES.of(database), key_of(node, comment["id"]), settled(node, comment))


def settled(node: Node, comment: Comment) -> list[Document]:
    """Return the update by which an entry agrees with its comment and keeps all else."""
    told = told_by(comment)
    fields: Document = {name: {"$literal": value} for name, value in told.items()}
    if comment["state"] in GONE:
        fields["featured"] = "$$REMOVE"
    fields |= {name: "$$REMOVE" for name in WHILE_TOLD if name not in told}
    if told["queue"] is not None:
        # An edit ends no claim.
        fields["claimed"] = {"$ifNull": ["$claimed", "$$REMOVE"]}
    if told["queue"] == "flagged":
        fields["queued_at"] = _since(comment)
    is_visible = comment["state"] == "visible"
    if is_visible:
        fields |= while_reported(comment)
    fields["hold_at"] = {"$ifNull": ["$hold_at", "$$REMOVE"]} if is_visible else "$$REMOVE"
    # What is the entry's own stays; these are the values of one that is made now.
    own = {"thread": 1, "up": 0, "down": 0, "reactions": {}, "todo": None}
    fields |= {name: {"$ifNull": [f"${name}", {"$literal": at}]} for name, at in own.items()}
    return [
        {"$set": {**fields, "node_id": {"$literal": node["_id"]}}},
        {"$set": {"ranked": RANKED}},
        *rank_stages(),
    ]


def _since(comment: Comment) -> Document:
    """Return, as an expression, since when a flagged comment waits."""
    return {"$ifNull": ["$queued_at", {"$ifNull": ["$hold_at", {"$literal": comment["posted"]}]}]}


# `Entry.ranked` as an expression over the other fields.
RANKED: Document = {
    "$and": [
        {"$eq": ["$depth", 0]},
        {"$or": [{"$in": ["$state", ["visible", "deleted"]]}, {"$gt": ["$thread", 1]}]},
    ]
}


def remove(database: Database[Document], node: Node, comment: Comment) -> None:
    """Remove the entry of a comment that was never stored."""
    entries = ENTRIES.of(database)
    if entries.delete_one(key_of(node, comment["id"])).deleted_count and comment["parent_id"]:
        entries.update_one(root_key(node, comment), {"$inc": {"thread": -1}})


def forget(database: Database[Document], node: Node, until: datetime | None = None) -> None:
    """Remove every entry of a node, with its marks; with `until`, those made by then."""
    posted: Document = {"posted": {"$lte": until}} if until else {}
    ENTRIES.of(database).delete_many({**all_of(node, node["site"]), **posted})
    removal.remove_below(database, KIND, f"{node['site']}/{node['_id']}/", until)


def _replied() -> list[Document]:
    """Return the update of a root that one more reply is below of."""
    # Deleted a moment ago, with nobody's reply, it becomes a tombstone.
    state = {"$cond": [{"$eq": ["$state", "removed"]}, "deleted", "$state"]}
    return [{"$set": {"thread": {"$add": ["$thread", 1]}, "ranked": True, "state": state}}]
