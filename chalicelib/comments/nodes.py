"""Nodes: the pages of a site that a discussion hangs on, and the counters that stand there."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pymongo import IndexModel, ReturnDocument
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.comments.models import NodeSettings
from chalicelib.comments.store import MAX_EMBEDDED_COMMENTS, StoreName
from chalicelib.database import Collection, Document
from chalicelib.errors import CannotThread, NodeHasComments, Unavailable, UnknownNode
from chalicelib.identity import DEFAULT_SITE
from chalicelib.validators import AtMost


class Counts(TypedDict):
    """How many comments of a node are in these states."""

    visible: int
    pending: int


class Move(TypedDict):
    """The mark of a move that is under way, to the generation that it makes."""

    owner: str
    expires_at: datetime
    generation: int


class Embedded(TypedDict, total=False):
    """What the embedded store keeps in a node: flat `comments`, or threaded `replies`."""

    count: int
    comments: Annotated[list[Document], AtMost(MAX_EMBEDDED_COMMENTS)]
    replies: Annotated[list[Document], AtMost(MAX_EMBEDDED_COMMENTS)]


class Node(TypedDict):
    """A node as it is stored; `written` waits for the counts to be compared."""

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
    counts: Counts
    metadata: NotRequired[Embedded]


NODES = Collection(
    "comments.node",
    Node,
    indexes=(
        # Small: only nodes that wait for a move, or for their counts to be compared.
        IndexModel("wanted_store", partialFilterExpression={"wanted_store": {"$type": "string"}}),
        IndexModel("written", partialFilterExpression={"written": {"$type": "date"}}),
    ),
)
DEFAULT_MAX_DEPTH = 10
# What a node is apart from the comments that the embedded store keeps in it.
WITHOUT_COMMENTS = {"metadata": 0}
THREADED_STORES = ("documents", "embedded")


def collection(database: Database[Document]) -> MongoCollection[Document]:
    """Return the nodes' collection."""
    return database[NODES.name]


def find(database: Database[Document], node_id: str) -> Document:
    """Return a node without its embedded comments; raises UnknownNode."""
    node = collection(database).find_one({"_id": node_id}, WITHOUT_COMMENTS)
    if node is None:
        raise UnknownNode
    return node


def new_node(
    node_id: str, settings: NodeSettings | None = None, site: str = DEFAULT_SITE
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
        **given,
    }
    check_threads(node)
    return node


def insert(database: Database[Document], node: Document) -> bool:
    """Store a new node; tell whether it was new."""
    try:
        collection(database).insert_one(node)
    except DuplicateKeyError:
        return False
    return True


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
        {"_id": node["_id"], **untouched},
        {"$set": given},
        projection=WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )
    if updated is None:
        if find(database, node["_id"])["last_seq"]:
            raise NodeHasComments
        raise Unavailable("Another is changing the node's layout")
    return updated


def take_seq(database: Database[Document], node_id: str, now: datetime) -> Document | None:
    """Number a new comment: return the node with `last_seq` and `last_posted` as taken.

    One atomic write numbers the comment and reads the settings that it is posted under.
    `last_posted` never runs backwards, so times agree with numbers whatever the clocks say.
    Returns None where the node is unknown, locked or being moved.
    """
    return collection(database).find_one_and_update(
        {"_id": node_id, "moving": None, "locked": False},
        {"$inc": {"last_seq": 1}, "$max": {"last_posted": now}, "$set": {"written": now}},
        projection=WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )


def touch(database: Database[Document], node_id: str, now: datetime) -> None:
    """Note that the node is about to be written to, so that its counts are compared later."""
    collection(database).update_one({"_id": node_id}, {"$set": {"written": now}})


def want_store(database: Database[Document], node_id: str, store: StoreName | None) -> Document:
    """Note the store that the node shall move to, and return the node; raises UnknownNode."""
    node = collection(database).find_one_and_update(
        {"_id": node_id},
        {"$set": {"wanted_store": store}},
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
