"""Upkeep of search rows: index or clear sites that switch search on or off, and repair rows."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice

from pymongo import ASCENDING, DeleteOne, UpdateOne
from pymongo.errors import BulkWriteError

from chalicelib import deadlines
from chalicelib.comments import nodes
from chalicelib.comments.entries.comparing import Difference
from chalicelib.comments.entries.rows import all_of, key_of
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.sites.search_changes import SEARCH_CHANGES, SearchChange
from chalicelib.comments.store import Moved
from chalicelib.comments.stores import ask, store_of
from chalicelib.comments.terms.rows import TERMS, CommentTerms, insertion_of, row_of
from chalicelib.comments.terms.writing import is_searched
from chalicelib.database import Document, delete_some, only_duplicates, prefix_range
from chalicelib.errors import Unavailable
from chalicelib.jobs.sweeping import Sweep
from chalicelib.observability.logs import log
from chalicelib.runtime import LONGEST_RUN, Runtime
from chalicelib.sites.ids import DEFAULT_SITE

# A step that has not ended after this time has crashed.
_LEASE = LONGEST_RUN + timedelta(minutes=1)
_MOST_SITES = 100
_SWEEP = Sweep(SEARCH_CHANGES, "due")
_NODES_AT_ONCE = 1_000
_ROWS_AT_ONCE = 500


def repair(runtime: Runtime, node: Node) -> Difference:
    """Make the rows of a node agree with its comments; return the difference before the repair."""
    return _compare(runtime, node, is_repairing=True)


def verify(runtime: Runtime, node: Node) -> Difference:
    """Return the difference between a node's rows and its comments, without a change."""
    return _compare(runtime, node, is_repairing=False)


def add_missing(runtime: Runtime, node: Node, comments: Sequence[Comment]) -> None:
    """Insert missing rows of these comments of a node, if its site offers search.

    Raises Moved.
    """
    if not is_searched(runtime, node["site"]):
        return
    _write(runtime, node, [_insertion(row) for row in _rows_of(node, comments)])


def compare_nodes(
    runtime: Runtime, after: str = "", most_nodes: int = 1_000, *, is_repairing: bool = True
) -> Document:
    """Compare, and by default repair, the rows of nodes, in the order of the nodes' ids.

    Returns the numbers of `missing`, `wrong` and `extra` rows, and `next`, the node to continue
    after, or null.
    """
    found = _nodes_after(runtime, after, most_nodes)
    compare = partial(_compare, runtime, is_repairing=is_repairing)
    total = Difference()
    for node in found:
        total = total.plus(_ask(runtime, node, compare, is_repairing=is_repairing))
    following = found[-1]["_id"] if len(found) == most_nodes else None
    return {**total._asdict(), "next": following}


def index_due(runtime: Runtime) -> int:
    """Do a step for each site that switched search on or off; return the number of changed rows.

    A lease reserves each step for one worker. The next run does the next step.
    """
    return sum(
        _step(runtime, change)
        for change in _SWEEP.find(runtime, _MOST_SITES)
        if _SWEEP.take(runtime, change, _LEASE)
    )


def _step(runtime: Runtime, change: SearchChange) -> int:
    """Do a bounded part of a site's work; return the number of changed rows."""
    # From the database, not from memory: the step makes the rows agree with the last change.
    stored = settings.SITES.of(runtime.database).find_one({"_id": change["_id"]}, {"search": 1})
    if stored is None or not stored.get("search"):
        return _forget(runtime, change)
    return _index(runtime, change)


def _forget(runtime: Runtime, change: SearchChange) -> int:
    """Remove rows of a site that switched search off; return their number."""
    rows, most = TERMS.of(runtime.database), runtime.bounds.comments.removal_step_comments
    of_site: Document = {"site": change["_id"]}
    removed = 0
    for _ in range(runtime.bounds.comments.removal_steps):
        step = delete_some(rows, of_site, most)
        removed += step
        if step < most:
            _end(runtime, change)
            return removed
        # The setting may have changed back by now.
        if not _go_on(runtime, change, {"after": ""}, is_over=False):
            return removed
    _go_on(runtime, change, {"after": ""}, is_over=True)
    return removed


