"""Looking after entries: those of posts that ended half done, and comments that have none yet."""

import itertools
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any, NamedTuple

from pymongo import ASCENDING, DeleteOne, UpdateOne
from pymongo.errors import BulkWriteError

from chalicelib.comments import nodes
from chalicelib.comments.entries.ranking import UNRANKED
from chalicelib.comments.entries.reported import queued
from chalicelib.comments.entries.rows import (
    ENTRIES,
    Entry,
    all_of,
    key_of,
    new_entry,
    queue_of,
    told_by,
)
from chalicelib.comments.entries.writing import settled
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import GONE
from chalicelib.comments.stores import ask, store_of
from chalicelib.database import Document, only_duplicates
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# Entries are compared with comments while people post. An entry is repaired only if it is
# unchanged since it was read. An entry without a comment is removed only when its post can no
# longer be running.

# A write that began this long ago is over: no function runs longer.
QUIET = timedelta(minutes=15)
_AT_ONCE = 500
# The fields of an entry that comments decide.
_DECIDED = (
    *("seq", "depth", "posted", "author_id", "author_key", "state", "ranked", "thread"),
    *("queue", "queued_at", "excerpt", "author_name", "edited", "shadow", "mentioned", "revision"),
)
_READ = dict.fromkeys((*_DECIDED, "best", "top", "contro", "reports"), 1)

Write = UpdateOne | DeleteOne


class Difference(NamedTuple):
    """How many entries of nodes are missing, are not as their comments, or have no comment."""

    missing: int = 0
    wrong: int = 0
    extra: int = 0

    def plus(self, other: "Difference") -> "Difference":
        """Return the sum of two differences."""
        return Difference(*(a + b for a, b in zip(self, other, strict=True)))


def verify(runtime: Runtime, node: Node) -> Difference:
    """Return how the entries of a node differ from its comments; changes nothing."""
    return _found(runtime, node)[0]


def repair(runtime: Runtime, node: Node) -> Difference:
    """Make the entries of a node agree with its comments; return what differed.

    An extra entry stays while its post may be running. The votes of a wrong one stay.
    """
    difference, writes = _found(runtime, node)
    if writes and not _is_as_read(runtime, node):
        # Its comments may have been those of a generation that is removed by now.
        return Difference()
    for batch in _batches(writes):
        try:
            ENTRIES.of(runtime.database).bulk_write(batch, ordered=False)
        except BulkWriteError as error:
            # A missing one that its writer has made since is as good.
            if not only_duplicates(error):
                raise
    return difference


def _found(runtime: Runtime, node: Node) -> tuple[Difference, list[Write]]:
    """Return the difference of a node's entries, and the writes that repair it."""
    # Entries first: an entry made after this reading may have its comment in the other.
    rows: Any = ENTRIES.of(runtime.database).find(all_of(node, node["site"]), _READ)
    entries = {row["_id"].rpartition("/")[2]: row for row in rows}
    reported = {comment_id for comment_id, row in entries.items() if row.get("reports")}
    comments, threads = _comments(runtime, node, reported)
    writes: list[Write] = []
    missing = wrong = 0
    for comment in comments:
        entry = entries.pop(comment["id"], None)
        right = _right(comment, threads, is_reported=comment["id"] in reported)
        if entry is None:
            missing += 1
            made = new_entry(node, comment, None, right["thread"])
            writes.append(UpdateOne(key_of(node, made["id"]), {"$setOnInsert": made}, upsert=True))
        elif not _agrees(entry, right):
            wrong += 1
            writes.append(_repair(node, entry, comment, right))
    # The entry of the page itself is `{node}/`, and has no comment.
    extra = [row for comment_id, row in entries.items() if comment_id]
    over = runtime.now() - QUIET
    writes += [DeleteOne(_as_read(node, row)) for row in extra if row["posted"] <= over]
    return Difference(missing, wrong, len(extra)), writes


def _comments(
    runtime: Runtime, node: Node, reported: Container[str]
) -> tuple[list[Comment], Counter[str]]:
    """Return a node's comments, with their texts where they are queued, and its threads' sizes."""
    comments: list[Comment] = []
    threads: Counter[str] = Counter()
    for comment in itertools.chain.from_iterable(store_of(runtime, node).export(node)):
        threads[comment["slug"].partition("/")[0]] += 1
        is_queued = queue_of(comment) is not None or comment["id"] in reported
        comments.append(comment if is_queued else {**comment, "text": None, "html": None})
    return comments, threads


def _right(comment: Comment, threads: Mapping[str, int], *, is_reported: bool) -> dict[str, Any]:
    """Return the fields that an entry has to have."""
    thread = threads[comment["id"]] if comment["depth"] == 0 else 1
    listed = comment["state"] in {"visible", "deleted"} or thread > 1
    return {
        **told_by(comment),
        **(queued(comment) if is_reported and comment["state"] == "visible" else {}),
        "thread": thread,
        "ranked": comment["depth"] == 0 and listed,
    }


def _agrees(entry: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    # Since when a flagged one waits, its comment does not say.
    decided = [each for each in _DECIDED if each != "queued_at" or right["queue"] != "flagged"]
    if any(entry.get(name) != right.get(name) for name in decided):
        return False
    is_gone = right["state"] in GONE
    return not is_gone or (entry["best"], entry["top"], entry["contro"]) == UNRANKED


def _repair(node: Node, entry: Entry, comment: Comment, right: Mapping[str, Any]) -> UpdateOne:
    stages = settled(node, comment)
    stages.insert(1, {"$set": {"thread": right["thread"]}})
    return UpdateOne(_as_read(node, entry), stages)


def _as_read(node: Node, entry: Mapping[str, Any]) -> dict[str, Any]:
    guarded = ("state", "ranked", "thread", "queue")
    key = {"_id": entry["_id"], "site": node["site"]}
    return {**key, **{name: entry.get(name) for name in guarded}}


def _is_as_read(runtime: Runtime, node: Node) -> bool:
    now = nodes.look(runtime.database, node["_id"])
    return now is not None and now["generation"] == node["generation"] and "vacant" not in now


def _batches(writes: list[Write]) -> Iterator[list[Write]]:
    for first in range(0, len(writes), _AT_ONCE):
        yield writes[first : first + _AT_ONCE]


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
