"""What one person wrote, wherever it is kept: renamed, and erased.

Comments are found by their author in the three stores, whatever their generation: the one that is
served, the copy that a move is making, and those that wait for the sweep.
"""

import enum
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.comments import nodes
from chalicelib.comments.discussion.editing import change_comment
from chalicelib.comments.moderation.queue import PENDING
from chalicelib.comments.store import WIPED, StoreName
from chalicelib.comments.stores import store_of
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.comments.stores.embedded import ARRAYS
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime

# How many comments one step of an erasure deletes.
COMMENTS_A_STEP = 500
Traces = list[tuple[MongoCollection[Document], Document]]


class Step(enum.Enum):
    """How a step of an erasure ended."""

    DONE = "nothing is left"
    MORE = "another step has comments to delete"
    BUSY = "a node is being moved, or has only now stopped"


class Kept(NamedTuple):
    """A comment and the generation that it is kept under."""

    node_id: str
    store: StoreName
    generation: int
    comment_id: str
    posted: datetime


def traces(database: Database[Document], user_id: str) -> Traces:
    """Return where documents may be that hold comments of a user, with their filters."""
    return [
        (database[COMMENTS.name], {"author.id": user_id}),
        (database[PAGES.name], {"comments.author.id": user_id}),
        (nodes.collection(database), {"metadata.authors": user_id}),
        (database[PENDING.name], {"author.id": user_id}),
    ]


def rename(database: Database[Document], user_id: str, name: str) -> None:
    """Make every copy of a user's name on comments this one, in all generations.

    Of a page of a hundred comments the names may add 40 KB to what its bound counts.
    """
    other = {"author.id": user_id, "author.name": {"$ne": name}}
    for rows in (database[COMMENTS.name], database[PENDING.name]):
        rows.update_many(other, {"$set": {"author.name": name}})
    element = {f"each.{field}": value for field, value in other.items()}
    database[PAGES.name].update_many(
        {"comments": {"$elemMatch": other}},
        {"$set": {"comments.$[each].author.name": name}},
        array_filters=[element],
    )
    for array in ARRAYS:
        # Each array above it is gone through whole: `metadata.replies.$[].replies.$[each]`.
        path = array.replace(".replies", ".replies.$[]").removesuffix(".$[]")
        nodes.collection(database).update_many(
            {"metadata.authors": user_id, array: {"$elemMatch": other}},
            {"$set": {f"{path}.$[each].author.name": name}},
            array_filters=[element],
        )


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Delete a user's comments as the user would, at most COMMENTS_A_STEP of them.

    With `until`, only those that were posted by then. Replies of others stay, below a tombstone.
    """
    found = list(_find(runtime.database, user_id, until))
    waited_for: set[str] = set()
    ends = [_erase(runtime, kept, waited_for) for kept in found]
    posted = {"posted": {"$lte": until}} if until else {}
    runtime.database[PENDING.name].delete_many({"author.id": user_id, **posted})
    _forget(runtime.database, user_id)
    if not all(ends):
        return Step.BUSY
    return Step.MORE if len(found) == COMMENTS_A_STEP else Step.DONE


def _find(database: Database[Document], user_id: str, until: datetime | None) -> Iterator[Kept]:
    """Give a user's comments that were posted by a time, at most COMMENTS_A_STEP."""
    left = COMMENTS_A_STEP
    for kept in _everything(database, user_id):
        if until is None or kept.posted <= until:
            yield kept
            left -= 1
            if not left:
                return


def _everything(database: Database[Document], user_id: str) -> Iterator[Kept]:
    fields = {"node_id": 1, "generation": 1, "id": 1, "posted": 1}
    for row in database[COMMENTS.name].find({"author.id": user_id}, fields):
        yield Kept(row["node_id"], "documents", row["generation"], row["id"], row["posted"])
    for page in database[PAGES.name].find({"comments.author.id": user_id}):
        for comment in _by(page["comments"], user_id):
            at = (page["node_id"], "buckets", page["generation"])
            yield Kept(*at, comment["id"], comment["posted"])  # type: ignore[arg-type]
    for node in nodes.collection(database).find({"metadata.authors": user_id}):
        metadata, generation = node["metadata"], _embedded_generation(node)
        for comment in _by(metadata.get("comments", metadata.get("replies", [])), user_id):
            yield Kept(node["_id"], "embedded", generation, comment["id"], comment["posted"])


def _embedded_generation(node: Document) -> int:
    """Return the generation of the comments inside a node, or -1 for what no switch made use of."""
    if node["store"] == "embedded":
        return int(node["generation"])
    return node["moving"]["generation"] if node["moving"] else -1


def _by(comments: Iterable[Document], user_id: str) -> Iterator[Document]:
    """Give the comments of an author, replies included."""
    for comment in comments:
        if comment["author"] and comment["author"]["id"] == user_id:
            yield comment
        yield from _by(comment.get("replies", ()), user_id)


def _erase(runtime: Runtime, kept: Kept, waited_for: set[str]) -> bool:
    """Delete a comment from its generation; False if a move of its node keeps it from that.

    Each node that is being moved is waited for once.
    """
    node = nodes.look(runtime.database, kept.node_id) or {}
    is_there = bool(node) and "vacant" not in node
    if is_there and node["moving"]:
        node = nodes.find_settled(runtime.database, kept.node_id, runtime.now()) or node
    if is_there and (node["store"], node["generation"]) == (kept.store, kept.generation):
        if kept.node_id in waited_for:
            return False
        try:
            change_comment(runtime, node, kept.comment_id, WIPED)
        except Unavailable:
            waited_for.add(kept.node_id)
            return False
        return True
    if is_there and node["moving"]:
        # The copy that a move is making has what it read; when the move is over it is served.
        return False
    # Nobody reads this generation, or nobody who began in the last minutes.
    stale = {
        "_id": kept.node_id,
        "store": kept.store,
        "generation": kept.generation,
        "threaded": True,
    }
    store = store_of(runtime, stale)
    if kept.store == "embedded":
        store.drop(stale, COMMENTS_A_STEP)
    else:
        store.change(stale, kept.comment_id, WIPED, {})
    return True


def _forget(database: Database[Document], user_id: str) -> None:
    """Take a user off the authors of the nodes that have no comment of theirs any more."""
    none = {f"{array}.author.id": {"$ne": user_id} for array in ARRAYS}
    nodes.collection(database).update_many(
        {"metadata.authors": user_id, **none}, {"$pull": {"metadata.authors": user_id}}
    )
