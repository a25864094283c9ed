"""The entry of a comment: one small row beside it, by its node and id, which no move changes.

A comment is stored for reading, in one of three stores. What is asked of comments across stores,
nodes and people is asked of their entries.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel

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
from chalicelib.database import Collection, Document
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
    """Who of a site's moderators reads a comment that waits, and until when."""

    by: str
    until: datetime


class Cleared(TypedDict):
    """The revision of a text that moderators have shown, and how often, against flags."""

    revision: int
    times: int


class Entry(TypedDict):
    """What is known of a comment beside itself; `_id` is `{node}/{id}`.

    `ranked` says that it is the root of a thread that ranked pages list: one that is shown, or has
    replies. `thread` counts the comments of a root's thread, in whatever state and itself among
    them; it is a hint: a page knows from it how many threads to read. `base` are votes from before
    Plaza. `best`, `top` and `contro` are its keys (`rank_keys`). `todo` is since when somebody has
    to look after it, and `featured` since when it is listed in the order of that name. `flags` is
    the weight of the flags that wait for a decision, in hundredths, and `hold_at` since when it has
    to be held back or queued for them, until it is; `reports` are those of them that moderators
    have to see. `revision` is when its text was edited, in milliseconds, and missing if it never
    was. `author_key` is what its author's name is found by, and
    `mentioned` are the ids of those whom it mentions. The last fields it has while it is in a
    `queue`.
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
    claimed: NotRequired[Claim]


_RANKED = {"ranked": True}
# The condition of the indexes by which those are found who take part in a node.
TAKING_PART: Document = {"state": "visible"}
# The fields that an entry has in a queue alone.
WHILE_QUEUED = ("queued_at", "excerpt", "author_name", "edited", "reasons", "claimed")
# Those that an entry has while its comment says so.
WHILE_TOLD = (*WHILE_QUEUED, "shadow", "author_key", "mentioned", "revision")
# The update that takes a person out of an entry.
UNNAMED: Document = {
    "$set": {"author_id": None, "queue": None},
    "$unset": dict.fromkeys(WHILE_TOLD, ""),
}
# The condition of the indexes of queues, which their queries have to repeat.
QUEUED: Document = {"queue": {"$type": "string"}}
# The condition of the index of what is featured, which its queries have to repeat, too.
FEATURED: Document = {"featured": {"$type": "date"}}
SHADOWS: Document = {"shadow": {"$type": "string"}}
_QUEUE_ORDER = [("queue", ASCENDING), ("queued_at", ASCENDING), ("_id", ASCENDING)]

ENTRIES = Collection(
    "comments.entry",
    Entry,
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
        # What waits of one person.
        IndexModel([("author_id", ASCENDING), *_QUEUE_ORDER], partialFilterExpression=QUEUED),
        # For those who moderate every site.
        IndexModel(_QUEUE_ORDER, partialFilterExpression=QUEUED),
        # Finds the comments of somebody who is renamed or erased.
        IndexModel([("author_id", ASCENDING), ("posted", DESCENDING), ("_id", ASCENDING)]),
        # Counts a person's comments at a site, and lists those that are visible.
        IndexModel(
            [
                ("site", ASCENDING),
                ("author_id", ASCENDING),
                ("state", ASCENDING),
                ("posted", DESCENDING),
                ("_id", ASCENDING),
            ]
        ),
        # Finds what a shadowed author alone is shown in a node.
        IndexModel(
            [
                ("site", ASCENDING),
                ("author_id", ASCENDING),
                ("node_id", ASCENDING),
                ("shadow", ASCENDING),
            ],
            partialFilterExpression=SHADOWS,
        ),
        # Completes the name of somebody who takes part in a node.
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
        # Finds the claims of a moderator who is erased.
        IndexModel("claimed.by", partialFilterExpression={"claimed.by": {"$exists": True}}),
        # Finds the comments that mention somebody who is renamed or erased.
        IndexModel("mentioned", partialFilterExpression={"mentioned": {"$exists": True}}),
        IndexModel("todo", partialFilterExpression={"todo": {"$type": "date"}}),
    ),
    shard_key={"site": 1, "_id": 1},
)


def key_of(node: Node, comment_id: str) -> Document:
    """Return the filter of one entry."""
    return {"_id": f"{node['_id']}/{comment_id}", "site": node["site"]}


def root_key(node: Node, comment: Comment) -> Document:
    """Return the filter of the entry of the root of a comment's thread."""
    return key_of(node, comment["slug"].partition("/")[0])


def all_of(node: NodeGeneration, site: str) -> Document:
    """Return the filter of every entry of a node."""
    # An id is followed by "/", and "0" comes after "/".
    return {"site": site, "_id": {"$gte": f"{node['_id']}/", "$lt": f"{node['_id']}0"}}


def is_shown_to(entry: Mapping[str, Any], user_id: str | None) -> bool:
    """Return whether a person is shown an entry's comment as visible."""
    is_own = user_id is not None and entry.get("author_id") == user_id
    return entry["state"] == "visible" or (is_own and entry.get("shadow") == "visible")


def is_listed(state: State) -> bool:
    """Return whether a root in this state is listed, even without replies."""
    return state in {"visible", "deleted"}


def told_by(comment: Comment) -> dict[str, Any]:
    """Return the fields of an entry that its comment decides alone."""
    author, text, shadow = comment["author"], comment["text"], comment.get("shadow")
    told: dict[str, Any] = {
        "id": comment["id"],
        "seq": comment["seq"],
        "depth": comment["depth"],
        "posted": comment["posted"],
        "author_id": author["id"] if author else None,
        "state": comment["state"],
        "queue": None,
    }
    if author is not None:
        told["author_key"] = name_key(author["name"])
    if revision := revision_of(comment):
        told["revision"] = revision
    if mentions := comment.get("mentions"):
        told["mentioned"] = [each["id"] for each in mentions]
    queue = queue_of(comment)
    if queue is not None and author is not None and text is not None:
        told |= {
            "queue": queue,
            "queued_at": comment.get("spam_since") or comment["posted"],
            "excerpt": text[:EXCERPT_CHARACTERS],
            "author_name": author["name"],
            "edited": comment["edited"],
            "reasons": comment.get("reasons", []),
        }
    if shadow and is_shadow(comment):
        told["shadow"] = shadow
    return told


def revision_of(comment: Comment) -> int:
    """Return a number of the text of a comment, which no earlier text of it had."""
    return milliseconds(comment["edited"]) if comment["edited"] else 0


def queue_of(comment: Comment) -> Queue | None:
    """Return the queue that a comment is in by its state."""
    if comment["state"] == "spam":
        return "spam"
    if comment["state"] != "pending":
        return None
    return "flagged" if "flagged" in comment.get("reasons", []) else "pending"


def new_entry(node: Node, comment: Comment, todo: datetime | None, thread: int = 1) -> Entry:
    """Return the entry of a comment that nobody has voted on."""
    told: Any = told_by(comment)
    listed = is_listed(comment["state"]) or thread > 1
    entry: Entry = {
        **key_of(node, comment["id"]),  # type: ignore[typeddict-item]
        "node_id": node["_id"],
        **told,
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
