"""The store with all comments inside the node's own document, for short discussions.

MongoDB Applied Design Patterns, "Storing Comments": "Embedding All Comments". `embedded_tree`
describes the layout.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import bson
from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.comments import nodes
from chalicelib.comments.shapes import (
    MAX_EMBEDDED_COMMENTS,
    Comment,
    CommentFields,
    EmbeddedComment,
    Node,
    NodeGeneration,
    NodeLayout,
    State,
)
from chalicelib.comments.store import (
    Added,
    Changed,
    Full,
    Moved,
    Page,
    Root,
    Viewer,
    after_change,
    counts_change,
    invisible_change,
    matches,
    order_threads,
    thread_range,
)
from chalicelib.comments.stores.embedded_tree import (
    ARRAYS,
    IDS,
    WHOLE,
    at,
    condition_of,
    cut,
    find,
    growth,
    lay_out,
    parent_path,
    root_array,
    roots_of,
    walk,
    with_replies,
    without_replies,
)
from chalicelib.database import Document

# The bytes of a push beside the comment: keys of arrays, growth of counters.
_SLACK_BYTES = 256
_ATTEMPTS = 20
_REPLY_COUNTS = ("reply_count", "invisible_replies")
# The fields that must be unchanged at the path of a write.
_GUARDED = ("id", "state", "reply_count", "renderer", "edited")


class EmbeddedStore:
    """Comments in the node: for the many short discussions, which one read returns whole.

    A node holds at most `max_bytes` and 1,000 comments; beyond, `add` and `change` raise Full.
    """

    def __init__(self, database: Database[Document], max_bytes: int) -> None:
        self._database = database
        self._nodes = nodes.NODES.of(database)
        self._max_bytes = max_bytes

    def add(self, node: Node, comment: Comment) -> Added:
        """Push a comment and count it in one write, if the node still has its generation.

        The filter requires the parent's id at the path: on a stale path, the push would make an
        object with the key "0" where an array belongs. Raises Full and Moved.
        """
        size = len(bson.encode(comment)) + _SLACK_BYTES
        for _ in range(_ATTEMPTS):
            where, change = self._push(node, comment)
            room = self._room(size, comments=1)
            if self._nodes.update_one({**where, **room}, change).matched_count:
                return Added.COUNTED
            self._check(node)
            stored = next(find(self._tree(node, IDS), comment["id"]), None)
            if stored is not None:
                same = stored[1]["seq"] == comment["seq"]
                return Added.DUPLICATE if same else Added.COLLISION
            self._check(node, room)
        raise Moved

    def page(self, node: Node, page: Page) -> list[Comment]:
        """Return a page: the server filters a flat node; a walk filters a threaded node."""
        if not node["threaded"]:
            return self._flat_page(node, page.of_flat())
        roots = self._tree(node)
        if page.order == "newest":
            roots.reverse()
        walked = (comment for _, comment in walk(roots, "metadata.replies"))
        return cut(reversed(list(walked)) if page.backwards else walked, node, page)

    def get(self, node: NodeLayout, comment_id: str) -> Comment | None:
        """Return a comment in any state."""
        return next(iter(self.get_many(node, [comment_id])), None)

    def get_many(self, node: NodeLayout, comment_ids: Sequence[str]) -> list[Comment]:
        """Return the comments with these ids: by a filter in the server if flat, else by a walk."""
        if not node["threaded"]:
            some = {"$in": ["$$comment.id", {"$literal": list(comment_ids)}]}
            return self._filter(node, some, len(comment_ids))
        return [each for _, each in walk(self._tree(node)) if each["id"] in comment_ids]

    def thread(self, node: Node, path: str, page: Page) -> list[Comment]:
        """Return a comment and its descendants by a walk through the node's document."""
        first, end = thread_range(path)
        walked = (comment for _, comment in walk(self._tree(node)))
        return cut((c for c in walked if first <= c["full_slug"] < end), node, page)

    def gather(self, node: Node, roots: Sequence[Root], viewer: Viewer) -> list[Comment]:
        """Return the threads of roots: by a filter in the server if flat, else by a walk."""
        ids = [root.id for root in roots]
        if not node["threaded"]:
            seen = [{"$in": ["$$comment.id", ids]}, viewer.expression]
            return order_threads(self._filter(node, {"$and": seen}, len(ids)), roots)
        threads = [root for root in self._tree(node) if root["id"] in ids]
        return order_threads((each for _, each in walk(threads) if viewer.lists(each)), roots)

    def change(
        self, node: NodeLayout, comment_id: str, fields: CommentFields, where: CommentFields
    ) -> Changed | None:
        """Set fields of a comment and count the change in one write.

        None: the comment is unknown, gone, or lacks the values of `where`.
        """
        for _ in range(_ATTEMPTS):
            path, before = next(find(self._tree(node), comment_id, root_array(node)), ("", None))
            if before is None or not matches(before, where):
                return None
            after = after_change(before, fields)
            old: Mapping[str, object] = before
            new: Mapping[str, object] = after
            had = at(path, {name: condition_of(old, name) for name in (*_GUARDED, *where)})
            changes = at(path, {name: new[name] for name in fields})
            counts = counts_change(before["state"], after["state"])
            replies = invisible_change(before["state"], after["state"])
            if replies and before["parent_id"]:
                counts[f"{parent_path(path)}.invisible_replies"] = replies
            raised = nodes.version_change(before, after)
            update: Document = {"$set": changes, "$inc": {**counts, **raised}}
            room = self._room(growth(before, after))
            if self._nodes.update_one({**_of(node), **had, **room}, update).matched_count:
                return Changed(before, after, counted=True)
            self._check(node)
            self._check(node, room)
        raise Moved

    def count(self, node: NodeLayout) -> Mapping[State, int]:
        """Count the comments of each state."""
        counted: dict[State, int] = {}
        for _, comment in walk(self._tree(node)):
            counted[comment["state"]] = counted.get(comment["state"], 0) + 1
        return counted

    def repair_replies(self, node: NodeLayout) -> int:
        """Recount each comment's replies; return the number of comments with corrected counts."""
        if not node["threaded"]:
            return 0
        comments = list(walk(self._tree(node), root_array(node)))
        replies = Counter(comment["parent_id"] for _, comment in comments)
        hidden = [comment for _, comment in comments if comment["state"] != "visible"]
        invisible = Counter(comment["parent_id"] for comment in hidden)
        repaired = 0
        for path, comment in comments:
            had = (comment["reply_count"], comment.get("invisible_replies", 0))
            right = (replies[comment["id"]], invisible[comment["id"]])
            if had != right:
                names = ("id", *_REPLY_COUNTS)
                as_read = {name: condition_of(comment, name) for name in names}
                where = {**_of(node), **at(path, as_read)}
                update = {"$set": at(path, dict(zip(_REPLY_COUNTS, right, strict=True)))}
                repaired += self._nodes.update_one(where, update).modified_count
        return repaired

    def export(self, node: NodeLayout, after: int = 0) -> Iterator[list[Comment]]:
        """Yield the comments with a `seq` above `after`, by `seq`, in one batch."""
        every = walk(self._tree(node))
        comments = [comment for _, comment in every if comment["seq"] > after]
        if comments:
            yield sorted(comments, key=lambda comment: comment["seq"])

    def load(self, node: NodeLayout, batches: Iterable[list[Comment]]) -> None:
        """Store exported comments in the node's document, while another store still serves it.

        Raises Full for too many or too large comments, and Moved if the node is gone or in another
        move.
        """
        comments: list[Comment] = []
        for batch in batches:
            comments += batch
            if len(comments) > MAX_EMBEDDED_COMMENTS:
                raise Full
        metadata = lay_out(comments, node)
        rest = nodes.look(self._database, node["_id"])
        if rest is None:
            raise Moved
        if len(bson.encode({**rest, "metadata": metadata})) > self._max_bytes:
            raise Full
        loaded = self._nodes.update_one(
            {"_id": node["_id"], "moving.generation": node["generation"]},
            {"$set": {"metadata": metadata}},
        )
        if not loaded.matched_count:
            raise Moved

    def drop(self, node: NodeGeneration, most: int) -> bool:
        """Remove the comments that a failed move left in the node; return False: none remain.

        A switch to another store itself removes the node's embedded comments.
        """
        del most
        self._nodes.update_one(
            {"_id": node["_id"], "store": {"$ne": "embedded"}, "moving": None},
            {"$unset": {"metadata": ""}},
        )
        return False

    def _push(self, node: NodeLayout, comment: Comment) -> tuple[Document, Document]:
        """Return the filter and the update that put a comment in its place."""
        path, counts = root_array(node), counts_change(None, comment["state"])
        guard: Document = {}
        change: Document = {}
        if comment["parent_id"]:
            tree = self._tree(node, IDS)
            above, parent = next(find(tree, comment["parent_id"], path), ("", None))
            if parent is None:
                raise Moved
            path = f"{above}.replies"
            guard = {f"{above}.id": parent["id"], f"{above}.state": parent["state"]}
            if parent["state"] == "removed":
                change["$set"] = {f"{above}.state": "deleted"}
            counts[f"{above}.reply_count"] = 1
            if comment["state"] != "visible":
                counts[f"{above}.invisible_replies"] = 1
        push = {path: {"$each": [with_replies(comment)], "$sort": {"seq": ASCENDING}}}
        taken = {f"{array}.id": {"$ne": comment["id"]} for array in ARRAYS}
        counts |= {"metadata.count": 1, **nodes.version_change(comment)}
        change |= {"$push": push, "$inc": counts}
        if comment["author"]:
            change["$addToSet"] = {"metadata.authors": comment["author"]["id"]}
        return {**_of(node), **guard, **taken}, change

    def _room(self, size: int, comments: int = 0) -> Document:
        """Return the filter of a node with room for `size` bytes and `comments` more."""
        if size <= 0:
            return {}
        number = {"$add": [{"$ifNull": ["$metadata.count", 0]}, comments]}
        fits = {"$lte": [{"$bsonSize": "$$ROOT"}, self._max_bytes - size]}
        return {"$expr": {"$and": [{"$lte": [number, MAX_EMBEDDED_COMMENTS]}, fits]}}

    def _check(self, node: NodeLayout, room: Document | None = None) -> None:
        """Raise Moved if the node no longer serves its generation, or if a move holds the node.

        `room`: raise Full instead, also if the node lacks this room.
        """
        if not self._nodes.count_documents({**_of(node), **(room or {})}, limit=1):
            raise Full if room else Moved

    def _tree(self, node: NodeLayout, projection: Document = WHOLE) -> list[EmbeddedComment]:
        """Return the root comments with their replies inside; raises Moved."""
        stored = self._nodes.find_one(_served_node(node), projection)
        if stored is None:
            raise Moved
        return roots_of(node, stored.get("metadata", {}))

    def _flat_page(self, node: Node, page: Page) -> list[Comment]:
        conditions = [page.viewer.expression]
        oldest = page.order == "oldest"
        if page.after is not None:
            conditions.append({"$gt" if oldest else "$lt": ["$$comment.seq", page.after[0]]})
        return self._filter(node, {"$and": conditions}, page.limit, newest_first=not oldest)

    def _filter(
        self, node: NodeLayout, condition: Document, limit: int, *, newest_first: bool = False
    ) -> list[Comment]:
        """Return at most `limit` comments of a flat node that meet a condition.

        The oldest come first, unless `newest_first`.
        """
        comments: Document = {"$ifNull": ["$metadata.comments", []]}
        if newest_first:
            comments = {"$reverseArray": comments}
        # The limit ends the filter early.
        fitting = {"input": comments, "as": "comment", "cond": condition, "limit": limit}
        projection = {"_id": 0, "comments": {"$filter": fitting}}
        filtered: Mapping[str, Any] | None = self._nodes.find_one(_served_node(node), projection)
        if filtered is None:
            raise Moved
        return [without_replies(stored) for stored in filtered["comments"]]


def _served_node(node: NodeGeneration) -> Document:
    return {"_id": node["_id"], "store": "embedded", "generation": node["generation"]}


def _of(node: NodeGeneration) -> Document:
    return {**_served_node(node), "moving": None}
