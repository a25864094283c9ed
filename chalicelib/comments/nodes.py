"""Nodes: the pages of a site that a discussion hangs on, and the counters that stand there."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from bson import ObjectId
from pymongo import IndexModel, ReturnDocument
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.comments.errors import CannotThread, NodeHasComments, NodeMoved, UnknownNode
from chalicelib.comments.models import NodeSettings
from chalicelib.comments.store import MAX_EMBEDDED_COMMENTS, StoreName
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.errors import Unavailable
from chalicelib.identity import DEFAULT_SITE


class CommentCounts(TypedDict):
    """How many comments of a node are in these states."""

    visible: int
    pending: int


class Move(TypedDict):
    """The mark of a move that is under way, to the generation that it makes."""

    owner: str
    expires_at: datetime
    generation: int


class Vacancy(TypedDict):
    """Why an id has no node: it was deleted, or is kept for one, or has moved to `moved_to`.

    At `due` nobody can still be at work on it.
    """

    since: datetime
    due: datetime | None
    moved_to: NotRequired[str]


class Embedded(TypedDict, total=False):
    """What the embedded store keeps in a node: flat `comments`, or threaded `replies`.

    `authors` are all who wrote one of them, by which a rename and an erasure find the node.
    """

    count: int
    authors: Annotated[list[str], AtMost(MAX_EMBEDDED_COMMENTS)]
    comments: Annotated[list[Document], AtMost(MAX_EMBEDDED_COMMENTS)]
    replies: Annotated[list[Document], AtMost(MAX_EMBEDDED_COMMENTS)]


class Node(TypedDict):
    """A node as it is stored; `written` waits for the counts to be compared.

    `life` tells it from other nodes that have had its id, and `counts_version` says by which
    rules its comments' replies are counted.
    """

    _id: str
    site: str
    title: str
    url: str
    store: StoreName
    threaded: bool
    max_depth: int
    locked: bool
    moderation: Literal["after", "before"]
    last_seq: int
    last_posted: datetime | None
    generation: int
    last_generation: int
    moving: Move | None
    wanted_store: StoreName | None
    written: datetime | None
    counts: CommentCounts
    metadata: NotRequired[Embedded]
    vacant: NotRequired[Vacancy]
    life: NotRequired[ObjectId]
    counts_version: NotRequired[int]
    wanted_id: NotRequired[str | None]


NODES = Collection(
    "comments.node",
    Node,
    indexes=(
        # Small: only nodes that wait for a move, or for their counts to be compared.
        IndexModel("wanted_store", partialFilterExpression={"wanted_store": {"$type": "string"}}),
        IndexModel("wanted_id", partialFilterExpression={"wanted_id": {"$type": "string"}}),
        IndexModel("written", partialFilterExpression={"written": {"$type": "date"}}),
        # Finds the comments of somebody who is renamed or erased.
        IndexModel("metadata.authors", sparse=True),
        IndexModel("vacant.due", partialFilterExpression={"vacant.due": {"$type": "date"}}),
    ),
)
DEFAULT_MAX_DEPTH = 10
# Since 1, a comment counts its invisible replies.
COUNTS_VERSION = 1
_INSERT_ATTEMPTS = 3
# What a node is apart from the comments that the embedded store keeps in it.
WITHOUT_COMMENTS = {"metadata": 0}
# The filter of an id that has a node.
OCCUPIED: Document = {"vacant": None}
THREADED_STORES = ("documents", "embedded")


def collection(database: Database[Document]) -> MongoCollection[Document]:
    """Return the nodes' collection."""
    return database[NODES.name]


def find(database: Database[Document], node_id: str) -> Document:
    """Return a node without its embedded comments; raises UnknownNode and NodeMoved."""
    node = look(database, node_id)
    if node is None:
        raise UnknownNode
    if "vacant" in node:
        moved_to = node["vacant"].get("moved_to")
        raise NodeMoved(moved_to) if moved_to else UnknownNode
    return node


def look(database: Database[Document], node_id: str) -> Document | None:
    """Return what is stored under an id, without embedded comments; `vacant` is no node."""
    return collection(database).find_one({"_id": node_id}, WITHOUT_COMMENTS)


def new_node(
    node_id: str, site: str = DEFAULT_SITE, settings: NodeSettings | None = None
) -> Document:
    """Return a node with the settings given and defaults for the others.

    Raises CannotThread for a threaded node in a store that keeps comments by number alone.
    """
    given = settings.model_dump(exclude_none=True, exclude={"site"}) if settings else {}
    store = given.get("store", "documents")
    node: Document = {
        "_id": node_id,
        "site": site,
        "title": "",
        "url": "",
        "store": store,
        "threaded": store in THREADED_STORES,
        "max_depth": DEFAULT_MAX_DEPTH,
        "locked": False,
        "moderation": "after",
        "last_seq": 0,
        "last_posted": None,
        "generation": 0,
        "last_generation": 0,
        "moving": None,
        "wanted_store": None,
        "written": None,
        "counts": {"visible": 0, "pending": 0},
        "counts_version": COUNTS_VERSION,
        "life": ObjectId(),
        **given,
    }
    check_threads(node)
    return node


