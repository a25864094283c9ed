"""Writes of entries: a post inserts the entry before the comment, and each change settles it.

After a crash, an entry may lack its comment, but no comment lacks its entry. Listings skip an
entry without a comment, and `upkeep.sweep` removes it.
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
    """Insert the entry of a comment before the comment itself; return False if the entry exists.

    The same round trip counts a reply in its thread. Ranked pages then list the root in any state.
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
            # Another writer inserted the entry first; the ordered bulk ended before the count.
            return False
        raise
    if comment["parent_id"]:
        entries.update_one(root_key(node, comment), {"$inc": {"thread": -1}})
    return False


def owed_since(runtime: Runtime, node: Node) -> datetime | None:
    """Return the `todo` of an entry with a change now; None: its site has no events."""
    return runtime.now() if settings.owes_events(runtime, node["site"]) else None


def owe(runtime: Runtime, node: Node, comment_id: str) -> None:
    """Set an entry's `todo` before a mark is stored, if its site has events."""
    todo = owed_since(runtime, node)
    if todo is not None:
        rows = ENTRIES.of(runtime.database)
        rows.update_one(key_of(node, comment_id), {"$set": {"todo": todo}})


def settle(
    database: Database[Document], node: Node, comment: Comment, todo: datetime | None = None
) -> None:
    """Update the fields of an entry from its comment, or insert the entry; None leaves `todo`."""
    upsert(ENTRIES.of(database), key_of(node, comment["id"]), settling_update(node, comment, todo))


def settling_update(node: Node, comment: Comment, todo: datetime | None = None) -> list[Document]:
    """Return the update that sets an entry's fields from its comment, and leaves all others."""
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
    # Fields that do not follow from the comment stay; a new entry gets these defaults.
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
    """Remove the entry of a comment that was never stored, and its count in the thread."""
    entries = ENTRIES.of(database)
    if entries.delete_one(key_of(node, comment["id"])).deleted_count and comment["parent_id"]:
        entries.update_one(root_key(node, comment), {"$inc": {"thread": -1}})


def forget(database: Database[Document], node: Node, until: datetime, most: int) -> bool:
    """Remove entries and marks of comments posted up to `until`; return whether more may remain.

    `most` bounds the entries as in `forget_some`, and the marks.
    """
    has_entries = forget_some(ENTRIES.of(database), node, until, most)
    below = f"{node['site']}/{node['_id']}/"
    return removal.remove_below(database, KIND, below, until, most) or has_entries


def _reply_update() -> list[Document]:
    """Return the update of a root for one more comment in its thread."""
    # The first reply turns a just removed root into a tombstone.
    state = {"$cond": [{"$eq": ["$state", "removed"]}, "deleted", "$state"]}
    return [{"$set": {"thread": {"$add": ["$thread", 1]}, "ranked": True, "state": state}}]
