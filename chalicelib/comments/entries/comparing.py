"""Comparison of a node's entries with its comments, and the repair of what differs.

It runs while people post. A repair writes an entry only if the fields of `_as_read` are unchanged
since the read. It removes an entry without a comment only LONGEST_RUN after the post, when no call
can still store the comment. A first pass over all comments holds only an outline of each entry,
so that a large node fits into a function's memory.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from pymongo import DeleteOne, UpdateOne
from pymongo.errors import BulkWriteError

from chalicelib.comments import nodes
from chalicelib.comments.entries.ranking import UNRANKED
from chalicelib.comments.entries.reported import queue_fields
from chalicelib.comments.entries.rows import (
    ENTRIES,
    CommentEntry,
    all_of,
    entry_id,
    fields_from,
    is_listed,
    key_of,
    new_entry,
    root_of,
)
from chalicelib.comments.entries.writing import owed_since, settling_update
from chalicelib.comments.shapes import Comment, Node, State
from chalicelib.comments.store import GONE
from chalicelib.comments.stores import store_of
from chalicelib.database import only_duplicates
from chalicelib.runtime import LONGEST_RUN, Runtime

_AT_ONCE = 500
_DIGEST_BYTES = 12
# The fields of an entry that its comment decides. Its thread decides `_COUNTED`.
_OWN = (
    *("seq", "depth", "posted", "author_id", "author_key", "state"),
    *("queue", "queued_at", "excerpt", "author_name", "edited", "shadow", "parent_id"),
    *("mentioned", "revision", "reasons"),
)
_COUNTED = ("thread", "ranked")
_READ = dict.fromkeys((*_OWN, *_COUNTED, "root", "best", "top", "contro", "reports"), 1)

Write = UpdateOne | DeleteOne


class Difference(NamedTuple):
    """The numbers of entries that are missing, differ from their comments, or have no comment."""

    missing: int = 0
    wrong: int = 0
    extra: int = 0

    def plus(self, other: "Difference") -> "Difference":
        """Return the sum of two differences."""
        return Difference(*(a + b for a, b in zip(self, other, strict=True)))


class _Outline(NamedTuple):
    """The facts of an entry that the first pass holds."""

    digest: bytes
    counted: tuple[Any, ...]
    is_reported: bool
    is_unranked: bool
    has_root: bool


# The entries to look at, by the ids of their comments; None: there was no entry.
_Suspects = Mapping[str, _Outline | None]


def verify(runtime: Runtime, node: Node) -> Difference:
    """Return the difference between a node's entries and its comments, without a change."""
    total = Difference()
    for difference, _ in _compare(runtime, node):
        total = total.plus(difference)
    return total


def repair(runtime: Runtime, node: Node) -> Difference:
    """Make the entries of a node agree with its comments; return the difference before.

    An extra entry stays while its post may be running. A wrong entry's votes stay.
    """
    total = Difference()
    for difference, writes in _compare(runtime, node):
        if writes and not nodes.is_current(runtime.database, node):
            # The comments may come from a generation that no longer exists.
            break
        total = total.plus(difference)
        _write(runtime, writes)
    return total


def _write(runtime: Runtime, writes: list[Write]) -> None:
    try:
        if writes:
            ENTRIES.of(runtime.database).bulk_write(writes, ordered=False)
    except BulkWriteError as error:
        # The writer of a missing entry may have made it since.
        if not only_duplicates(error):
            raise


def _compare(runtime: Runtime, node: Node) -> Iterator[tuple[Difference, list[Write]]]:
    """Yield the differences of a node's entries in batches, with the writes that repair them."""
    suspects, threads = _find_suspects(runtime, node)
    names = list(suspects)
    for first in range(0, len(names), _AT_ONCE):
        batch = {name: suspects[name] for name in names[first : first + _AT_ONCE]}
        yield _examine(runtime, node, batch, threads)


def _find_suspects(runtime: Runtime, node: Node) -> tuple[_Suspects, Counter[str]]:
    """Return the entries to examine, and the size of each thread, by the ids of comments.

    Each entry to examine is missing, may differ from its comment, or has no comment.
    """
    # Entries first: a comment posted between the two reads is then a suspect without an entry.
    rows: Any = ENTRIES.of(runtime.database).find(all_of(node, node["site"]), _READ)
    named = ((row["_id"].rpartition("/")[2], row) for row in rows)
    # The entry of the page itself is `{node}/`, and has no comment.
    left = {name: _outline(row) for name, row in named if name}
    suspects: dict[str, _Outline | None] = {}
    threads: Counter[str] = Counter()
    roots: dict[str, tuple[_Outline, State]] = {}
    for comment in chain.from_iterable(store_of(runtime, node).export(node)):
        threads[root_of(comment)] += 1
        outline = left.pop(comment["id"], None)
        if outline is None or not _may_agree(outline, comment):
            suspects[comment["id"]] = outline
        elif comment["depth"] == 0:
            roots[comment["id"]] = outline, comment["state"]
        elif outline.counted != _count(comment["depth"], comment["state"], 1):
            suspects[comment["id"]] = outline
    for name, (outline, state) in roots.items():
        if outline.counted != _count(0, state, threads[name]):
            suspects[name] = outline
    return suspects | left, threads


