"""Compare a file with the discussions of a site; write nothing."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.importing import applying, exporting
from chalicelib.comments.importing.conversion import FileConversion, UnusablePart
from chalicelib.comments.importing.identities import OWN_FORMAT, account_id
from chalicelib.comments.importing.ordering import ids_above
from chalicelib.comments.importing.rows import MAX_SAMPLES, ImportSample, StagedComment
from chalicelib.comments.importing.shapes import ImportedComment, ImportedThread, Item
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import CONCEALED, GONE
from chalicelib.comments.stores import ask
from chalicelib.foreign.spools import Seen
from chalicelib.runtime import Runtime

_BATCH = 500
_TIMES = ("posted", "edited")
_OF_AUTHOR = ("name", "badges", "role")


class Comparison(NamedTuple):
    """The result of a comparison.

    comments: the number of comments in the file. same: the number of equal comments at the site, or
    of comments that an import changes in a documented way. left: the number that an import leaves
    out. different: numbers by the kind of difference; `extra`: comments that the file lacks.
    """

    comments: int
    same: int
    left: int
    different: Mapping[str, int]
    samples: Sequence[ImportSample]


class _Placed(NamedTuple):
    """A comment's row, and the id of its node; None: the site has no node for the thread."""

    row: StagedComment
    node_id: str | None


class _Here(NamedTuple):
    """A comment of the site, and the marks on it.

    up, down: all votes. votes, reactions: the marks by the person's id. is_loose: whether an
    import makes the comment the root of a thread: the node has no threads, or lacks its parent.
    """

    comment: Comment
    up: int
    down: int
    votes: Mapping[str, int]
    reactions: Mapping[str, Sequence[str]]
    is_loose: bool


def compare(runtime: Runtime, conversion: FileConversion, items: Iterable[Item]) -> Comparison:
    """Compare a file with the comments of a site; raises the errors of the parser."""
    counts, samples = Counter[str](), list[ImportSample]()
    found: Counter[str] = Counter()
    rows = _rows(runtime, conversion, items, counts)
    while batch := list(itertools.islice(rows, _BATCH)):
        for placed, here in _look(runtime, batch):
            differs = _difference(conversion, placed.row, here)
            counts[differs or "same"] += 1
            if placed.node_id is not None:
                found[placed.node_id] += here is not None
            if differs and len(samples) < MAX_SAMPLES:
                samples.append({"reason": differs, "where": placed.row["id"]})
    for node_id, number in found.items():
        counts["extra"] += max(0, _count(runtime, node_id) - number)
    comments, same, left = (counts.pop(each, 0) for each in ("comments", "same", "left"))
    different = {name: number for name, number in sorted(counts.items()) if number}
    return Comparison(comments, same, left, different, samples)


def _rows(
    runtime: Runtime, conversion: FileConversion, items: Iterable[Item], counts: Counter[str]
) -> Iterator[_Placed]:
    """Yield the rows of the file's comments; in `counts`, count all, and those an import leaves."""
    places: dict[str, str | None] = {}
    left, seen = set[str](), Seen()
    for item in items:
        if isinstance(item, ImportedThread):
            try:
                places[item.key] = _node_of(runtime, conversion, item)
            except UnusablePart:
                left.add(item.key)
        elif isinstance(item, ImportedComment):
            counts["comments"] += 1
            row = None if item.thread in left else _row_of(conversion, item)
            if row is not None and seen.is_new(row["_id"]):
                yield _Placed(row, places.get(item.thread))
            else:
                counts["left"] += 1


def _row_of(conversion: FileConversion, comment: ImportedComment) -> StagedComment | None:
    """Return the row of a comment; None: an import leaves it out."""
    try:
        return conversion.comment(comment)[0]
    except UnusablePart:
        return None


def _node_of(runtime: Runtime, conversion: FileConversion, thread: ImportedThread) -> str | None:
    """Return the id of a thread's node; None: the site has none. Raises UnusablePart."""
    node = applying.find_node(runtime, conversion.source.site, conversion.thread(thread, 0))
    return node["_id"] if node else None


def _look(runtime: Runtime, batch: Sequence[_Placed]) -> Iterator[tuple[_Placed, _Here | None]]:
    """Yield each row with its comment at the site; None: there is none."""
    of_node: dict[str, list[StagedComment]] = {}
    for placed in batch:
        if placed.node_id is not None:
            of_node.setdefault(placed.node_id, []).append(placed.row)
    here: dict[tuple[str, str], _Here] = {}
    for node_id, rows in of_node.items():
        try:
            node = nodes.find(runtime.database, node_id)
        except (UnknownNode, NodeMoved):
            continue
        for found in _find_with_marks(runtime, node, rows):
            here[node_id, found.comment["id"]] = found
    for placed in batch:
        yield placed, here.get((placed.node_id or "", placed.row["id"]))