def _index(runtime: Runtime, change: SearchChange) -> int:
    """Index the next comments of a site; return the number of changed rows."""
    step = _Step(runtime, change)
    found = _nodes_after(runtime, change["after"], _NODES_AT_ONCE, change["_id"])
    for node in found:
        if node["site"] == change["_id"]:
            step.index(node)
        if step.is_over:
            return step.changed
        step.after = node["_id"]
    if len(found) < _NODES_AT_ONCE:
        _end(runtime, change)
        log.info("comments indexed", extra={"fields": {"site": change["_id"]}})
    else:
        _go_on(runtime, change, {"after": step.after}, is_over=True)
    return step.changed


class _Step:
    """A step of a site's indexing; it ends at a bound of comments or time; the next run goes on.

    A row without a comment stays until `repair` removes it.
    """

    def __init__(self, runtime: Runtime, change: SearchChange) -> None:
        self._runtime, self._change = runtime, change
        self._room, self._has_time = runtime.bounds.comments.indexed_at_once, deadlines.share(0.5)
        self._node, self._seq = change.get("node", ""), change.get("seq", 0)
        self.after = change["after"]
        self.changed = 0
        self.is_over = False

    def index(self, node: Node) -> None:
        """Index the comments of a node, from the end of an earlier step on."""
        if node["_id"] != self._node:
            self._node, self._seq = node["_id"], 0
        self.changed += sum(_ask(self._runtime, node, self._index, is_repairing=True))

    def _index(self, node: Node) -> Difference:
        total = Difference()
        for batch in _batches(self._runtime, node, self._seq):
            right = _rows_of(node, batch)
            total = total.plus(_compare_batch(self._runtime, node, right, is_repairing=True))
            self._note(batch)
            if self.is_over:
                return total
        # If a move has removed the generation, the last batches were empty: then raise Moved.
        _check_generation(self._runtime, node)
        return total

    def _note(self, done: Sequence[Comment]) -> None:
        self._room -= len(done)
        self._seq = done[-1]["seq"]
        self.is_over = self._room <= 0 or not self._has_time()
        place = {"after": self.after, "node": self._node, "seq": self._seq}
        if not _go_on(self._runtime, self._change, place, is_over=self.is_over):
            self.is_over = True


def _go_on(runtime: Runtime, change: SearchChange, place: Document, *, is_over: bool) -> bool:
    """Store the place of a step; return False if the setting has changed again.

    `is_over`: the site's next step is due at once; otherwise after a lease.
    """
    due = runtime.now() if is_over else runtime.now() + _LEASE
    fields = {**place, "due": due}
    same = {"_id": change["_id"], "version": change["version"]}
    rows = SEARCH_CHANGES.of(runtime.database)
    return rows.update_one(same, {"$set": fields}).matched_count == 1


def _end(runtime: Runtime, change: SearchChange) -> None:
    same = {"_id": change["_id"], "version": change["version"]}
    SEARCH_CHANGES.of(runtime.database).delete_one(same)


def _nodes_after(runtime: Runtime, after: str, most: int, site: str = DEFAULT_SITE) -> list[Node]:
    """Return the next nodes of a site after an id, by id.

    For the default site, return nodes of every site, since its nodes' ids need not name it.
    """
    ids: Document = {"$gt": after}
    if site != DEFAULT_SITE:
        ids |= prefix_range(f"{site}:")
    found = nodes.NODES.of(runtime.database).find({"_id": ids}, nodes.WITHOUT_COMMENTS)
    return list(found.sort("_id", ASCENDING).limit(most))


