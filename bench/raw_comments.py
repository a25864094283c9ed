"""The reads and writes of each call on a discussion, by the driver with nothing around them."""

import itertools
from dataclasses import dataclass

from pymongo import ASCENDING, DESCENDING, UpdateOne

from bench.calls import Caller
from bench.case import Work
from bench.discussions import POSTED, made_up
from chalicelib.comments import nodes
from chalicelib.comments.order import root_seq, thread_range
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import Order
from chalicelib.comments.stores.buckets import PAGE_COMMENTS, PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.database import Document
from chalicelib.runtime import Runtime

LIMIT = 50


TEXT = "A comment of some words, as most of them are."


@dataclass(frozen=True)
class Bench:
    """One node to measure, with the calls to it."""

    runtime: Runtime
    calls: Caller
    node: Node

    @property
    def path(self) -> dict[str, str]:
        """Return the path parameters of the node's calls."""
        return {"node": self.node["_id"]}

    @property
    def rows(self) -> Document:
        """Return the filter of the node's rows."""
        return {"node_id": self.node["_id"], "generation": self.node["generation"]}

    def read_node(self) -> None:
        """Read the node, as every call does first."""
        nodes.NODES.of(self.runtime.database).find_one(
            {"_id": self.node["_id"]}, nodes.WITHOUT_COMMENTS
        )

    def page(self, order: Order) -> Work:
        """Return the call for the first page."""
        query = {"order": order, "limit": str(LIMIT)}
        return lambda: self.calls("GET", "/nodes/{node}/comments", self.path, query)

    def one(self, comment: Comment, suffix: str = "") -> Work:
        """Return the call for a comment, or what hangs on it."""
        resource = "/nodes/{node}/comments/{comment}" + suffix
        path = {**self.path, "comment": comment["id"]}
        query = {"limit": str(LIMIT)} if suffix else None
        return lambda: self.calls("GET", resource, path, query)

    def post(self, parent: Comment | None) -> Work:
        """Return the call that posts a comment or a reply."""
        body = {"text": TEXT}
        if parent is not None:
            body["parent"] = parent["id"]
        return lambda: self.calls("POST", "/nodes/{node}/comments", self.path, None, body)


def _as_posted() -> Comment:
    """Return a comment as long as those that are posted."""
    ((comment,),) = made_up(1, threaded=False)
    comment["text"], comment["html"] = TEXT, f"<p>{TEXT}</p>\n"
    return comment


class RawNode:
    """A node that posts of the driver go to, the same as the one that Plaza's go to."""

    def __init__(self, bench: Bench) -> None:
        self._nodes = nodes.NODES.of(bench.runtime.database)
        self.key = {"_id": f"raw-{bench.node['_id']}"}
        self.rows = {"node_id": self.key["_id"], "generation": 0}
        whole = self._nodes.find_one({"_id": bench.node["_id"]}) or bench.node
        self._nodes.insert_one({**whole, "_id": self.key["_id"]})

    def row(self, comment_id: str) -> Document:
        """Return what a comment is found by."""
        return {**self.rows, "id": comment_id}

    def number(self) -> None:
        """Number a comment."""
        update = {"$inc": {"last_seq": 1}, "$set": {"last_posted": POSTED, "written": POSTED}}
        self._nodes.find_one_and_update(self.key, update, projection=nodes.WITHOUT_COMMENTS)

    def count(self) -> None:
        """Count a comment."""
        self._nodes.update_one(self.key, {"$inc": {"counts.visible": 1}})