def insert(database: Database[Document], node: Document) -> bool:
    """Store a new node under a free or vacant id; return whether there was no node.

    In a vacant place the node begins with a generation of its own, so that no late write to
    the node before it can show, and its counts are compared once those writes are over.
    """
    for _ in range(_INSERT_ATTEMPTS):
        try:
            collection(database).insert_one(node)
        except DuplicateKeyError:
            left = look(database, node["_id"])
        else:
            return True
        if left is not None and "vacant" not in left:
            return False
        if left is not None and _take_over(database, left, node):
            return True
    return False


def _take_over(database: Database[Document], left: Document, node: Document) -> bool:
    """Put a new node in a vacant place that is still as it was read."""
    following = left["last_generation"] + 1
    node |= {"generation": following, "last_generation": following}
    node["written"] = left["vacant"]["since"]
    if "vacant" in node:
        # One that arrives only later: until then the place forwards as it did.
        node["moving"]["generation"] = following
        moved_to = left["vacant"].get("moved_to")
        node["vacant"] |= {"moved_to": moved_to} if moved_to else {}
    as_read = {name: left[name] for name in ("_id", "vacant", "last_generation")}
    return collection(database).replace_one(as_read, node).matched_count == 1


def update(database: Database[Document], node: Document, settings: NodeSettings) -> Document:
    """Give a node new settings and return it.

    Raises NodeHasComments when the layout (store, threaded) would change under comments that
    exist, CannotThread, and Unavailable where another has just changed the layout.
    """
    given: Document = settings.model_dump(exclude_none=True, exclude={"site"})
    untouched: Document = {}
    check_threads({**node, **given})
    layout = {name: given.pop(name) for name in ("store", "threaded") if name in given}
    if any(node[name] != value for name, value in layout.items()):
        # As it was read, too: of two changes at once, each might fit the node and not both.
        read = {name: node[name] for name in ("store", "threaded")}
        untouched, given = {**read, "last_seq": 0, "moving": None}, given | layout
    updated = collection(database).find_one_and_update(
        {"_id": node["_id"], **OCCUPIED, **untouched},
        {"$set": given},
        projection=WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )
    if updated is None:
        if find(database, node["_id"])["last_seq"]:
            raise NodeHasComments
        raise Unavailable("Another request is changing the node's layout")
    return updated


def take_seq(database: Database[Document], node_id: str, now: datetime) -> Document | None:
    """Number a new comment: return the node with `last_seq` and `last_posted` as taken.

    One atomic write numbers the comment and reads the settings that it is posted under.
    `last_posted` never runs backwards, so times agree with numbers whatever the clocks say.
    Returns None where the node is unknown, locked, being moved or vacant, which `moving` says.
    """
    return collection(database).find_one_and_update(
        {"_id": node_id, "moving": None, "locked": False},
        {"$inc": {"last_seq": 1}, "$max": {"last_posted": now}, "$set": {"written": now}},
        projection=WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )


def touch(database: Database[Document], node_id: str, now: datetime) -> None:
    """Note that the node is about to be written to, so that its counts are compared later."""
    collection(database).update_one({"_id": node_id, **OCCUPIED}, {"$set": {"written": now}})


def want_store(database: Database[Document], node_id: str, store: StoreName | None) -> Document:
    """Note the store that the node shall move to, and return the node; raises UnknownNode."""
    return _want(database, node_id, {"wanted_store": store})


def want_id(database: Database[Document], node_id: str, to: str | None) -> Document:
    """Note the id that the node shall move to, and return the node; raises UnknownNode."""
    return _want(database, node_id, {"wanted_id": to})


def _want(database: Database[Document], node_id: str, wanted: Document) -> Document:
    node = collection(database).find_one_and_update(
        {"_id": node_id, **OCCUPIED},
        {"$set": wanted},
        projection=WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )
    if node is None:
        raise UnknownNode
    return node


def find_settled(database: Database[Document], node_id: str, now: datetime) -> Document | None:
    """Return a node that is not being moved, ending a move whose time is over."""
    collection(database).update_one(
        {"_id": node_id, "moving.expires_at": {"$lte": now}}, {"$set": {"moving": None}}
    )
    return collection(database).find_one({"_id": node_id, "moving": None}, WITHOUT_COMMENTS)


def count(database: Database[Document], node: Document, change: dict[str, int]) -> bool:
    """Add to a node's counts, unless it was or is being moved since it was read.

    This is the confirmation of a write: where it returns False, the write may have missed
    the copy and has to be repeated.
    """
    where = {"_id": node["_id"], "generation": node["generation"], "moving": None}
    update: dict[str, Any] = {"$inc": change} if change else {"$set": {"moving": None}}
    return collection(database).update_one(where, update).matched_count == 1


def visible_counts(database: Database[Document], node_ids: Sequence[str]) -> dict[str, int]:
    """Return how many visible comments each node has; an unknown one has none."""
    found = collection(database).find({"_id": {"$in": list(node_ids)}}, {"counts.visible": 1})
    counts = dict.fromkeys(node_ids, 0)
    return counts | {node["_id"]: node["counts"]["visible"] for node in found}


def check_threads(node: Document) -> None:
    """Raise CannotThread for a threaded node in a store that keeps comments by number alone."""
    if node["threaded"] and node["store"] not in THREADED_STORES:
        raise CannotThread
