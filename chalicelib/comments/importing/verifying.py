"""A comparison of a file with the discussions of a site, without a change."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.importing import applying
from chalicelib.comments.importing.conversion import FileConversion, UnusablePart
from chalicelib.comments.importing.rows import MAX_SAMPLES, ImportSample, StagedComment
from chalicelib.comments.importing.shapes import ImportedComment, ImportedThread, Item
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import GONE, Store
from chalicelib.comments.stores import ask
from chalicelib.runtime import Runtime

_BATCH = 500
# What a comment here has in common with its row, beside its state and its place.
_COMPARED = ("posted", "edited", "text")
_NOBODY = {"name": None}


class Comparison(NamedTuple):
    """The numbers of a file's comments, of the same ones here, and of each difference.

    different: numbers by what differs; `extra` comments stand here and not in the file.
    """

    comments: int
    same: int
    different: Mapping[str, int]
    samples: Sequence[ImportSample]


class _Placed(NamedTuple):
    """A comment's row, with the id of its node; None: the thread has no node."""

    row: StagedComment
    node_id: str | None


def compare(runtime: Runtime, conversion: FileConversion, items: Iterable[Item]) -> Comparison:
    """Compare a file with the comments of a site; raises what the parser raises."""
    counts, samples = Counter[str](), list[ImportSample]()
    found: Counter[str] = Counter()
    rows = _rows(runtime, conversion, items, counts)
    while batch := list(itertools.islice(rows, _BATCH)):
        for placed, here in _look(runtime, batch):
            differs = _difference(placed.row, here)
            counts[differs or "same"] += 1
            if here is not None and placed.node_id is not None:
                found[placed.node_id] += 1
            if differs and len(samples) < MAX_SAMPLES:
                samples.append({"reason": differs, "where": placed.row["id"]})
    for node_id, number in found.items():
        counts["extra"] += max(0, _count(runtime, node_id) - number)
    comments, same = counts.pop("comments", 0), counts.pop("same", 0)
    different = {name: number for name, number in sorted(counts.items()) if number}
    return Comparison(comments, same, different, samples)


def _rows(
    runtime: Runtime, conversion: FileConversion, items: Iterable[Item], counts: Counter[str]
) -> Iterator[_Placed]:
    """Yield the comments that the file has; count the unusable ones."""
    places: dict[str, str | None] = {}
    for item in items:
        if isinstance(item, ImportedThread):
            places[item.key] = _node_of(runtime, conversion, item)
        if not isinstance(item, ImportedComment):
            continue
        counts["comments"] += 1
        try:
            row, _ = conversion.comment(item)
        except UnusablePart:
            counts["unusable"] += 1
            continue
        yield _Placed(row, places.get(item.thread))


def _node_of(runtime: Runtime, conversion: FileConversion, thread: ImportedThread) -> str | None:
    try:
        row = conversion.thread(thread, 0)
    except UnusablePart:
        return None
    node = applying.find_node(runtime, conversion.source.site, row)
    return node["_id"] if node else None


def _look(runtime: Runtime, batch: Sequence[_Placed]) -> Iterator[tuple[_Placed, Comment | None]]:
    """Yield each row with its comment here."""
    of_node: dict[str, list[str]] = {}
    for placed in batch:
        if placed.node_id is not None:
            of_node.setdefault(placed.node_id, []).append(placed.row["id"])
    here: dict[tuple[str, str], Comment] = {}
    for node_id, ids in of_node.items():
        try:
            node = nodes.find(runtime.database, node_id)
        except (UnknownNode, NodeMoved):
            continue
        for comment in ask(runtime, node, partial(_of_ids, ids)):
            here[node_id, comment["id"]] = comment
    for placed in batch:
        yield placed, here.get((placed.node_id or "", placed.row["id"]))


def _of_ids(ids: Sequence[str], store: Store, node: Node) -> list[Comment]:
    return store.get_many(node, ids)


def _difference(row: StagedComment, here: Comment | None) -> str | None:
    """Return the first difference of a comment from its row; None: there is none."""
    if here is None:
        return "missing"
    if here["state"] in GONE or row["state"] in GONE:
        return None if here["state"] in GONE and row["state"] in GONE else "state"
    if here["state"] != row["state"]:
        return "state"
    if row["parent"] != (here.get("reply_to") or here["parent_id"]):
        return "parent"
    mine: Mapping[str, Any] = row
    its: Mapping[str, Any] = here
    if (mine["author"] or _NOBODY)["name"] != (its["author"] or _NOBODY)["name"]:
        return "author"
    return next((name for name in _COMPARED if mine[name] != its[name]), None)


def _count(runtime: Runtime, node_id: str) -> int:
    node = nodes.find(runtime.database, node_id)
    return sum(ask(runtime, node, lambda store, now: store.count(now)).values())
