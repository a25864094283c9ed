"""Upkeep of entries: it removes entries of failed posts, and makes the missing ones."""

import itertools
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pymongo import ASCENDING, DeleteOne, UpdateOne
from pymongo.errors import BulkWriteError

from chalicelib import deadlines
from chalicelib.comments import nodes
from chalicelib.comments.entries.ranking import UNRANKED
from chalicelib.comments.entries.reported import queue_fields
from chalicelib.comments.entries.rows import (
    ENTRIES,
    CommentEntry,
    all_of,
    fields_from,
    key_of,
    new_entry,
    queue_of,
)
from chalicelib.comments.entries.writing import owed_since, settling_update
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import GONE
from chalicelib.comments.stores import ask, store_of
from chalicelib.database import Document, only_duplicates
from chalicelib.errors import Unavailable
from chalicelib.jobs.sweeping import Sweep
from chalicelib.observability.logs import log
from chalicelib.runtime import LONGEST_RUN, Runtime

# The comparison of entries with comments runs while people post. A repair writes an entry only if
# it is unchanged since it was read, and removes an entry without a comment only when no post of its
# time can be running.

_AT_ONCE = 500
# The fields of an entry that comments decide.
_DECIDED = (
    *("seq", "depth", "posted", "author_id", "author_key", "state", "ranked", "thread"),
    *("queue", "queued_at", "excerpt", "author_name", "edited", "shadow", "parent_id"),
    *("mentioned", "revision", "reasons"),
)
_READ = dict.fromkeys((*_DECIDED, "root", "best", "top", "contro", "reports"), 1)

Write = UpdateOne | DeleteOne


class Difference(NamedTuple):
    """The numbers of entries that are missing, differ from their comments, or have no comment."""

    missing: int = 0
    wrong: int = 0
    extra: int = 0

    def plus(self, other: "Difference") -> "Difference":
        """Return the sum of two differences."""
        return Difference(*(a + b for a, b in zip(self, other, strict=True)))


def verify(runtime: Runtime, node: Node) -> Difference:
    """Return the difference between a node's entries and its comments, without a change."""
    return _compare(runtime, node)[0]


def repair(runtime: Runtime, node: Node) -> Difference:
    """Make the entries of a node agree with its comments; return the difference before.

    An extra entry stays while its post may be running. A wrong entry's votes stay.
    """
    difference, writes = _compare(runtime, node)
    if writes and not _is_as_read(runtime, node):
        # The comments may come from a generation that no longer exists.
        return Difference()
    for batch in _batches(writes):
        try:
            ENTRIES.of(runtime.database).bulk_write(batch, ordered=False)
        except BulkWriteError as error:
            # The writer of a missing entry may have made it since.
            if not only_duplicates(error):
                raise
    return difference


def _compare(runtime: Runtime, node: Node) -> tuple[Difference, list[Write]]:
    """Return the difference of a node's entries, and the writes that repair it."""
    # Entries first: an entry made after this reading may have its comment in the other.
    rows: Any = ENTRIES.of(runtime.database).find(all_of(node, node["site"]), _READ)
    entries = {row["_id"].rpartition("/")[2]: row for row in rows}
    reported = {comment_id for comment_id, row in entries.items() if row.get("reports")}
    comments, threads = _comments(runtime, node, reported)
    writes: list[Write] = []
    missing, wrong, owed = 0, 0, owed_since(runtime, node)
    for comment in comments:
        entry = entries.pop(comment["id"], None)
        right = _right_fields(comment, threads, is_reported=comment["id"] in reported)
        if entry is None:
            missing += 1
            made = new_entry(node, comment, None, right["thread"])
            writes.append(UpdateOne(key_of(node, made["id"]), {"$setOnInsert": made}, upsert=True))
        elif not _agrees(entry, right):
            wrong += 1
            writes.append(_repair(node, entry, comment, right, owed))
        elif "root" not in entry:
            # Of release 0.3.0, whose entries are right without it.
            writes.append(_repair(node, entry, comment, right))
    # The entry of the page itself is `{node}/`, and has no comment.
    extra = [row for comment_id, row in entries.items() if comment_id]
    over = runtime.now() - LONGEST_RUN
    writes += [DeleteOne(_as_read(node, row)) for row in extra if row["posted"] <= over]
    return Difference(missing, wrong, len(extra)), writes