def _examine(
    runtime: Runtime, node: Node, suspects: _Suspects, threads: Counter[str]
) -> tuple[Difference, list[Write]]:
    """Return the difference of some entries, and the writes that repair it.

    An entry that has changed since the first pass is left to the next comparison.
    """
    keys = {
        "site": node["site"],
        "_id": {"$in": [entry_id(node["_id"], each) for each in suspects]},
    }
    rows: Any = ENTRIES.of(runtime.database).find(keys, _READ)
    entries = {row["_id"].rpartition("/")[2]: row for row in rows}
    found = store_of(runtime, node).get_many(node, list(suspects))
    comments = {comment["id"]: comment for comment in found}
    total, writes = Difference(), list[Write]()
    for name, outline in suspects.items():
        entry, comment = entries.get(name), comments.get(name)
        if (_outline(entry) if entry else None) != outline:
            continue
        if comment is not None:
            difference, write = _agree(runtime, node, comment, entry, threads)
        else:
            difference, write = _end(runtime, node, entry)
        total = total.plus(difference)
        writes += [write] if write else []
    return total, writes


def _agree(
    runtime: Runtime,
    node: Node,
    comment: Comment,
    entry: CommentEntry | None,
    threads: Counter[str],
) -> tuple[Difference, Write | None]:
    """Return the difference of an entry from its comment, and the write that ends it."""
    if entry is None:
        right = _right_fields(comment, threads, is_reported=False)
        made = new_entry(node, comment, None, right["thread"])
        insertion = UpdateOne(key_of(node, made["id"]), {"$setOnInsert": made}, upsert=True)
        return Difference(missing=1), insertion
    right = _right_fields(comment, threads, is_reported=bool(entry.get("reports")))
    if not _agrees(entry, right):
        owed = owed_since(runtime, node)
        return Difference(wrong=1), _repair(node, entry, comment, right, owed)
    if "root" not in entry:
        # Of release 0.3.0, whose entries are right without it.
        return Difference(), _repair(node, entry, comment, right)
    return Difference(), None


def _end(
    runtime: Runtime, node: Node, entry: CommentEntry | None
) -> tuple[Difference, Write | None]:
    """Return the difference of an entry without a comment, and its deletion after LONGEST_RUN."""
    if entry is None:
        return Difference(), None
    is_over = entry["posted"] <= runtime.now() - LONGEST_RUN
    return Difference(extra=1), DeleteOne(_as_read(node, entry)) if is_over else None


def _outline(entry: Mapping[str, Any]) -> _Outline:
    return _Outline(
        digest=_digest(entry),
        counted=tuple(entry.get(name) for name in _COUNTED),
        is_reported=bool(entry.get("reports")),
        is_unranked=_is_unranked(entry),
        has_root="root" in entry,
    )


def _digest(fields: Mapping[str, Any]) -> bytes:
    """Return a digest of the fields that a comment decides, the same for equal values."""
    told = repr([fields.get(name) for name in _names_of(fields)])
    return hashlib.blake2b(told.encode(), digest_size=_DIGEST_BYTES).digest()


def _names_of(fields: Mapping[str, Any]) -> Iterator[str]:
    """Return the names of the fields that a comment decides."""
    # A flagged comment does not store the time of its queueing.
    return (each for each in _OWN if each != "queued_at" or fields.get("queue") != "flagged")


def _may_agree(outline: _Outline, comment: Comment) -> bool:
    """Return whether an entry may agree with its comment, apart from `thread` and `ranked`."""
    own = _own_fields(comment, is_reported=outline.is_reported)
    is_ranked_rightly = own["state"] not in GONE or outline.is_unranked
    return outline.has_root and is_ranked_rightly and outline.digest == _digest(own)


def _own_fields(comment: Comment, *, is_reported: bool) -> dict[str, Any]:
    """Return the fields that agree with a comment; its thread decides the others."""
    is_queued = is_reported and comment["state"] == "visible"
    return {**fields_from(comment), **(queue_fields(comment) if is_queued else {})}


def _count(depth: int, state: State, thread: int) -> tuple[int, bool]:
    return thread, depth == 0 and (is_listed(state) or thread > 1)


def _right_fields(
    comment: Comment, threads: Mapping[str, int], *, is_reported: bool
) -> dict[str, Any]:
    """Return the fields that agree with a comment and its thread."""
    # A root that the first pass missed is a thread of one.
    size = max(1, threads[comment["id"]]) if comment["depth"] == 0 else 1
    thread, ranked = _count(comment["depth"], comment["state"], size)
    return {**_own_fields(comment, is_reported=is_reported), "thread": thread, "ranked": ranked}


def _agrees(entry: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    if any(entry.get(name) != right.get(name) for name in (*_names_of(right), *_COUNTED)):
        return False
    return right["state"] not in GONE or _is_unranked(entry)


def _is_unranked(entry: Mapping[str, Any]) -> bool:
    return tuple(entry.get(name) for name in ("best", "top", "contro")) == UNRANKED


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
