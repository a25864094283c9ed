"""Looking after entries: those of posts that ended half done, and comments that have none yet."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from pymongo import ASCENDING

from chalicelib.comments import nodes
from chalicelib.comments.entries.comparing import QUIET, Difference, repair, verify
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.shapes import Node
from chalicelib.comments.stores import ask
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

_SWEPT_AT_ONCE = 1_000


def sweep(runtime: Runtime) -> int:
    """Look for the comments of entries that a post has made and left; return how many had none.

    Those are removed, once their posts are over.
    """
    # With the type, or the index, which is partial by it, would not be used.
    over = {"todo": {"$type": "date", "$lte": runtime.now() - QUIET}}
    found: Any = ENTRIES.of(runtime.database).find(over, {"site": 1, "node_id": 1, "id": 1})
    due = sorted(
        found.sort("todo", ASCENDING).limit(_SWEPT_AT_ONCE),
        key=lambda row: (row["site"], row["node_id"]),
    )
    groups = groupby(due, key=lambda row: (row["site"], row["node_id"]))
    removed = sum(
        _sweep_node(runtime, site, node_id, list(rows)) for (site, node_id), rows in groups
    )
    if removed:
        log.info("entries without comments removed", extra={"fields": {"entries": removed}})
    return removed


def compare_nodes(
    runtime: Runtime, after: str = "", most_nodes: int = 1_000, *, is_repairing: bool = True
) -> Document:
    """Compare the entries of nodes with their comments, in the order of the nodes' ids.

    Returns how many entries were `missing`, `wrong` and `extra`, and the node to continue after,
    or null. With `is_repairing` they are made to agree, by which a deployment's old comments
    get their entries while people post.
    """
    found = nodes.NODES.of(runtime.database).find({"_id": {"$gt": after}}, nodes.WITHOUT_COMMENTS)
    rows = list(found.sort("_id", ASCENDING).limit(most_nodes))
    total = Difference()
    for node in rows:
        if "vacant" not in node:
            compare = compare_node if is_repairing else _differing
            total = total.plus(compare(runtime, node))
    following = rows[-1]["_id"] if len(rows) == most_nodes else None
    return {**total._asdict(), "next": following}


def compare_node(runtime: Runtime, node: Node) -> Difference:
    """Make the entries of a node agree with its comments, and note that it has them."""
    try:
        difference = ask(runtime, node, lambda _store, current: repair(runtime, current))
    except Unavailable:
        # It is compared when it has been quiet for a while.
        return Difference()
    nodes.NODES.of(runtime.database).update_one(
        {"_id": node["_id"], **nodes.OCCUPIED}, {"$set": {"entries_version": nodes.ENTRIES_VERSION}}
    )
    return difference


def _differing(runtime: Runtime, node: Node) -> Difference:
    return ask(runtime, node, lambda _store, current: verify(runtime, current))


def _sweep_node(
    runtime: Runtime, site: str, node_id: str, rows: Sequence[Mapping[str, Any]]
) -> int:
    """Settle what is due of one node; return how many entries were removed."""
    entries, ids = ENTRIES.of(runtime.database), [row["id"] for row in rows]
    node = nodes.look(runtime.database, node_id)
    present: set[str] = set()
    if node is not None and "vacant" in node and "moved_to" in node["vacant"]:
        # They are carried to the node's new id, and looked after there.
        later = {"site": site, "_id": {"$in": [row["_id"] for row in rows]}}
        entries.update_many(later, {"$set": {"todo": runtime.now()}})
        return 0
    if node is not None and "vacant" not in node:
        found = ask(runtime, node, lambda store, current: store.get_many(current, ids))
        present = {comment["id"] for comment in found}
    there = [row["_id"] for row in rows if row["id"] in present]
    gone = [row["_id"] for row in rows if row["id"] not in present]
    entries.update_many({"site": site, "_id": {"$in": there}}, {"$set": {"todo": None}})
    if not gone:
        return 0
    removed = entries.delete_many({"site": site, "_id": {"$in": gone}}).deleted_count
    if node is not None and "vacant" not in node:
        # Threads that had counted them.
        ask(runtime, node, lambda _store, current: repair(runtime, current))
    return removed
