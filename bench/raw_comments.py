"""The reads and writes of each call on a discussion, by the driver with nothing around them."""

import itertools

from pymongo import ASCENDING, DESCENDING, UpdateOne

from bench.case import Work
from bench.raw_node import LIMIT, Bench, RawNode, as_posted
from chalicelib.comments import nodes
from chalicelib.comments.shapes import Comment
from chalicelib.comments.store import Order, root_seq, thread_range
from chalicelib.comments.stores.buckets import PAGE_COMMENTS, PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.database import Document


class RawDocuments:
    """What the calls ask of `documents`, by the driver alone."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._rows = COMMENTS.of(bench.runtime.database)
        self._new = (f"raw{number:07}" for number in itertools.count())

    def page(self, order: Order) -> Work:
        """Return the reads of the first page."""
        return self._find({**self._bench.rows, "state": "visible"}, self._sort(order))

    def page_with_node(self, order: Order) -> Work:
        """Return the one read of the first page with its node."""
        page: list[Document] = [
            {"$match": {**self._bench.rows, "state": "visible"}},
            {"$sort": dict(self._sort(order))},
            {"$limit": LIMIT + 1},
        ]
        stages: list[Document] = [
            {"$match": {"_id": self._bench.node["_id"]}},
            {"$project": nodes.WITHOUT_COMMENTS},
            {"$unionWith": {"coll": COMMENTS.name, "pipeline": page}},
        ]
        rows = nodes.NODES.of(self._bench.runtime.database)
        return lambda: list(rows.aggregate(stages, batchSize=LIMIT + 3))

    def _sort(self, order: Order) -> list[tuple[str, int]]:
        first = ASCENDING if order == "oldest" else DESCENDING
        if not self._bench.node["threaded"]:
            return [("seq", first)]
        oldest: list[tuple[str, int]] = [("full_slug", ASCENDING)]
        return oldest if order == "oldest" else [("root_seq", DESCENDING), *oldest]

    def ranked(self) -> Work:
        """Return the reads of the first page by rank."""
        roots = self._bench.first_ranked()
        one: Document = {"root_seq": {"$in": [root["seq"] for root in roots]}}
        if not self._bench.node["threaded"]:
            one = {"id": {"$in": [root["id"] for root in roots]}}
        where = {**self._bench.rows, "state": "visible", **one}

        def read() -> None:
            self._bench.read_node()
            self._bench.read_ranks()
            list(self._rows.find(where, batch_size=LIMIT + 1))

        return read

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
        comment = as_posted()
        rest = {name: value for name, value in comment.items() if name != "id"}
        rest["root_seq"] = root_seq(comment["full_slug"])
        above = {**self._bench.rows, "id": parent["id"]} if parent else None

        def write() -> None:
            node.number()
            node.enter(parent)
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

    def ranked(self) -> Work:
        """Return the reads of the first page by rank."""
        roots = self._bench.first_ranked()
        some = {"$in": ["$$this.id", [root["id"] for root in roots]]}
        array = "metadata.replies" if self._bench.node["threaded"] else "metadata.comments"
        filtered = {"$filter": {"input": f"${array}", "cond": some}}
        whole = {"metadata": 1} if self._bench.node["threaded"] else {"some": filtered}
        read = self._read(whole)
        return lambda: (self._bench.read_ranks(), read())

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
        comment = as_posted()
        array = "metadata.replies" if self._bench.node["threaded"] else "metadata.comments"
        added = {"$push": {array: comment}, "$inc": {"metadata.count": 1}}

        def write() -> None:
            node.number()
            node.enter()
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

    def ranked(self) -> Work:
        """Return the reads of the first page by rank."""
        roots = self._bench.first_ranked()
        ids = [root["id"] for root in roots]
        pages = sorted({(root["seq"] - 1) // PAGE_COMMENTS for root in roots})
        some = {"$filter": {"input": "$comments", "cond": {"$in": ["$$this.id", ids]}}}

        def read() -> None:
            self._bench.read_node()
            self._bench.read_ranks()
            where = {**self._bench.rows, "page": {"$in": pages}}
            list(self._pages.find(where, {"comments": some}))

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
        comment = as_posted()
        numbers = itertools.count()
        added = {"$push": {"comments": comment}, "$inc": {"count": 1, "bytes": 500}}

        def write() -> None:
            node.number()
            node.enter()
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