def _ask(
    runtime: Runtime, node: Node, compare: Callable[[Node], Difference], *, is_repairing: bool
) -> Difference:
    """Compare a node; return an empty difference if it moves, or is vacant or deleted."""
    if "vacant" in node:
        return Difference()
    try:
        return ask(runtime, node, lambda _store, current: compare(current))
    except Unavailable:
        # The node moves again and again: mark it for the repair of counts.
        if is_repairing:
            nodes.touch(runtime, node["_id"])
        return Difference()
    except (UnknownNode, NodeMoved):
        return Difference()


def _compare(runtime: Runtime, node: Node, *, is_repairing: bool) -> Difference:
    """Compare the rows of a node with its comments, batch by batch; raises Moved."""
    # Rows before comments: otherwise the row of a comment posted in between would look extra.
    # Ids and revisions alone, so that all rows of a large node fit into a function's memory.
    of_node = all_of(node, node["site"])
    rows = TERMS.of(runtime.database).find(of_node, {"revision": 1}, batch_size=_ROWS_AT_ONCE)
    left = {row["_id"].rpartition("/")[2]: row["revision"] for row in rows}
    total = Difference()
    for batch in _batches(runtime, node):
        right = _rows_of(node, batch)
        for row in right:
            left.pop(row["_id"].rpartition("/")[2], None)
        total = total.plus(_compare_batch(runtime, node, right, is_repairing=is_repairing))
    extra = iter(left.items())
    while is_repairing and (some := list(islice(extra, _ROWS_AT_ONCE))):
        _write(runtime, node, [_removal(node, name, revision) for name, revision in some])
    return total.plus(Difference(extra=len(left)))


def _compare_batch(
    runtime: Runtime, node: Node, batch: Sequence[CommentTerms], *, is_repairing: bool
) -> Difference:
    """Compare stored rows with the right rows, and repair them if asked; raises Moved."""
    right = {row["_id"]: row for row in batch}
    same = {"site": node["site"], "_id": {"$in": list(right)}}
    found = {row["_id"]: row for row in TERMS.of(runtime.database).find(same)}
    missing = [_insertion(row) for key, row in right.items() if key not in found]
    wrong = [_replacement(row, right[key]) for key, row in found.items() if row != right[key]]
    if is_repairing:
        _write(runtime, node, [*missing, *wrong])
    return Difference(len(missing), len(wrong))


def _batches(runtime: Runtime, node: Node, after: int = 0) -> Iterator[list[Comment]]:
    """Return batches of comments with a `seq` above `after`; none for a site without search."""
    if not is_searched(runtime, node["site"]):
        return iter(())
    return store_of(runtime, node).export(node, after)


def _rows_of(node: Node, comments: Sequence[Comment]) -> list[CommentTerms]:
    return [row for comment in comments if (row := row_of(node, comment)) is not None]


def _write(runtime: Runtime, node: Node, writes: "list[UpdateOne | DeleteOne]") -> None:
    """Write repairs; raises Moved if the node no longer serves the generation."""
    if not writes:
        return
    _check_generation(runtime, node)
    try:
        TERMS.of(runtime.database).bulk_write(writes, ordered=False)
    except BulkWriteError as error:
        # The writer of a missing row may have made it since.
        if not only_duplicates(error):
            raise


def _check_generation(runtime: Runtime, node: Node) -> None:
    if not nodes.is_current(runtime.database, node):
        raise Moved


def _insertion(row: CommentTerms) -> UpdateOne | DeleteOne:
    key, fields = insertion_of(row)
    return UpdateOne(key, {"$setOnInsert": fields}, upsert=True)


def _replacement(found: CommentTerms, row: CommentTerms) -> UpdateOne | DeleteOne:
    _, fields = insertion_of(row)
    return UpdateOne(_as_read(found), {"$set": fields})


def _removal(node: Node, name: str, revision: int) -> UpdateOne | DeleteOne:
    return DeleteOne({**key_of(node, name), "revision": revision})


def _as_read(row: CommentTerms) -> Document:
    """Return a filter that matches a row until a later edit changes the row."""
    return {"_id": row["_id"], "site": row["site"], "revision": row["revision"]}