class RawDocuments:
    """What the calls ask of `documents`, by the driver alone."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._rows = COMMENTS.of(bench.runtime.database)
        self._new = (f"raw{number:07}" for number in itertools.count())

    def page(self, order: Order) -> Work:
        """Return the reads of the first page."""
        first = ASCENDING if order == "oldest" else DESCENDING
        sort: list[tuple[str, int]] = [("seq", first)]
        if self._bench.node["threaded"]:
            oldest: list[tuple[str, int]] = [("full_slug", ASCENDING)]
            sort = oldest if order == "oldest" else [("root_seq", DESCENDING), *oldest]
        return self._find({**self._bench.rows, "state": "visible"}, sort)

    def thread(self, root: Comment) -> Work:
        """Return the reads of a thread."""
        first, end = thread_range(root["full_slug"])
        where = {**self._bench.rows, "state": "visible", "full_slug": {"$gte": first, "$lt": end}}
        rows = self._find(where, [("full_slug", ASCENDING)])
        return lambda: (self._rows.find_one({**self._bench.rows, "id": root["id"]}), rows())

    def get(self, comment: Comment) -> Work:
        """Return the reads of a permalink."""

        def read() -> None:
            self._bench.read_node()
            self._rows.find_one({**self._bench.rows, "id": comment["id"]})

        return read

    def post(self, parent: Comment | None) -> Work:
        """Return the reads and writes of a post, or of a reply."""
        node = RawNode(self._bench)
        comment = _as_posted()
        rest = {name: value for name, value in comment.items() if name != "id"}
        rest["root_seq"] = root_seq(comment["full_slug"])
        above = {**self._bench.rows, "id": parent["id"]} if parent else None

        def write() -> None:
            node.number()
            writes = [UpdateOne(node.row(next(self._new)), {"$setOnInsert": rest}, upsert=True)]
            if above:
                self._rows.find_one(above)
                writes.append(UpdateOne(above, {"$inc": {"reply_count": 1}}))
            self._rows.bulk_write(writes)
            node.count()

        return write

    def _find(self, where: Document, sort: list[tuple[str, int]]) -> Work:
        def read() -> None:
            self._bench.read_node()
            list(self._rows.find(where, batch_size=LIMIT + 1).sort(sort).limit(LIMIT + 1))

        return read


class RawEmbedded:
    """What the calls ask of `embedded`, by the driver alone."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._nodes = nodes.NODES.of(bench.runtime.database)
        self._where = {"_id": bench.node["_id"]}

    def page(self, order: Order) -> Work:
        """Return the reads of the first page."""
        part = LIMIT + 1 if order == "oldest" else -LIMIT - 1
        return self._read(
            {"metadata": 1}
            if self._bench.node["threaded"]
            else {"metadata.comments": {"$slice": part}}
        )

    def thread(self, root: Comment) -> Work:
        """Return the reads of a thread."""
        if not self._bench.node["threaded"]:
            return self.get(root)
        return self._read({"metadata": 1}, times=2)

    def get(self, comment: Comment) -> Work:
        """Return the reads of a permalink."""
        if not self._bench.node["threaded"]:
            same = {"$eq": ["$$this.id", comment["id"]]}
            return self._read({"one": {"$filter": {"input": "$metadata.comments", "cond": same}}})
        return self._read({"metadata": 1})

    def post(self, _parent: Comment | None) -> Work:
        """Return the reads and writes of a post: a threaded one looks for its place first."""
        node = RawNode(self._bench)
        comment = _as_posted()
        array = "metadata.replies" if self._bench.node["threaded"] else "metadata.comments"
        added = {"$push": {array: comment}, "$inc": {"metadata.count": 1}}

        def write() -> None:
            node.number()
            if self._bench.node["threaded"]:
                self._nodes.find_one(node.key, {"metadata": 1})
                self._nodes.find_one(node.key, {"metadata.replies.id": 1})
            self._nodes.update_one(node.key, added)

        return write

    def _read(self, projection: Document, times: int = 1) -> Work:
        def read() -> None:
            self._bench.read_node()
            for _ in range(times):
                self._nodes.find_one(self._where, projection)

        return read


class RawBuckets:
    """What the calls ask of `buckets`, by the driver alone."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._pages = PAGES.of(bench.runtime.database)

    def page(self, order: Order) -> Work:
        """Return the reads of the first page."""

        def read() -> None:
            self._bench.read_node()
            direction = ASCENDING if order == "oldest" else DESCENDING
            list(self._pages.find(self._bench.rows).sort("page", direction).limit(1))

        return read

    def thread(self, root: Comment) -> Work:
        """Return the reads of a thread."""
        return self.get(root)

    def get(self, comment: Comment) -> Work:
        """Return the reads of a permalink."""
        where = {**self._bench.rows, "comments.id": comment["id"]}

        def read() -> None:
            self._bench.read_node()
            self._pages.find_one(where, {"comments.$": 1})

        return read

    def post(self, _parent: Comment | None) -> Work:
        """Return the reads and writes of a post."""
        node = RawNode(self._bench)
        comment = _as_posted()
        numbers = itertools.count()
        added = {"$push": {"comments": comment}, "$inc": {"count": 1, "bytes": 500}}

        def write() -> None:
            node.number()
            self._pages.find_one({**self._bench.rows, "comments.id": comment["id"]})
            place = {"page": next(numbers) // PAGE_COMMENTS, "part": 0}
            self._pages.update_one({**node.rows, **place}, added, upsert=True)
            node.count()

        return write


Raw = RawDocuments | RawEmbedded | RawBuckets
RAW: dict[str, type[Raw]] = {
    "documents": RawDocuments,
    "embedded": RawEmbedded,
    "buckets": RawBuckets,
}
