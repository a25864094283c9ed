"""All comments inside the node's own document.

MongoDB Applied Design Patterns, "Storing Comments": "Embedding All Comments". Flat, they lie in
`metadata.comments`; threaded, in `metadata.replies` and each in the `replies` of its parent.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import bson
from pymongo import ASCENDING
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.comments import nodes
from chalicelib.comments.models import DEEPEST
from chalicelib.comments.order import position, thread_range
from chalicelib.comments.store import (
    MAX_EMBEDDED_COMMENTS,
    Added,
    Changed,
    Comment,
    Full,
    Moved,
    Page,
    State,
    after_change,
    counts_change,
    invisible_change,
    matches,
)
from chalicelib.database import Document

# What a push adds beside the comment itself: keys of arrays, counters that grow.
_SLACK_BYTES = 256
_ATTEMPTS = 20
ARRAYS = ("metadata.comments", *("metadata" + ".replies" * (n + 1) for n in range(DEEPEST + 1)))
_WHOLE: Document = {"metadata": 1}
# Enough to find a path, in a fraction of the bytes.
_IDS: Document = {f"{array}.{name}": 1 for array in ARRAYS for name in ("id", "seq", "state")}
# What a write relies on at the path that it has found.
_GUARDED = ("id", "state", "reply_count", "renderer", "edited")


class EmbeddedStore:
    """Comments in the node: for the many short discussions, read whole in one go.

    A node holds at most `max_bytes` and 1,000 comments; beyond, `add` and `change` raise Full.
    """

    def __init__(self, database: Database[Document], max_bytes: int) -> None:
        self._nodes: MongoCollection[Document] = nodes.collection(database)
        self._max_bytes = max_bytes

    def add(self, node: Document, comment: Comment) -> Added:
        """Push a comment and count it in one write, which names the node's generation.

        The parent's id is part of the filter, at the very path of the push: a push on a path
        that has shifted would make an object with the key "0" where an array belongs.
        """
        size = len(bson.encode(comment)) + _SLACK_BYTES
        for _ in range(_ATTEMPTS):
            where, change = self._push(node, comment)
            room = self._room(size, comments=1)
            if self._nodes.update_one({**where, **room}, change).matched_count:
                return Added.COUNTED
            self._check(node)
            stored = next(_found(self._tree(node, _IDS), comment["id"]), None)
            if stored is not None:
                same = stored[1]["seq"] == comment["seq"]
                return Added.DUPLICATE if same else Added.COLLISION
            self._check(node, room)
        raise Moved

    def page(self, node: Document, page: Page) -> list[Comment]:
        """Return a page: cut out by the server where flat, by a walk where threaded."""
        if not node["threaded"]:
            return self._flat_page(node, page)
        roots = self._tree(node)
        if page.order == "newest":
            roots.reverse()
        walked = (comment for _, comment in _walk(roots, "metadata.replies"))
        return _cut(walked, node, page)

    def get(self, node: Document, comment_id: str) -> Comment | None:
        """Return a comment whatever its state."""
        if not node["threaded"]:
            same = {"$eq": ["$$comment.id", {"$literal": comment_id}]}
            return next(iter(self._filtered(node, same, limit=1)), None)
        found = next(_found(self._tree(node), comment_id), None)
        return found[1] if found else None

    def thread(self, node: Document, root: Comment, page: Page) -> list[Comment]:
        """Return a comment and its descendants; a flat discussion has none."""
        if not node["threaded"]:
            return [] if page.after else [root]
        first, end = thread_range(root["full_slug"])
        walked = (comment for _, comment in _walk(self._tree(node), ""))
        return _cut((c for c in walked if first <= c["full_slug"] < end), node, page)

    def change(
        self, node: Document, comment_id: str, fields: Mapping[str, Any], where: Mapping[str, Any]
    ) -> Changed | None:
        """Set fields of a comment and count the change in one write."""
        for _ in range(_ATTEMPTS):
            path, before = next(_found(self._tree(node), comment_id, _root(node)), ("", None))
            if before is None or not matches(before, where):
                return None
            after = after_change(before, fields)
            had: Document = {f"{path}.{name}": _equal(dict(before)[name]) for name in _GUARDED}
            update: Document = {"$set": {f"{path}.{name}": dict(after)[name] for name in fields}}
            counts = counts_change(before["state"], after["state"])
            replies = invisible_change(before["state"], after["state"])
            if replies and before["parent_id"]:
                counts[f"{_parent(path)}.invisible_replies"] = replies
            if counts:
                update["$inc"] = counts
            room = self._room(_growth(before, after))
            if self._nodes.update_one({**_of(node), **had, **room}, update).matched_count:
                return Changed(before, after, counted=True)
            self._check(node)
            self._check(node, room)
        raise Moved

    def count(self, node: Document) -> Mapping[State, int]:
        """Count the comments of each state."""
        counted: dict[State, int] = {}
        for _, comment in _walk(self._tree(node), ""):
            counted[comment["state"]] = counted.get(comment["state"], 0) + 1
        return counted

    def repair_replies(self, node: Document) -> int:
        """Compare the counts of replies with a recount, comment by comment."""
        if not node["threaded"]:
            return 0
        found = list(_walk(self._tree(node), _root(node)))
        replies = Counter(comment["parent_id"] for _, comment in found)
        hidden = [comment for _, comment in found if comment["state"] != "visible"]
        invisible = Counter(comment["parent_id"] for comment in hidden)
        repaired = 0
        for path, comment in found:
            had = {name: comment.get(name) for name in ("id", "reply_count", "invisible_replies")}
            counts = {
                "reply_count": replies[comment["id"]],
                "invisible_replies": invisible[comment["id"]],
            }
            if {**had, "invisible_replies": had["invisible_replies"] or 0} == {**had, **counts}:
                continue
            where = {**_of(node), **_at(path, had)}
            update = {"$set": _at(path, counts)}
            repaired += self._nodes.update_one(where, update).modified_count
        return repaired

    def export(self, node: Document) -> Iterator[list[Comment]]:
        """Give every comment by number, in one batch."""
        comments = [comment for _, comment in _walk(self._tree(node), "")]
        if comments:
            yield sorted(comments, key=lambda comment: comment["seq"])

    def load(self, node: Document, batches: Iterable[list[Comment]]) -> None:
        """Lay exported comments out in the node, which is read from another store as yet.

        Raises Full where they are too many or too large.
        """
        comments: list[Comment] = []
        for batch in batches:
            comments += batch
            if len(comments) > MAX_EMBEDDED_COMMENTS:
                raise Full
        metadata = _laid_out(comments, _array(node))
        rest = nodes.look(self._nodes.database, node["_id"])
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

    def drop(self, node: Document, most: int) -> bool:
        """Remove a copy that no switch has put to use; a switch removes what it leaves."""
        del most
        self._nodes.update_one(
            {"_id": node["_id"], "store": {"$ne": "embedded"}, "moving": None},
            {"$unset": {"metadata": ""}},
        )
        return False

    def _push(self, node: Document, comment: Comment) -> tuple[Document, Document]:
        """Return the filter and the update that put a comment in its place."""
        path, guard, change = _root(node), dict[str, Any](), dict[str, Any]()
        counts = {**counts_change(None, comment["state"]), "metadata.count": 1}
        if comment["parent_id"]:
            found = next(_found(self._tree(node, _IDS), comment["parent_id"], path), None)
            if found is None:
                raise Moved
            parent_path, parent = found
            path = f"{parent_path}.replies"
            revived = parent["state"] == "removed"
            guard = {f"{parent_path}.id": parent["id"], f"{parent_path}.state": parent["state"]}
            change = {"$set": {f"{parent_path}.state": "deleted"}} if revived else {}
            counts[f"{parent_path}.reply_count"] = 1
            if comment["state"] != "visible":
                counts[f"{parent_path}.invisible_replies"] = 1
        push = {path: {"$each": [_stored(comment)], "$sort": {"seq": ASCENDING}}}
        taken = {f"{array}.id": {"$ne": comment["id"]} for array in ARRAYS}
        change |= {"$push": push, "$inc": counts}
        if comment["author"]:
            change["$addToSet"] = {"metadata.authors": comment["author"]["id"]}
        return {**_of(node), **guard, **taken}, change

    def _room(self, size: int, comments: int = 0) -> Document:
        """Return the filter of a node that has room for more bytes and comments."""
        if size <= 0:
            return {}
        number = {"$add": [{"$ifNull": ["$metadata.count", 0]}, comments]}
        fits = {"$lte": [{"$bsonSize": "$$ROOT"}, self._max_bytes - size]}
        return {"$expr": {"$and": [{"$lte": [number, MAX_EMBEDDED_COMMENTS]}, fits]}}

    def _check(self, node: Document, room: Document | None = None) -> None:
        """Raise Moved for a node that is not as it was read, or Full for one without room."""
        if not self._nodes.count_documents({**_of(node), **(room or {})}, limit=1):
            raise Full if room else Moved

    def _tree(self, node: Document, projection: Document = _WHOLE) -> list[Document]:
        """Return the root comments with their replies inside; raises Moved."""
        found = self._nodes.find_one(_served(node), projection)
        if found is None:
            raise Moved
        roots: list[Document] = found.get("metadata", {}).get(_array(node), [])
        return roots

    def _flat_page(self, node: Document, page: Page) -> list[Comment]:
        conditions = [page.viewer.expression("$$comment")]
        oldest = page.order == "oldest"
        if page.after is not None:
            conditions.append({"$gt" if oldest else "$lt": ["$$comment.seq", page.after[0]]})
        return self._filtered(node, {"$and": conditions}, page.limit, newest_first=not oldest)

    def _filtered(
        self, node: Document, condition: Document, limit: int, *, newest_first: bool = False
    ) -> list[Comment]:
        """Return the first comments of a flat node that fit, from its one end or the other."""
        comments: Document = {"$ifNull": ["$metadata.comments", []]}
        if newest_first:
            comments = {"$reverseArray": comments}
        # By its own limit, the filter looks no further than it has to.
        fitting = {"input": comments, "as": "comment", "cond": condition, "limit": limit}
        projection = {"_id": 0, "comments": {"$filter": fitting}}
        found = self._nodes.find_one(_served(node), projection)
        if found is None:
            raise Moved
        return [_record(stored) for stored in found["comments"]]


def _equal(value: Any) -> Any:
    """Return the condition that the field of an array's element has a value.

    By a plain `None` a path like `replies.0.edited` would always match: 0 may be a field's name
    as well as an index, and no element has a field of that name.
    """
    return {"$type": "null"} if value is None else value


def _growth(before: Comment, after: Comment) -> int:
    return len(bson.encode(after)) - len(bson.encode(before))


def _served(node: Document) -> Document:
    return {"_id": node["_id"], "store": "embedded", "generation": node["generation"]}


def _of(node: Document) -> Document:
    return {**_served(node), "moving": None}


def _array(node: Document) -> str:
    return "replies" if node["threaded"] else "comments"


def _root(node: Document) -> str:
    return f"metadata.{_array(node)}"


def _at(path: str, values: Mapping[str, Any]) -> Document:
    return {f"{path}.{name}": value for name, value in values.items()}


def _parent(path: str) -> str:
    """Return the path of the comment that the one at this path replies to."""
    return path.rpartition(".replies.")[0]


def _walk(array: Sequence[Document], path: str) -> Iterator[tuple[str, Comment]]:
    """Give every comment depth-first with its path, as `metadata.replies.0.replies.2`."""
    for index, stored in enumerate(array):
        here = f"{path}.{index}"
        replies = stored.get("replies")
        yield here, _record(stored)
        if replies:
            yield from _walk(replies, f"{here}.replies")


def _found(
    array: Sequence[Document], comment_id: str, path: str = ""
) -> Iterator[tuple[str, Comment]]:
    return (found for found in _walk(array, path) if found[1]["id"] == comment_id)


def _cut(comments: Iterable[Comment], node: Document, page: Page) -> list[Comment]:
    """Return what the viewer sees after the position, up to the limit."""
    found: list[Comment] = []
    for comment in comments:
        if page.viewer.sees(comment) and _is_after(comment, node, page):
            found.append(comment)
            if len(found) == page.limit:
                break
    return found


def _is_after(comment: Comment, node: Document, page: Page) -> bool:
    if page.after is None:
        return True
    here = position(node, comment)
    if node["threaded"] and page.order == "newest" and here[0] != page.after[0]:
        return bool(here[0] < page.after[0])
    return here > page.after


def _record(stored: Document) -> Comment:
    """Return the comment itself, which its replies are taken out of."""
    stored.pop("replies", None)
    return stored  # type: ignore[return-value]


def _stored(comment: Comment) -> Document:
    return {**comment, "replies": []}


def _laid_out(comments: Iterable[Comment], name: str) -> Document:
    """Return the metadata of a node with these comments, given by number."""
    stored: dict[str, Document] = {}
    roots: list[Document] = []
    for comment in comments:
        copy = stored[comment["id"]] = _stored(comment)
        copy["reply_count"] = 0
        copy.pop("invisible_replies", None)
        siblings = roots
        if comment["parent_id"]:
            parent = stored[comment["parent_id"]]
            parent["reply_count"] += 1
            if comment["state"] != "visible":
                parent["invisible_replies"] = parent.get("invisible_replies", 0) + 1
            parent["state"] = "deleted" if parent["state"] == "removed" else parent["state"]
            siblings = parent["replies"]
        siblings.append(copy)
    authors = {copy["author"]["id"] for copy in stored.values() if copy["author"]}
    return {"count": len(stored), "authors": sorted(authors), name: roots}


def note_authors(database: Database[Document], where: Document) -> int:
    """Note who wrote the comments of nodes that the last release wrote to; return how many."""
    noted = {"$set": {"metadata.authors": {"$setUnion": [_authors(array) for array in ARRAYS]}}}
    kept = {"store": "embedded", "metadata.count": {"$gt": 0}, **where}
    return nodes.collection(database).update_many(kept, [noted]).modified_count


def _authors(array: str) -> Document:
    """Return the expression of the ids of authors in an array: lists in lists, made one."""
    ids: Any = {"$ifNull": [f"${array}.author.id", []]}
    for _ in range(array.count(".") - 1):
        ids = {
            "$reduce": {
                "input": ids,
                "initialValue": [],
                "in": {"$concatArrays": ["$$value", "$$this"]},
            }
        }
    return ids  # type: ignore[no-any-return]