def _find_with_marks(
    runtime: Runtime, node: Node, rows: Sequence[StagedComment]
) -> Iterator[_Here]:
    """Yield the comments of a node by their rows, with the marks on them."""
    above = {row["id"]: ids_above(row) for row in rows}
    comments = _read(runtime, node, list(above))
    entries = exporting.entries_of(runtime, node, comments)
    parents = {each for comment in comments for each in above[comment["id"]]}
    there = {each["id"] for each in _read(runtime, node, sorted(parents))} if parents else set()
    for comment in comments:
        entry = entries.get(comment["id"], {})
        base = entry.get("base") or {"up": 0, "down": 0}
        votes, reactions = exporting.marks_of(runtime, node, comment, entry)
        given = [vote for _, vote in votes]
        up, down = base["up"] + given.count(1), base["down"] + given.count(-1)
        is_loose = not node["threaded"] or there.isdisjoint(above[comment["id"]])
        yield _Here(comment, up, down, dict(votes), dict(reactions), is_loose)


def _read(runtime: Runtime, node: Node, ids: Sequence[str]) -> Sequence[Comment]:
    return ask(runtime, node, lambda store, now: store.get_many(now, ids))


def _difference(conversion: FileConversion, row: StagedComment, here: _Here | None) -> str | None:
    """Return the name of the first difference between a row and its comment; None: they agree."""
    if here is None:
        return "missing"
    comment = here.comment
    if comment["state"] in GONE or row["state"] in GONE:
        return None if comment["state"] in GONE and row["state"] in GONE else "state"
    mine: Mapping[str, Any] = row
    its: Mapping[str, Any] = comment
    parent, above = comment.get("reply_to") or comment["parent_id"], ids_above(row)
    is_root = parent is None and (not above or here.is_loose)
    differences = {
        "state": (mine["state"], _shadow_of(mine)) != (its["state"], _shadow_of(its)),
        "parent": not is_root and parent not in above,
        "author": _display_of(row["author"]) != _display_of(comment["author"]),
        **{name: _is_other_time(conversion, mine[name], its[name]) for name in _TIMES},
        "text": mine["text"] != its["text"],
    }
    first = next((name for name, is_there in differences.items() if is_there), None)
    return first or _difference_of_marks(conversion, row, here)


def _is_other_time(conversion: FileConversion, mine: datetime | None, its: datetime | None) -> bool:
    """Return whether times differ, except after `at`: an import then takes the time of its run."""
    is_future = mine == conversion.at and its is not None and its < mine
    return mine != its and not is_future


def _shadow_of(comment: Mapping[str, Any]) -> str | None:
    return comment.get("shadow") if comment["state"] in CONCEALED else None


def _display_of(author: Mapping[str, Any] | None) -> list[Any]:
    return [(author or {}).get(name) for name in _OF_AUTHOR]


def _difference_of_marks(conversion: FileConversion, row: StagedComment, here: _Here) -> str | None:
    """Return `votes` or `reactions` if these differ in sum or for a named person, else None."""
    votes, reactions = _by_id(conversion, here.votes), _by_id(conversion, here.reactions)
    given = [each["vote"] for each in row["ballots"]]
    sums = row["up"] + given.count(1), row["down"] + given.count(-1)
    if sums != (here.up, here.down) or any(
        votes.get(each["by"], 0) != each["vote"] for each in row["ballots"]
    ):
        return "votes"
    if conversion.source.format != OWN_FORMAT:
        # No other file has reactions.
        return None
    mine = _keys(each["reactions"] for each in row["ballots"])
    same = all(
        set(reactions.get(each["by"], ())) == set(each["reactions"]) for each in row["ballots"]
    )
    return None if same and mine == _keys(here.reactions.values()) else "reactions"


def _by_id(conversion: FileConversion, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return marks by the person's id; for Plaza's own lines, also by the id from an import."""
    source = conversion.source
    told = {account_id(source, who): what for who, what in given.items()}
    return {**told, **given} if source.format == OWN_FORMAT else dict(given)


def _keys(groups: Iterable[Sequence[str]]) -> Counter[str]:
    return Counter(itertools.chain.from_iterable(groups))


def _count(runtime: Runtime, node_id: str) -> int:
    try:
        node = nodes.find_moved(runtime.database, node_id)
    except UnknownNode:
        return 0
    return sum(ask(runtime, node, lambda store, now: store.count(now)).values())
