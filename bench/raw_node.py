"""A node that is measured, and the reads and writes of the driver on it."""

import itertools
from dataclasses import dataclass

from pymongo import ASCENDING, DESCENDING, UpdateOne, WriteConcern

from bench.calls import Caller
from bench.case import Work
from bench.discussions import POSTED, made_up
from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import ENTRIES, CommentEntry, new_entry
from chalicelib.comments.people.rows import PEOPLE, new_person
from chalicelib.comments.shapes import Comment, ListingOrder, Node
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

    def page(self, order: ListingOrder) -> Work:
        """Return the call for the first page."""
        query = {"order": order, "limit": str(LIMIT)}
        return lambda: self.calls("GET", "/nodes/{node}/comments", self.path, query)

    def read_ranks(self) -> list[CommentEntry]:
        """Read the entries of the roots of the first page by rank."""
        of_node = {"site": self.node["site"], "node_id": self.node["_id"], "ranked": True}
        fields = dict.fromkeys(("id", "seq", "posted", "thread", "best"), 1)
        rows = ENTRIES.of(self.runtime.database).find(of_node, fields)
        return list(rows.sort([("best", DESCENDING), ("seq", ASCENDING)]).limit(LIMIT + 1))

    def first_ranked(self) -> list[CommentEntry]:
        """Return the roots whose threads fit the first page by rank."""
        total, fitting = 0, list[CommentEntry]()
        for root in self.read_ranks():
            total += root["thread"]
            if total > LIMIT:
                break
            fitting.append(root)
        return fitting

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


def as_posted() -> Comment:
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
        self._entries = ENTRIES.of(bench.runtime.database)
        self._new = (f"raw{number:07}" for number in itertools.count())
        copy: Node = {**whole, "_id": self.key["_id"]}
        self._entry = {**new_entry(copy, as_posted(), POSTED)}
        self._site = self._entry.pop("site")
        self._entry.pop("_id")
        people = PEOPLE.of(bench.runtime.database)
        self._people = people.with_options(write_concern=WriteConcern(1))
        made = new_person(whole["site"], "raw", "Raw")
        self._person = {"_id": made["_id"]}
        self._people.replace_one(self._person, made, upsert=True)

    def row(self, comment_id: str) -> Document:
        """Return what a comment is found by."""
        return {**self.rows, "id": comment_id}

    def number(self) -> None:
        """Count the post of a person, and number the comment."""
        self._people.find_one_and_update(self._person, {"$max": {"tat": POSTED}})
        update = {"$inc": {"last_seq": 1}, "$set": {"last_posted": POSTED, "written": POSTED}}
        self._nodes.find_one_and_update(self.key, update, projection=nodes.WITHOUT_COMMENTS)

    def enter(self, parent: Comment | None = None) -> None:
        """Write the entry of a comment, and count it in its thread."""
        key = {"_id": f"{self.key['_id']}/{next(self._new)}", "site": self._site}
        writes = [UpdateOne(key, {"$setOnInsert": self._entry}, upsert=True)]
        if parent is not None:
            root = {"_id": f"{self.key['_id']}/{parent['id']}", "site": self._site}
            writes.append(UpdateOne(root, {"$inc": {"thread": 1}}))
        self._entries.bulk_write(writes)

    def count(self) -> None:
        """Count a comment."""
        self._nodes.update_one(self.key, {"$inc": {"counts.visible": 1}})
