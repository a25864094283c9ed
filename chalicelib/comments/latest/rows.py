"""Entries of comments over all discussions and stores, newest first, with the nodes they are in."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import ENTRIES, VISIBLE
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import CONCEALED
from chalicelib.comments.stores.collected import Place, collect
from chalicelib.database import Document
from chalicelib.http.paging import Position
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

# `find` makes up to five queries for one page. A query that excludes unseen nodes examines at most
# its window of entries: the newest entries may all be of non-public pages.
_WINDOWS = (1_000, 1_000, 10_000, 10_000, 10_000)
_ORDER = [("posted", -1), ("_id", 1)]
# The fields of an entry that decide the bytes of its comment in a feed.
_FACTS = ("revision", "author_id", "author_key", "mentioned")
_FIELDS = dict.fromkeys(("node_id", "id", "posted", *_FACTS), 1)


class LatestReader(NamedTuple):
    """The reader of a list; `caller` None: the public. `blocked`: ids of authors to leave out."""

    caller: Principal | None = None
    blocked: Collection[str] = ()


ANYBODY = LatestReader()


class Selection(NamedTuple):
    """The filter of entries at one site; `node`: their only node, which the reader may see."""

    where: Document
    node: Node | None = None


class LatestRow(NamedTuple):
    """An entry with its node."""

    entry: Mapping[str, Any]
    node: Node

    @property
    def place(self) -> Place:
        """The place of its comment."""
        return self.node["_id"], self.entry["id"]

    @property
    def facts(self) -> list[Any]:
        """The values that decide the look of its comment in a feed, for JSON."""
        node = self.node
        return [*self.place, *map(self.entry.get, _FACTS), node["title"], node["url"]]


class FoundRows(NamedTuple):
    """Rows, and the position after which there may be more; None: the last ones."""

    rows: list[LatestRow]
    following: Position | None


def find(
    runtime: Runtime,
    selection: Selection,
    reader: LatestReader,
    limit: int,
    after: Position | None = None,
) -> FoundRows:
    """Return up to `limit` rows of a selection that a reader sees, newest first.

    Fewer rows together with a position mean: `find` ended after five queries, before the end.
    """
    rows: list[LatestRow] = []
    where, node = selection
    known: dict[str, Node | None] = {node["_id"]: node} if node else {}
    for window in _WINDOWS:
        unseen = [node_id for node_id, node in known.items() if node is None]
        branches = _branches(where, reader.caller, after)
        entries, looked = _read_entries(runtime, branches, unseen, limit + 1, window)
        _look_up(runtime, entries, reader.caller, known)
        for number, entry in enumerate(entries[:limit], 1):
            after = entry["posted"], entry["_id"]
            node = known[entry["node_id"]]
            if node is not None and entry["author_id"] not in reader.blocked:
                rows.append(LatestRow(entry, node))
            if len(rows) == limit:
                return FoundRows(rows, after if number < len(entries) or looked else None)
        if len(entries) <= limit:
            if looked is None:
                return FoundRows(rows, None)
            after = looked
    return FoundRows(rows, after)


def comments_of(runtime: Runtime, rows: Sequence[LatestRow]) -> dict[Place, Comment]:
    """Return the stored comments of rows by their places.

    An entry may be ahead of its comment: a comment may be missing, or be in another state.
    """
    return read(runtime, [(row.node, row.entry["id"]) for row in rows])


def read(runtime: Runtime, wanted: Sequence[tuple[Node, str]]) -> dict[Place, Comment]:
    """Return comments by their places, with one query for each store."""
    ids: dict[str, list[str]] = {}
    for node, comment_id in wanted:
        ids.setdefault(node["_id"], []).append(comment_id)
    found = {node["_id"]: node for node, _ in wanted}
    return collect(runtime.database, list(found.values()), ids) if found else {}


def _branches(where: Document, caller: Principal | None, after: Position | None) -> list[Document]:
    return [{**state, **part} for state in _states(where, caller) for part in _ranges(after)]


def _read_entries(
    runtime: Runtime, branches: list[Document], unseen: Sequence[str], most: int, window: int
) -> tuple[list[Any], Position | None]:
    """Return up to `most` entries, newest first, outside the `unseen` nodes, and a position.

    The position is the last entry of a full window, after which more may follow; otherwise None.
    """
    rows: Any = ENTRIES.of(runtime.database)
    if not unseen:
        return list(rows.find({"$or": branches}, _FIELDS).sort(_ORDER).limit(most)), None
    last = {"number": {"$sum": 1}, "posted": {"$last": "$posted"}, "last": {"$last": "$_id"}}
    seen: list[Document] = [{"$match": {"node_id": {"$nin": list(unseen)}}}, {"$limit": most}]
    stages: list[Document] = [
        {"$match": {"$or": branches}},
        {"$sort": dict(_ORDER)},
        # Before the filter of nodes, which could otherwise examine any number of entries.
        {"$limit": window},
        {"$project": _FIELDS},
        {"$facet": {"found": seen, "looked": [{"$group": {"_id": None, **last}}]}},
    ]
    (both,) = rows.aggregate(stages)
    looked = next(iter(both["looked"]), None)
    if looked is None or looked["number"] < window:
        return both["found"], None
    return both["found"], (looked["posted"], looked["last"])


def _states(where: Document, caller: Principal | None) -> Iterator[Document]:
    """Yield the filters of listed states; a person also sees their concealed comments."""
    yield {**where, **VISIBLE}
    if caller is not None and where.get("author_id", caller.id) == caller.id:
        for state in CONCEALED:
            yield {**where, "author_id": caller.id, "state": state, "shadow": "visible"}


def _ranges(after: Position | None) -> list[Document]:
    """Return the ranges after a position, as parts of a filter."""
    if after is None:
        return [{}]
    posted, last_id = after
    return [{"posted": {"$lt": posted}}, {"posted": posted, "_id": {"$gt": last_id}}]


def _look_up(
    runtime: Runtime,
    entries: Sequence[Mapping[str, Any]],
    caller: Principal | None,
    known: dict[str, Node | None],
) -> None:
    """Add the nodes of entries to the known ones; None for a node that the caller does not see."""
    wanted = {entry["node_id"] for entry in entries} - known.keys()
    if not wanted:
        return
    known |= dict.fromkeys(wanted)
    known |= visible_nodes(runtime, wanted, caller)


def visible_nodes(
    runtime: Runtime, ids: Collection[str], caller: Principal | None
) -> dict[str, Node]:
    """Return the nodes of these ids that a caller sees, by their ids."""
    where = {"_id": {"$in": sorted(ids)}, **nodes.OCCUPIED}
    found, now = nodes.NODES.of(runtime.database).find(where, nodes.WITHOUT_COMMENTS), runtime.now()
    return {node["_id"]: node for node in found if nodes.is_visible(node, caller, now)}
