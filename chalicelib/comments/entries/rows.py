"""Entries: one small row beside each comment, with a key that survives a move between stores.

The three stores hold comments in the form that pages read. Entries serve queries across stores,
nodes and people.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.collection import Collection as MongoCollection

from chalicelib.comments.mentions import MAX_MENTIONS
from chalicelib.comments.shapes import (
    MAX_REASONS,
    Comment,
    Node,
    NodeGeneration,
    Queue,
    Reason,
    Shadow,
    State,
)
from chalicelib.comments.store import is_shadow
from chalicelib.database import Collection, Document, delete_some, prefix_range
from chalicelib.database.validators import AtMost
from chalicelib.instants import milliseconds
from chalicelib.marks.shapes import Marking
from chalicelib.people.names import name_key

EXCERPT_CHARACTERS = 280


class Votes(TypedDict):
    """Votes for and against a comment."""

    up: int
    down: int


class Claim(TypedDict):
    """A moderator's claim on a waiting comment, and the end of the claim.

    name: of the moderator; missing: release 0.3.0 stored the claim.
    """

    by: str
    name: NotRequired[str]
    until: datetime


class Cleared(TypedDict):
    """The revision of a text that moderators showed.

    times: the number of doublings of the weight of flags that holds this text back.
    """

    revision: int
    times: int


class CommentEntry(TypedDict):
    """A comment's entry; `_id` is `{node}/{id}`.

    author_key: the form of the author's name that searches use.
    mentioned: the ids of mentioned people.
    ranked: the comment is a root that ranked pages list: visible, deleted, or with replies.
    thread: the number of comments in a root's thread, in all states and with the root. Pages use
        it to estimate how many threads they can hold.
    base: votes from before Plaza.
    best, top, contro: the rank keys (`rank_keys`).
    todo: since when its post awaits settling, or its events await sending; None: neither does.
    parent_id: the id of the parent; present with a `shadow` only.
    featured: the time when a moderator featured the comment.
    flags: the weight of undecided flags, in hundredths.
    reports: the number of undecided flags for moderators.
    root: the id of the thread's root; missing: release 0.3.0 wrote the entry, and no later
        release has changed it.
    hold_at: since when flags demand to hold back or queue the comment; missing: they do not.
    revision: the time of the last edit, in milliseconds; missing: never edited.
    queued_at, excerpt, author_name, edited, reasons, claimed: present in a `queue` only.
    """

    _id: str
    site: str
    node_id: str
    id: str
    seq: int
    depth: int
    posted: datetime
    author_id: str | None
    author_key: NotRequired[str]
    mentioned: NotRequired[Annotated[list[str], AtMost(MAX_MENTIONS)]]
    state: State
    ranked: bool
    thread: int
    up: int
    down: int
    base: NotRequired[Votes]
    reactions: dict[str, int]
    marking: NotRequired[Marking]
    best: int
    top: int
    contro: int
    queue: Queue | None
    queued_at: NotRequired[datetime]
    todo: datetime | None
    featured: NotRequired[datetime]
    flags: NotRequired[int]
    reports: NotRequired[int]
    revision: NotRequired[int]
    cleared: NotRequired[Cleared]
    hold_at: NotRequired[datetime]
    excerpt: NotRequired[str]
    author_name: NotRequired[str]
    edited: NotRequired[datetime | None]
    reasons: NotRequired[Annotated[list[Reason], AtMost(MAX_REASONS)]]
    shadow: NotRequired[Shadow]
    parent_id: NotRequired[str]
    root: NotRequired[str]
    claimed: NotRequired[Claim]


_RANKED = {"ranked": True}
# The condition of the indexes of visible comments.
TAKING_PART: Document = {"state": "visible"}
# The filter of comments that all readers see. It excludes entries for marks on a page, which
# have no id.
VISIBLE: Document = {**TAKING_PART, "id": {"$gt": ""}}
_NEWEST = [("posted", DESCENDING), ("_id", ASCENDING)]
# The filter of concealed comments that their author sees as visible.
CONCEALED_PART: Document = {"shadow": {"$type": "string", "$eq": "visible"}}
# The fields that an entry has in a queue only.
WHILE_QUEUED = ("queued_at", "excerpt", "author_name", "edited", "reasons", "claimed")
# The fields that an entry may lack: settling removes a field if the comment has no value for it.
OPTIONAL = (*WHILE_QUEUED, "shadow", "parent_id", "author_key", "mentioned", "revision")
# The update that removes the author from an entry.
UNNAMED: Document = {
    "$set": {"author_id": None, "queue": None},
    "$unset": dict.fromkeys(OPTIONAL, ""),
}
# The condition of the indexes of queues; a query repeats it to use them.
QUEUED: Document = {"queue": {"$type": "string"}}
# The condition of the index of featured comments; a query repeats it to use the index.
FEATURED: Document = {"featured": {"$type": "date"}}
SHADOWS: Document = {"shadow": {"$type": "string"}}
_QUEUE_ORDER = [("queue", ASCENDING), ("queued_at", ASCENDING), ("_id", ASCENDING)]

ENTRIES = Collection(
    "comments.entry",
    CommentEntry,
    indexes=(
        *(
            IndexModel(
                [
                    ("site", ASCENDING),
                    ("node_id", ASCENDING),
                    (key, DESCENDING),
                    ("seq", ASCENDING),
                ],
                partialFilterExpression=_RANKED,
            )
            for key in ("best", "top", "contro")
        ),
        IndexModel(
            [
                ("site", ASCENDING),
                ("node_id", ASCENDING),
                ("featured", DESCENDING),
                ("seq", ASCENDING),
            ],
            partialFilterExpression=FEATURED,
        ),
        IndexModel([("site", ASCENDING), *_QUEUE_ORDER], partialFilterExpression=QUEUED),
        # Lists one person's comments in a queue.
        IndexModel([("author_id", ASCENDING), *_QUEUE_ORDER], partialFilterExpression=QUEUED),
        # Lists the queues of all sites together.
        IndexModel(_QUEUE_ORDER, partialFilterExpression=QUEUED),
        # Finds a person's comments for a rename or an erasure.
        IndexModel([("author_id", ASCENDING), ("posted", DESCENDING), ("_id", ASCENDING)]),
        # Counts a person's comments at a site, and lists the visible ones.
        IndexModel(
            [
                ("site", ASCENDING),
                ("author_id", ASCENDING),
                ("state", ASCENDING),
                ("posted", DESCENDING),
                ("_id", ASCENDING),
            ]
        ),
        # List the visible comments of a site, of a node, and of a thread.
        *(
            IndexModel(
                [*((name, ASCENDING) for name in names), *_NEWEST],
                partialFilterExpression=TAKING_PART,
            )
            for names in (("site",), ("site", "node_id"), ("site", "node_id", "root"))
        ),
        # Finds the comments of a node that only their shadowed author sees.
        IndexModel(
            [
                ("site", ASCENDING),
                ("author_id", ASCENDING),
                ("node_id", ASCENDING),
                ("shadow", ASCENDING),
            ],
            partialFilterExpression=SHADOWS,
        ),
        # Completes the names of a node's participants.
        IndexModel(
            [
                ("site", ASCENDING),
                ("node_id", ASCENDING),
                ("state", ASCENDING),
                ("author_key", ASCENDING),
                ("author_id", ASCENDING),
            ],
            partialFilterExpression=TAKING_PART,
        ),
        IndexModel("hold_at", partialFilterExpression={"hold_at": {"$type": "date"}}),
        # Finds the claims of a moderator for an erasure.
        IndexModel("claimed.by", partialFilterExpression={"claimed.by": {"$exists": True}}),
        # Finds the comments that mention a person, for a rename or an erasure.
        IndexModel("mentioned", partialFilterExpression={"mentioned": {"$exists": True}}),
        IndexModel("todo", partialFilterExpression={"todo": {"$type": "date"}}),
    ),
    shard_key={"site": 1, "_id": 1},
)


def key_of(node: Node, comment_id: str) -> Document:
    """Return the filter of one entry."""
    return {"_id": entry_id(node["_id"], comment_id), "site": node["site"]}


def entry_id(node_id: str, comment_id: str) -> str:
    """Return the id of the entry of a comment."""
    return f"{node_id}/{comment_id}"


def root_key(node: Node, comment: Comment) -> Document:
    """Return the filter of the entry of the root of a comment's thread."""
    return key_of(node, root_of(comment))


