"""Upkeep of entries: remove the entries of failed posts, and repair missing or wrong entries."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pymongo import ASCENDING

from chalicelib import deadlines
from chalicelib.comments import nodes
from chalicelib.comments.entries.comparing import Difference, repair, verify
from chalicelib.comments.entries.rows import ENTRIES, CommentEntry, key_of
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.stores import ask
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.jobs.sweeping import Sweep
from chalicelib.observability.logs import log
from chalicelib.runtime import LONGEST_RUN, Runtime

_SWEPT_AT_ONCE = 1_000
# A larger node takes a sweep too long; the comparison of counts repairs it once it is quiet.
_COMPARED_AT_ONCE = 10_000
_PARTS = dict.fromkeys(("todo", "site", "node_id", "id"), 1)
_SWEEP = Sweep(ENTRIES, "todo", after=LONGEST_RUN, fields=_PARTS)


# Sends the events of a comment; the time is a moment before the comment was read.
Notify = Callable[[Runtime, Node, Comment, datetime], None]


class _Telling(NamedTuple):
    """The callback for a comment's events, and whether the sweep has time for another comment."""

    notify: Notify
    has_time: Callable[[], bool]


def sweep(runtime: Runtime, notify: Notify) -> int:
    """Settle entries with an overdue `todo`; return the number of removed entries.

    It removes entries without a comment, and calls `notify` for the comments of the others. It
    ends after half of the invocation's remaining time; the next run continues.
    """
    has_time, removed = deadlines.share(0.5), 0
    groups: dict[tuple[str, str], list[CommentEntry]] = {}
    for row in _SWEEP.find(runtime, _SWEPT_AT_ONCE):
        groups.setdefault((row["site"], row["node_id"]), []).append(row)
    for (site, node_id), rows in groups.items():
        if not has_time():
            break
        removed += _sweep_node(runtime, site, node_id, rows, _Telling(notify, has_time))
    if removed:
        log.info("entries without comments removed", extra={"fields": {"entries": removed}})
    return removed


def compare_nodes(
    runtime: Runtime, after: str = "", most_nodes: int = 1_000, *, is_repairing: bool = True
) -> Document:
    """Compare the entries of up to `most_nodes` nodes with their comments, by node id.

    Returns the numbers of `missing`, `wrong` and `extra` entries, and `next`: the `after` of the
    next call, or None at the end. `is_repairing`: correct the entries; people may post meanwhile.
    """
    found = nodes.NODES.of(runtime.database).find({"_id": {"$gt": after}}, nodes.WITHOUT_COMMENTS)
    rows = list(found.sort("_id", ASCENDING).limit(most_nodes))
    total = Difference()
    for node in rows:
        if "vacant" not in node:
            compare = compare_node if is_repairing else _verify
            total = total.plus(compare(runtime, node))
    following = rows[-1]["_id"] if len(rows) == most_nodes else None
    return {**total._asdict(), "next": following}


def compare_node(runtime: Runtime, node: Node) -> Difference:
    """Repair a node's entries; return the difference found, or zeros if moves prevent a repair."""
    try:
        return ask(runtime, node, lambda _store, current: repair(runtime, current))
    except Unavailable:
        # The schedule compares the node once it is quiet.
        return Difference()


def _verify(runtime: Runtime, node: Node) -> Difference:
    return ask(runtime, node, lambda _store, current: verify(runtime, current))


def _sweep_node(
    runtime: Runtime,
    site: str,
    node_id: str,
    rows: Sequence[Mapping[str, Any]],
    telling: _Telling,
) -> int:
    """Settle the due entries of one node; return the number of removed entries."""
    entries, ids = ENTRIES.of(runtime.database), [row["id"] for row in rows]
    read_at = runtime.now()
    node = nodes.look(runtime.database, node_id)
    present: set[str] = set()
    if node is not None and "vacant" in node and "moved_to" in node["vacant"]:
        # The node's move carries the entries to its new id; sweep them again after `LONGEST_RUN`.
        later = {"site": site, "_id": {"$in": [row["_id"] for row in rows]}}
        entries.update_many(later, {"$set": {"todo": runtime.now()}})
        return 0
    if node is not None and "vacant" not in node:
        found = ask(runtime, node, lambda store, current: store.get_many(current, ids))
        present = {comment["id"] for comment in found}
        _tell(runtime, node, found, read_at, telling)
    gone = [row["_id"] for row in rows if row["id"] not in present]
    if not gone:
        return 0
    removed = entries.delete_many({"site": site, "_id": {"$in": gone}}).deleted_count
    if node is not None and "vacant" not in node:
        # The sizes of the threads still include the removed entries.
        if node["last_seq"] > _COMPARED_AT_ONCE:
            nodes.touch(runtime, node_id)
        else:
            ask(runtime, node, lambda _store, current: repair(runtime, current))
    return removed


def _tell(
    runtime: Runtime,
    node: Node,
    comments: Sequence[Comment],
    read_at: datetime,
    telling: _Telling,
) -> None:
    """Notify of each comment while time remains, and settle its entry."""
    for comment in comments:
        if not telling.has_time():
            return
        # The message of the write may be lost, or its worker may have run before the write.
        telling.notify(runtime, node, comment, read_at)
        # A newer `todo` belongs to a later change, which still owes its events: leave it.
        quiet = {**key_of(node, comment["id"]), "todo": {"$lte": runtime.now() - LONGEST_RUN}}
        ENTRIES.of(runtime.database).update_one(quiet, {"$set": {"todo": None}})
