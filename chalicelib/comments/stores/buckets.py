"""The store of flat discussions in pages of a hundred comments, by the comments' numbers.

MongoDB Applied Design Patterns, "Storing Comments": "Hybrid Schema Design". There a writer
that has filled the last page opens the next page, so pages exceed their limit under load. Here
a comment's number names its page, so writers never have to agree on a page.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypedDict

import bson
from bson import ObjectId
from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

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
    order_threads,
    root_id,
    root_seq,
)
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

PAGE_COMMENTS = 100
# More bytes go to a continuation, a further part of the same page.
MAX_PAGE_BYTES = 4 * 1024 * 1024


class PartOfPage(TypedDict):
    """A page of comments, or the continuation of a page that is full in bytes."""

    _id: ObjectId
    node_id: str
    generation: int
    page: int
    part: int
    count: int
    bytes: int
    comments: Annotated[list[Comment], AtMost(PAGE_COMMENTS)]


class _Comments(TypedDict):
    """A projection of a part of a page: its comments, all or filtered."""

    comments: list[Comment]


BY_COMMENT = [("node_id", ASCENDING), ("comments.id", ASCENDING)]
# The generation comes after the page, so that the shard key is a prefix of the unique index.
PAGES = Collection(
    "comments.page",
    PartOfPage,
    indexes=(
        IndexModel(
            [
                ("node_id", ASCENDING),
                ("page", ASCENDING),
                ("generation", ASCENDING),
                ("part", ASCENDING),
            ],
            unique=True,
        ),
        IndexModel(BY_COMMENT),
        # Finds a person's comments for a rename or an erasure.
        IndexModel([("comments.author.id", ASCENDING)]),
    ),
    shard_key={"node_id": 1, "page": 1},
)


class BucketStore:
    """Comments in pages: for long flat discussions that are mostly read page by page."""

    def __init__(self, database: Database[Document]) -> None:
        self._pages = PAGES.of(database)

    def add(self, node: Node, comment: Comment) -> Added:
        """Store a comment on the page that its number names, or on a continuation of that page."""
        stored = self.get(node, comment["id"])
        if stored is not None:
            return Added.DUPLICATE if stored["seq"] == comment["seq"] else Added.COLLISION
        page = page_of(comment["seq"])
        size = _size(comment)
        for part in itertools.count():
            if self._push({**_of(node), "page": page, "part": part}, comment, size):
                break
        return Added.INSERTED

    def page(self, node: Node, page: Page) -> list[Comment]:
        """Return a page of the node, from one or several stored pages.

        The first read spans enough pages for the limit if the viewer sees every comment.
        """
        page, found = page.of_flat(), list[Comment]()
        span = -(-page.limit // PAGE_COMMENTS) + 1
        for first, last in _spans(node, page, span):
            rows: Iterable[_Comments] = self._pages.find(
                {**_of(node), "page": {"$gte": first, "$lte": last}},
                {"_id": 0, "comments": _part_of(page)},
            ).sort([("page", ASCENDING), ("part", ASCENDING)])
            found += _merge(rows, newest_first=page.order == "newest")
            if len(found) >= page.limit:
                break
        return found[: page.limit]

    def get(self, node: NodeLayout, comment_id: str) -> Comment | None:
        """Return a comment in any state."""
        return next(iter(self.get_many(node, [comment_id])), None)

    def get_many(self, node: NodeLayout, comment_ids: Sequence[str]) -> list[Comment]:
        """Return the comments with these ids, in any state."""
        wanted = {"$in": ["$$comment.id", {"$literal": list(comment_ids)}]}
        some = {"$filter": {"input": "$comments", "as": "comment", "cond": wanted}}
        rows: Iterable[_Comments] = self._pages.find(
            {**_of(node), "comments.id": {"$in": list(comment_ids)}}, {"_id": 0, "comments": some}
        ).hint(BY_COMMENT)
        return [comment for row in rows for comment in row["comments"]]

    def thread(self, node: Node, path: str, page: Page) -> list[Comment]:
        """Return the comment alone: a flat discussion has no replies."""
        root = Root(root_id(path), root_seq(path))
        return [] if page.after else self.gather(node, [root], page.viewer)

    def gather(self, node: Node, roots: Sequence[Root], viewer: Viewer) -> list[Comment]:
        """Return the roots from the stored pages that their numbers name."""
        wanted = {"$in": ["$$comment.id", [root.id for root in roots]]}
        seen = {"$and": [wanted, viewer.expression]}
        shown = {"$filter": {"input": "$comments", "as": "comment", "cond": seen}}
        pages = sorted({page_of(root.seq) for root in roots})
        rows: Iterable[_Comments] = self._pages.find(
            {**_of(node), "page": {"$in": pages}}, {"_id": 0, "comments": shown}
        )
        return order_threads(_merge(rows), roots)

    def change(
        self, node: NodeLayout, comment_id: str, fields: CommentFields, where: CommentFields
    ) -> Changed | None:
        """Set fields as `Store.change`; a deletion sets `removed`, since there are no replies."""
        stored = self.get(node, comment_id)
        if stored is None:
            return None
        values = fields
        if fields.get("state") == "deleted":
            values = {**fields, "state": "removed"}
        element = {"$and": [{"id": comment_id}, {"state": {"$nin": list(GONE)}}, dict(where)]}
        row: _Comments | None = self._pages.find_one_and_update(
            {**_of(node), "page": page_of(stored["seq"]), "comments": {"$elemMatch": element}},
            {
                "$set": {f"comments.$.{name}": value for name, value in values.items()},
                # The whole size, not the growth: no such change takes `bytes` below the true size.
                "$inc": {"bytes": _size(values)},
            },
            projection={"comments": {"$elemMatch": {"id": comment_id}}},
            return_document=ReturnDocument.BEFORE,
        )
        if row is None:
            return None
        before = row["comments"][0]
        return Changed(before, after_change(before, fields))

    def count(self, node: NodeLayout) -> Mapping[State, int]:
        """Count the comments of each state."""
        groups: Iterable[Mapping[str, Any]] = self._pages.aggregate(
            [
                {"$match": _of(node)},
                {"$unwind": "$comments"},
                {"$group": {"_id": "$comments.state", "comments": {"$sum": 1}}},
            ]
        )
        return {group["_id"]: group["comments"] for group in groups}

    def repair_replies(self, node: NodeLayout) -> int:
        """Find nothing to repair: a flat discussion has no replies."""
        del node
        return 0

    def export(self, node: NodeLayout, after: int = 0) -> Iterator[list[Comment]]:
        """Yield the comments with numbers above `after`, by number, a stored page at a time."""
        wanted = {**_of(node), "page": {"$gte": page_of(after + 1)}}
        rows = self._pages.find(wanted).sort([("page", ASCENDING), ("part", ASCENDING)])
        for _, parts in itertools.groupby(rows, key=lambda row: row["page"]):
            if comments := [each for each in _merge(parts) if each["seq"] > after]:
                yield comments

    def load(self, node: NodeLayout, batches: Iterable[list[Comment]]) -> None:
        """Store exported comments, page by page."""
        everything = itertools.chain.from_iterable(batches)
        for number, comments in itertools.groupby(everything, key=lambda c: page_of(c["seq"])):
            self._pages.insert_many(list(_parts(node, number, comments)))

    def drop(self, node: NodeGeneration, most: int) -> bool:
        """Remove pages of about `most` comments; return whether more may remain."""
        most_parts = -(-most // PAGE_COMMENTS)
        rows = self._pages.find(_of(node), {"_id": 0, "page": 1}).sort("page").limit(most_parts)
        pages = [row["page"] for row in rows]
        if pages:
            self._pages.delete_many({**_of(node), "page": {"$lte": pages[-1]}})
        return len(pages) == most_parts

    def _push(self, part: Document, comment: Comment, size: int) -> bool:
        """Push a comment on a part of a page, which may be new; return whether it fits."""
        where = {**part, "bytes": {"$lte": MAX_PAGE_BYTES - size}}
        update: Document = {
            "$push": {"comments": {"$each": [comment], "$sort": {"seq": 1}}},
            "$inc": {"count": 1, "bytes": size},
        }
        try:
            self._pages.update_one(where, update, upsert=True)
        except DuplicateKeyError:
            # Another writer has just made the part, or the part is full: the filter decides.
            return self._pages.update_one(where, update).matched_count == 1
        return True


def page_of(seq: int) -> int:
    """Return the page of the comment with this number: 0 for the first hundred."""
    return (seq - 1) // PAGE_COMMENTS


def _of(node: NodeGeneration) -> Document:
    return {"node_id": node["_id"], "generation": node["generation"]}


def _size(values: Mapping[str, Any]) -> int:
    return len(bson.encode(values))


def _spans(node: Node, page: Page, span: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of stored pages in the order of the listing, each twice as long as the last."""
    lowest, highest = 0, page_of(node["last_seq"])
    if page.after is not None and page.order == "oldest":
        lowest = page_of(page.after[0] + 1)
    elif page.after is not None:
        highest = page_of(page.after[0] - 1)
    while lowest <= highest:
        if page.order == "oldest":
            yield lowest, min(lowest + span - 1, highest)
            lowest += span
        else:
            yield max(highest - span + 1, lowest), highest
            highest -= span
        span *= 2