def root_of(comment: Comment) -> str:
    """Return the id of the root of a comment's thread; for a root, its own id."""
    return comment["slug"].partition("/")[0]


def all_of(node: NodeGeneration, site: str) -> Document:
    """Return the filter of every entry of a node."""
    return {"site": site, "_id": prefix_range(f"{node['_id']}/")}


def forget_some(rows: MongoCollection[Any], node: Node, until: datetime, most: int) -> bool:
    """Remove rows of a node's comments posted up to `until`; return whether more may remain.

    A call removes at most `most` rows. For a node with at most `most` comments, it removes all.
    """
    where = {**all_of(node, node["site"]), "posted": {"$lte": until}}
    if node["last_seq"] > most:
        return delete_some(rows, where, most) == most
    rows.delete_many(where)
    return False


def is_shown_to(entry: Mapping[str, Any], user_id: str | None) -> bool:
    """Return whether a person sees an entry's comment as visible."""
    is_own = user_id is not None and entry.get("author_id") == user_id
    return entry["state"] == "visible" or (is_own and entry.get("shadow") == "visible")


def is_listed(state: State) -> bool:
    """Return whether ranked pages list a root in this state, even without replies."""
    return state in {"visible", "deleted"}


def fields_from(comment: Comment) -> dict[str, Any]:
    """Return the fields of an entry that its comment alone decides."""
    author, text, shadow = comment["author"], comment["text"], comment.get("shadow")
    fields: dict[str, Any] = {
        "id": comment["id"],
        "seq": comment["seq"],
        "depth": comment["depth"],
        "posted": comment["posted"],
        "author_id": author["id"] if author else None,
        "state": comment["state"],
        "root": root_of(comment),
        "queue": None,
    }
    if author is not None:
        fields["author_key"] = name_key(author["name"])
    if revision := revision_of(comment):
        fields["revision"] = revision
    if mentions := comment.get("mentions"):
        fields["mentioned"] = [each["id"] for each in mentions]
    queue = queue_of(comment)
    if queue is not None and author is not None and text is not None:
        fields |= {
            "queue": queue,
            "queued_at": comment.get("spam_since") or comment["posted"],
            "excerpt": text[:EXCERPT_CHARACTERS],
            "author_name": author["name"],
            "edited": comment["edited"],
            "reasons": comment.get("reasons", []),
        }
    if shadow and is_shadow(comment):
        fields["shadow"] = shadow
        if comment["parent_id"] is not None:
            fields["parent_id"] = comment["parent_id"]
    return fields


def revision_of(comment: Comment) -> int:
    """Return the revision of a comment's text: its last edit in milliseconds; 0: never edited."""
    return milliseconds(comment["edited"]) if comment["edited"] else 0


def queue_of(comment: Comment) -> Queue | None:
    """Return the queue of a comment by its state; None: no queue."""
    if comment["state"] == "spam":
        return "spam"
    if comment["state"] != "pending":
        return None
    return "flagged" if "flagged" in comment.get("reasons", []) else "pending"


def new_entry(node: Node, comment: Comment, todo: datetime | None, thread: int = 1) -> CommentEntry:
    """Return a new entry of a comment, without votes.

    `thread`: the number of comments in the thread of a root.
    """
    fields: Any = fields_from(comment)
    listed = is_listed(comment["state"]) or thread > 1
    entry: CommentEntry = {
        **key_of(node, comment["id"]),  # type: ignore[typeddict-item]
        "node_id": node["_id"],
        **fields,
        "ranked": comment["depth"] == 0 and listed,
        "thread": thread,
        "up": 0,
        "down": 0,
        "reactions": {},
        "best": 0,
        "top": 0,
        "contro": 0,
        "todo": todo,
    }
    return entry