def _comments(
    runtime: Runtime, node: Node, reported: Container[str]
) -> tuple[list[Comment], Counter[str]]:
    """Return a node's comments, with the texts of queued comments alone, and threads' sizes."""
    comments: list[Comment] = []
    threads: Counter[str] = Counter()
    for comment in itertools.chain.from_iterable(store_of(runtime, node).export(node)):
        threads[comment["slug"].partition("/")[0]] += 1
        is_queued = queue_of(comment) is not None or comment["id"] in reported
        comments.append(comment if is_queued else {**comment, "text": None, "html": None})
    return comments, threads


def _right_fields(
    comment: Comment, threads: Mapping[str, int], *, is_reported: bool
) -> dict[str, Any]:
    """Return the fields that agree with a comment."""
    thread = threads[comment["id"]] if comment["depth"] == 0 else 1
    listed = comment["state"] in {"visible", "deleted"} or thread > 1
    return {
        **fields_from(comment),
        **(queue_fields(comment) if is_reported and comment["state"] == "visible" else {}),
        "thread": thread,
        "ranked": comment["depth"] == 0 and listed,
    }


def _agrees(entry: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    # A flagged comment does not name the time since which it waits.
    decided = [each for each in _DECIDED if each != "queued_at" or right["queue"] != "flagged"]
    if any(entry.get(name) != right.get(name) for name in decided):
        return False
    is_gone = right["state"] in GONE
    return not is_gone or (entry["best"], entry["top"], entry["contro"]) == UNRANKED


def _repair(
    node: Node,
    entry: CommentEntry,
    comment: Comment,
    right: Mapping[str, Any],
    todo: datetime | None = None,
) -> UpdateOne:
    stages = settling_update(node, comment, todo)
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
# A larger node takes a sweep too long; the comparison of counts repairs it once it is quiet.
_COMPARED_AT_ONCE = 10_000
_PARTS = dict.fromkeys(("todo", "site", "node_id", "id"), 1)
_SWEEP = Sweep(ENTRIES, "todo", after=LONGEST_RUN, fields=_PARTS)


# Tells of a comment, which was read after a time.
Notify = Callable[[Runtime, Node, Comment, datetime], None]


class _Telling(NamedTuple):
    """Whom a sweep tells of comments, and whether it has time for one more."""

    notify: Notify
    has_time: Callable[[], bool]


def sweep(runtime: Runtime, notify: Notify) -> int:
    """Settle the entries of posts that are over; return the number of removed entries.

    It removes entries without comments, and gives the other comments to `notify`. It ends after
    half of the invocation's remaining time; the next run goes on.
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
    """Compare the entries of nodes with their comments, in the order of the nodes' ids.

    Returns the numbers of `missing`, `wrong` and `extra` entries, and `next`, the node to continue
    after, or null. `is_repairing` corrects them, while people post.
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
    """Make the entries of a node agree with its comments."""
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
        # A move carries them to the node's new id; they are due there.
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
        # Their threads had counted them.
        if node["last_seq"] > _COMPARED_AT_ONCE:
            nodes.touch(runtime.database, node_id, runtime.now())
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
    """Tell of comments in the time that is left, and settle the entry of each."""
    for comment in comments:
        if not telling.has_time():
            return
        # The message may have got lost, or its worker come before the change.
        telling.notify(runtime, node, comment, read_at)
        # A change since then owes its notifications anew.
        quiet = {**key_of(node, comment["id"]), "todo": {"$lte": runtime.now() - LONGEST_RUN}}
        ENTRIES.of(runtime.database).update_one(quiet, {"$set": {"todo": None}})