def _part_of(page: Page) -> Document:
    """Return the projection of a stored page to the comments that the listing may need."""
    conditions = [page.viewer.expression]
    if page.after is not None:
        beyond = "$gt" if page.order == "oldest" else "$lt"
        conditions.append({beyond: ["$$comment.seq", page.after[0]]})
    comments = "$comments" if page.order == "oldest" else {"$reverseArray": "$comments"}
    seen = {"input": comments, "as": "comment", "cond": {"$and": conditions}}
    # The limit ends the filter early.
    return {"$filter": {**seen, "limit": page.limit}}


def _merge(rows: Iterable[_Comments], *, newest_first: bool = False) -> list[Comment]:
    comments = itertools.chain.from_iterable(row["comments"] for row in rows)
    return sorted(comments, key=lambda comment: comment["seq"], reverse=newest_first)


def _parts(node: NodeGeneration, page: int, comments: Iterable[Comment]) -> Iterator[PartOfPage]:
    """Yield the parts of a page, each within MAX_PAGE_BYTES; a larger comment has its own part."""
    part = _new_part(node, page, 0)
    for comment in comments:
        size = _size(comment)
        if part["comments"] and part["bytes"] + size > MAX_PAGE_BYTES:
            yield part
            part = _new_part(node, page, part["part"] + 1)
        part["comments"].append(comment)
        part["count"] += 1
        part["bytes"] += size
    yield part


def _new_part(node: NodeGeneration, page: int, number: int) -> PartOfPage:
    return {
        "_id": ObjectId(),
        "node_id": node["_id"],
        "generation": node["generation"],
        "page": page,
        "part": number,
        "count": 0,
        "bytes": 0,
        "comments": [],
    }
