"""Lookups of comments in several nodes by comment ids, with one query for each store."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pymongo.database import Database

from chalicelib.comments import nodes
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.stores.buckets import BY_COMMENT, PAGES
from chalicelib.comments.stores.document_ranges import BY_ID
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.comments.stores.embedded_tree import every_comment
from chalicelib.database import Document

# The key of a comment: its node's id and its own id.
Place = tuple[str, str]
_COMMENT = {"_id": 0, **dict.fromkeys(("node_id", *Comment.__annotations__), 1)}


def collect(
    database: Database[Document], found: Sequence[Node], wanted: Mapping[str, Sequence[str]]
) -> dict[Place, Comment]:
    """Return the wanted comments of the found nodes, by node id and comment id.

    `wanted`: the ids of comments by node id. Comments of a node that moves meanwhile may be
    missing from the result.
    """
    by_store: dict[str, list[Node]] = {}
    for node in found:
        by_store.setdefault(node["store"], []).append(node)
    collected: dict[Place, Comment] = {}
    for store, of_store in by_store.items():
        rows = _READERS[store](database, of_store, wanted)
        collected |= {
            (node_id, comment["id"]): comment
            for node_id, comment in rows
            if comment["id"] in wanted[node_id]
        }
    return collected


def _read_documents(
    database: Database[Document], found: Iterable[Node], wanted: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, Comment]]:
    branches = [{**_of(node), "id": {"$in": list(wanted[node["_id"]])}} for node in found]
    rows: Any = COMMENTS.of(database).find({"$or": branches}, _COMMENT).hint(BY_ID)
    for row in rows:
        yield row.pop("node_id"), row


def _read_pages(
    database: Database[Document], found: Iterable[Node], wanted: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, Comment]]:
    branches = [{**_of(node), "comments.id": {"$in": list(wanted[node["_id"]])}} for node in found]
    ids = sorted({each for of_node in wanted.values() for each in of_node})
    shown = {"$filter": {"input": "$comments", "cond": {"$in": ["$$this.id", ids]}}}
    rows: Any = PAGES.of(database).find({"$or": branches}, {"node_id": 1, "comments": shown})
    for row in rows.hint(BY_COMMENT):
        for comment in row["comments"]:
            yield row["node_id"], comment


def _read_nodes(
    database: Database[Document], found: Iterable[Node], _wanted: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, Comment]]:
    where = {"_id": {"$in": [node["_id"] for node in found]}, "store": "embedded"}
    for row in nodes.NODES.of(database).find(where, {"metadata": 1}):
        for comment in every_comment(row.get("metadata", {})):
            yield row["_id"], comment


def _of(node: Node) -> Document:
    return {"node_id": node["_id"], "generation": node["generation"]}


_READERS = {"documents": _read_documents, "buckets": _read_pages, "embedded": _read_nodes}
