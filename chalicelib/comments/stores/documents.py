"""The store with one document for each comment, for discussions of any size.

MongoDB Applied Design Patterns, "Storing Comments": "One Document per Comment".
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bson import ObjectId
from pymongo import ASCENDING, IndexModel, ReturnDocument, UpdateOne
from pymongo.database import Database

from chalicelib.comments import nodes
from chalicelib.comments.shapes import (
    Comment,
    CommentFields,
    Node,
    NodeGeneration,
    NodeLayout,
    State,
)
from chalicelib.comments.store import (
    GONE,
    Added,
    Changed,
    Page,
    Root,
    Viewer,
    after_change,
    invisible_change,
    order_threads,
    root_seq,
    thread_range,
)
from chalicelib.comments.stores.document_ranges import (
    BY_ID,
    BY_NEWEST_ROOT,
    BY_THREAD,
    NODE,
    ORDERS,
    SHADOWS,
    by_state,
    ranges_after,
    seen_by,
    sort_of,
)
from chalicelib.database import Collection, Document

_BATCH = 500
# The server projects named fields faster than it leaves fields out.
_COMMENT = {"_id": 0, **dict.fromkeys(Comment.__annotations__, 1)}
_REPLY_COUNTS = ("reply_count", "invisible_replies")
_COUNTS = {"_id": 0, "id": 1, **dict.fromkeys(_REPLY_COUNTS, 1)}
# For so few pending comments, a scan takes less time than the server's choice of an index.
_FEW_PENDING = 20


class StoredComment(Comment):
    """A comment in its node's generation; `root_seq` is the number of its thread's root."""

    _id: ObjectId
    node_id: str
    generation: int
    root_seq: int


# The state precedes the order in each index: otherwise a page of a node with mostly pending
# comments would read all of them. Partial indexes find an author's own pending and shadowed
# comments.
COMMENTS = Collection(
    "comments.comment",
    StoredComment,
    indexes=(
        IndexModel(BY_ID, unique=True),
        *(IndexModel([*NODE, ("state", ASCENDING), *order]) for order in ORDERS),
        *(
            IndexModel(
                [*NODE, ("author.id", ASCENDING), *order],
                partialFilterExpression={"state": "pending"},
            )
            for order in ORDERS
        ),
        *(
            IndexModel(
                [*NODE, ("shadow", ASCENDING), ("author.id", ASCENDING), *order],
                partialFilterExpression=SHADOWS,
            )
            for order in ORDERS
        ),
        # Finds a person's comments for a rename or an erasure.
        IndexModel([("author.id", ASCENDING)], sparse=True),
    ),
    shard_key={"node_id": 1, "generation": 1, "id": 1},
)


class DocumentStore:
    """Comments as documents of their own: for discussions of any size and depth."""

    def __init__(self, database: Database[Document]) -> None:
        self._comments = COMMENTS.of(database)
        self._database = database

    def add(self, node: Node, comment: Comment) -> Added:
        """Upsert a comment and count it at its parent, in one round trip.

        If the id exists, take the count back, and return DUPLICATE for the same `seq`, otherwise
        COLLISION. A parent removed a moment ago becomes a tombstone.
        """
        invisible = invisible_change(None, comment["state"])
        writes = [
            UpdateOne(_key(node, comment["id"]), {"$setOnInsert": _row(comment)}, upsert=True)
        ]
        if comment["parent_id"]:
            writes.append(UpdateOne(_key(node, comment["parent_id"]), _count_reply(1, invisible)))
        if self._comments.bulk_write(writes).upserted_count:
            return Added.INSERTED
        if comment["parent_id"]:
            uncounted = _count_reply(-1, -invisible)
            self._comments.update_one(_key(node, comment["parent_id"]), uncounted)
        stored = self.get(node, comment["id"])
        same = stored is not None and stored["seq"] == comment["seq"]
        return Added.DUPLICATE if same else Added.COLLISION

    def page(self, node: Node, page: Page) -> list[Comment]:
        """Return a page of the node's listing, as the page's viewer sees it."""
        page = page if node["threaded"] else page.of_flat()
        return self._find(node, page, ranges_after(node, page), sort_of(node, page))

    def first_page(self, node: NodeLayout, page: Page) -> tuple[Node | None, list[Comment]]:
        """Return a node and a guest's first page in one round trip; no node: None and no comments.

        `node` guesses the layout; a caller drops the page if the stored node has another layout.
        The server reads the node before its comments, as two round trips would.
        """
        # A hint would apply to the nodes alone. The page needs none: its filter is one range.
        comments: list[Document] = [
            {"$match": {**_of(node), "state": "visible"}},
            {"$sort": dict(sort_of(node, page))},
            {"$limit": page.limit},
            {"$project": _COMMENT},
        ]
        stages: list[Document] = [
            {"$match": {"_id": node["_id"]}},
            {"$project": nodes.WITHOUT_COMMENTS},
            {"$unionWith": {"coll": COMMENTS.name, "pipeline": comments}},
        ]
        found: Any = list(nodes.NODES.of(self._database).aggregate(stages))
        # Without the node, the first row is a comment, and comments have no `_id` here.
        return (found[0], found[1:]) if found and "_id" in found[0] else (None, [])

    def get(self, node: NodeLayout, comment_id: str) -> Comment | None:
        """Return a comment in any state."""
        return self._comments.find_one(_key(node, comment_id), _COMMENT)

    def get_many(self, node: NodeLayout, comment_ids: Sequence[str]) -> list[Comment]:
        """Return the comments with these ids."""
        where = {**_of(node), "id": {"$in": list(comment_ids)}}
        # Without a hint, the server may choose an index by order for the newest comments, and cache
        # this plan. For a few older ids, it would then scan up to a thousand comments.
        return list(self._comments.find(where, _COMMENT).hint(BY_ID))

    def thread(self, node: Node, path: str, page: Page) -> list[Comment]:
        """Return a page of a comment and its descendants, an exact range of paths."""
        first, end = thread_range(path)
        bounds = {"$gt": page.after[-1]} if page.after else {"$gte": first}
        return self._find(node, page, [{"full_slug": {**bounds, "$lt": end}}], BY_THREAD)

    def gather(self, node: Node, roots: Sequence[Root], viewer: Viewer) -> list[Comment]:
        """Return roots' threads, found by root number; in a flat node, the roots alone, by id."""
        if not node["threaded"]:
            found = self.get_many(node, [root.id for root in roots])
            return order_threads(filter(viewer.lists, found), roots)
        seqs = {"root_seq": {"$in": [root.seq for root in roots]}}
        branches = [{**_of(node), **seqs, **state} for state in seen_by(viewer)]
        rows = self._comments.find({"$or": branches}, _COMMENT)
        return order_threads(rows.hint(by_state(BY_NEWEST_ROOT)), roots)

    def change(
        self, node: NodeLayout, comment_id: str, fields: CommentFields, where: CommentFields
    ) -> Changed | None:
        """Set fields of a living comment, then adjust its parent's `invisible_replies`.

        None: the comment is unknown, gone, or lacks the values of `where`.
        """
        update: Document = {name: {"$literal": value} for name, value in fields.items()}
        if fields.get("state") == "deleted":
            update["state"] = {"$cond": ["$reply_count", "deleted", "removed"]}
        before = self._comments.find_one_and_update(
            {"$and": [_key(node, comment_id), {"state": {"$nin": list(GONE)}}, dict(where)]},
            [{"$set": update}],
            projection=_COMMENT,
            return_document=ReturnDocument.BEFORE,
        )
        if before is None:
            return None
        after = after_change(before, fields)
        change = invisible_change(before["state"], after["state"])
        if change and before["parent_id"]:
            parent = _key(node, before["parent_id"])
            self._comments.update_one(parent, {"$inc": {"invisible_replies": change}})
        return Changed(before, after)

    def count(self, node: NodeLayout) -> Mapping[State, int]:
        """Count the comments of each state."""
        groups: Iterable[Mapping[str, Any]] = self._comments.aggregate(
            [{"$match": _of(node)}, {"$group": {"_id": "$state", "comments": {"$sum": 1}}}]
        )
        return {group["_id"]: group["comments"] for group in groups}

    def repair_replies(self, node: NodeLayout) -> int:
        """Recount replies by parent; return the number of parents with corrected counts."""
        # Read counts before replies: a count that changes later no longer meets its filter below.
        parents = {**_of(node), "$or": [{name: {"$nin": [0, None]}} for name in _REPLY_COUNTS]}
        had = {row["id"]: _replies(row) for row in self._comments.find(parents, _COUNTS)}
        hidden = {"$cond": [{"$eq": ["$state", "visible"]}, 0, 1]}
        group = {"_id": "$parent_id", "replies": {"$sum": 1}, "invisible": {"$sum": hidden}}
        replies = {**_of(node), "parent_id": {"$ne": None}}
        pipeline = [{"$match": replies}, {"$group": group}]
        groups: Iterable[Mapping[str, Any]] = self._comments.aggregate(pipeline)
        right = {each["_id"]: (each["replies"], each["invisible"]) for each in groups}
        repaired = 0
        for parent in had.keys() | right.keys():
            before, counts = had.get(parent, (0, 0)), right.get(parent, (0, 0))
            if before != counts:
                as_read = [number or {"$in": [0, None]} for number in before]
                where = _key(node, parent) | dict(zip(_REPLY_COUNTS, as_read, strict=True))
                update = {"$set": dict(zip(_REPLY_COUNTS, counts, strict=True))}
                change = self._comments.update_one(where, update)
                repaired += change.modified_count
        return repaired

    def export(self, node: NodeLayout, after: int = 0) -> Iterator[list[Comment]]:
        """Yield the comments with a `seq` above `after`, by `seq`, in batches of 500."""
        batch: list[Comment] = []
        # No change moves a comment in the index by id. An index by state could miss a comment that
        # changes its state meanwhile, or return it twice.
        # Without `batch_size`, the driver would hold 16 MB, and as much again in objects.
        wanted = {**_of(node), "seq": {"$gt": after}}
        every = self._comments.find(wanted, _COMMENT, batch_size=_BATCH)
        rows = every.hint(BY_ID).sort("seq", ASCENDING)
        for row in rows:
            batch.append(row)
            if len(batch) == _BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def load(self, node: NodeLayout, batches: Iterable[list[Comment]]) -> None:
        """Insert exported comments; then correct reply counts that the export caught half done."""
        had: dict[str, tuple[int, int]] = {}
        replies: Counter[str] = Counter()
        invisible: Counter[str] = Counter()
        for batch in batches:
            self._comments.insert_many([_new_row(node, comment) for comment in batch])
            for comment in batch:
                if any(counts := _replies(comment)):
                    had[comment["id"]] = counts
                if comment["parent_id"]:
                    replies[comment["parent_id"]] += 1
                    if invisible_change(None, comment["state"]):
                        invisible[comment["parent_id"]] += 1
        wrong = (
            (comment_id, replies[comment_id] - number, invisible[comment_id] - unseen)
            for comment_id in had.keys() | replies.keys()
            for number, unseen in [had.get(comment_id, (0, 0))]
        )
        repairs = (
            UpdateOne(_key(node, comment_id), _count_reply(number, unseen))
            for comment_id, number, unseen in wrong
            if number or unseen
        )
        # A batch at a time: a discussion may have as many parents as comments.
        while some := list(itertools.islice(repairs, _BATCH)):
            self._comments.bulk_write(some, ordered=False)

    def drop(self, node: NodeGeneration, most: int) -> bool:
        """Remove at most `most` comments of a generation; return whether more may remain."""
        rows = self._comments.find(_of(node), {"_id": 0, "id": 1}).sort("id").limit(most)
        ids = [row["id"] for row in rows]
        if ids:
            self._comments.delete_many({**_of(node), "id": {"$in": ids}}, hint=BY_ID)
        return len(ids) == most

    def _find(
        self, node: Node, page: Page, ranges: list[Document], sort: list[tuple[str, int]]
    ) -> list[Comment]:
        """Return a page of the ranges' comments that its viewer sees; the server merges indexes."""
        seen = seen_by(page.viewer)
        branches = [{**_of(node), **part, **state} for part in ranges for state in seen]
        found = self._comments.find({"$or": branches}, _COMMENT)
        # With many pending comments, a viewer's own are found by a partial index, so no hint. But
        # for a viewer without pending comments, the server caches no plan: without a hint, it tries
        # all indexes at every call.
        has_own = page.viewer.user_id is not None and not page.viewer.moderator
        few = not has_own or node["counts"]["pending"] <= _FEW_PENDING
        if few and not page.viewer.shadowed:
            found.hint(by_state(sort))
        order = [(name, -way) for name, way in sort] if page.backwards else sort
        return list(found.sort(order).limit(page.limit))


def _of(node: NodeGeneration) -> Document:
    return {"node_id": node["_id"], "generation": node["generation"]}


def _key(node: NodeGeneration, comment_id: str) -> Document:
    return {**_of(node), "id": comment_id}


def _row(comment: Comment) -> Document:
    return {**comment, "root_seq": root_seq(comment["full_slug"])}


def _new_row(node: NodeGeneration, comment: Comment) -> StoredComment:
    return {
        **comment,
        "_id": ObjectId(),
        "node_id": node["_id"],
        "generation": node["generation"],
        "root_seq": root_seq(comment["full_slug"]),
    }


def _replies(comment: Comment) -> tuple[int, int]:
    """Return a comment's stored counts of replies and of invisible replies."""
    return comment["reply_count"], comment.get("invisible_replies", 0)


def _count_reply(number: int, invisible: int) -> list[Document]:
    counts: Document = {"reply_count": {"$add": ["$reply_count", number]}}
    if invisible:
        had = {"$ifNull": ["$invisible_replies", 0]}
        counts["invisible_replies"] = {"$add": [had, invisible]}
    revived = {"$cond": [{"$eq": ["$state", "removed"]}, "deleted", "$state"]}
    return [{"$set": {**counts, "state": revived}}]
