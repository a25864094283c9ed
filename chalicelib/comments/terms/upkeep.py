"""Upkeep of rows of words: it indexes sites that switch search on, and repairs after crashes."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from pymongo import ASCENDING, DeleteOne, UpdateOne
from pymongo.errors import BulkWriteError

from chalicelib.comments import nodes
from chalicelib.comments.entries.comparing import Difference
from chalicelib.comments.entries.rows import all_of
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.sites.search_changes import SEARCH_CHANGES, SearchChange
from chalicelib.comments.store import Moved
from chalicelib.comments.stores import ask, store_of
from chalicelib.comments.terms.rows import TERMS, CommentTerms, insertion_of, row_of
from chalicelib.comments.terms.writing import is_searched
from chalicelib.database import Document, only_duplicates
from chalicelib.errors import Unavailable
from chalicelib.jobs.sweeping import Sweep
from chalicelib.observability.logs import log
from chalicelib.runtime import LONGEST_RUN, Runtime
from chalicelib.sites.ids import DEFAULT_SITE

# A step that has not ended by then has crashed.
_LEASE = LONGEST_RUN + timedelta(minutes=1)
_MOST_SITES = 100
_SWEEP = Sweep(SEARCH_CHANGES, "due")
_NODES_AT_ONCE = 1_000


def repair(runtime: Runtime, node: Node) -> Difference:
    """Make the rows of a node agree with its comments; return the difference before."""
    return _compare(runtime, node, is_repairing=True)


def verify(runtime: Runtime, node: Node) -> Difference:
    """Return the difference between a node's rows and its comments, without a change."""
    return _compare(runtime, node, is_repairing=False)


def add_missing(runtime: Runtime, node: Node, comments: Sequence[Comment]) -> None:
    """Store the rows of these comments of a node that have none, if its site is searched.

    Raises Moved.
    """
    if not is_searched(runtime, node["site"]):
        return
    rows = [row for comment in comments if (row := row_of(node, comment)) is not None]
    _write(runtime, node, [_insertion(row) for row in rows])


def compare_nodes(
    runtime: Runtime, after: str = "", most_nodes: int = 1_000, *, is_repairing: bool = True
) -> Document:
    """Compare the rows of nodes with their comments, in the order of the nodes' ids.

    Returns the numbers of `missing`, `wrong` and `extra` rows, and `next`, the node to continue
    after, or null.
    """
    found = _nodes_after(runtime, after, most_nodes)
    total = Difference()
    for node in found:
        total = total.plus(_ask(runtime, node, is_repairing=is_repairing))
    following = found[-1]["_id"] if len(found) == most_nodes else None
    return {**total._asdict(), "next": following}


def index_due(runtime: Runtime) -> int:
    """Do a step for each site whose setting has changed; return the number of changed rows.

    Each step is of one worker alone, for one lease. The next run does the steps that follow.
    """
    return sum(
        _step(runtime, change)
        for change in _SWEEP.find(runtime, _MOST_SITES)
        if _SWEEP.take(runtime, change, _LEASE)
    )


def _step(runtime: Runtime, change: SearchChange) -> int:
    """Do a bounded part of a site's work; return the number of changed rows."""
    # Not as this container remembers it: the step makes the rows agree with the last change.
    stored = settings.SITES.of(runtime.database).find_one({"_id": change["_id"]}, {"search": 1})
    if stored is None or not stored.get("search"):
        return _forget(runtime, change)
    return _index(runtime, change)


def _forget(runtime: Runtime, change: SearchChange) -> int:
    """Remove rows of a site that is not searched any more."""
    rows, most = TERMS.of(runtime.database), runtime.bounds.comments.removal_step_comments
    of_site: Document = {"site": change["_id"]}
    removed = 0
    for _ in range(runtime.bounds.comments.removal_steps):
        ids = [row["_id"] for row in rows.find(of_site, {"_id": 1}).limit(most)]
        rows.delete_many({**of_site, "_id": {"$in": ids}})
        removed += len(ids)
        if len(ids) < most:
            _end(runtime, change)
            return removed
    _go_on(runtime, change, "", is_over=True)
    return removed


def _index(runtime: Runtime, change: SearchChange) -> int:
    """Index the comments of the next nodes of a site."""
    total, room = Difference(), runtime.bounds.comments.indexed_at_once
    after = change["after"]
    found = _nodes_after(runtime, after, _NODES_AT_ONCE, change["_id"])
    for node in found:
        after = node["_id"]
        if node["site"] != change["_id"]:
            continue
        total = total.plus(_ask(runtime, node, is_repairing=True))
        room -= node["last_seq"]
        if not _go_on(runtime, change, after, is_over=room <= 0) or room <= 0:
            return sum(total)
    if len(found) < _NODES_AT_ONCE:
        _end(runtime, change)
        log.info("comments indexed", extra={"fields": {"site": change["_id"]}})
    else:
        _go_on(runtime, change, after, is_over=True)
    return sum(total)


def _go_on(runtime: Runtime, change: SearchChange, after: str, *, is_over: bool) -> bool:
    """Note the place of a step; return False if the setting has changed again.

    `is_over`: the next run goes on.
    """
    due = runtime.now() if is_over else runtime.now() + _LEASE
    fields = {"after": after, "due": due}
    same = {"_id": change["_id"], "version": change["version"]}
    rows = SEARCH_CHANGES.of(runtime.database)
    return rows.update_one(same, {"$set": fields}).matched_count == 1


def _end(runtime: Runtime, change: SearchChange) -> None:
    same = {"_id": change["_id"], "version": change["version"]}
    SEARCH_CHANGES.of(runtime.database).delete_one(same)


def _nodes_after(runtime: Runtime, after: str, most: int, site: str = DEFAULT_SITE) -> list[Node]:
    """Return the next nodes by their ids; with a site, the ids begin with its name.

    The default site's nodes stand among all others, since their ids need not name it.
    """
    ids: Document = {"$gt": after}
    if site != DEFAULT_SITE:
        # The semicolon follows the colon.
        ids = {"$gt": max(after, f"{site}:"), "$lt": f"{site};"}
    found = nodes.NODES.of(runtime.database).find({"_id": ids}, nodes.WITHOUT_COMMENTS)
    return list(found.sort("_id", ASCENDING).limit(most))


def _ask(runtime: Runtime, node: Node, *, is_repairing: bool) -> Difference:
    """Compare a node as `_compare`; a node that moves is compared once it is quiet."""
    if "vacant" in node:
        return Difference()
    try:
        return ask(
            runtime,
            node,
            lambda _store, current: _compare(runtime, current, is_repairing=is_repairing),
        )
    except Unavailable:
        # The comparison of counts makes the rows of a node that moves again and again.
        if is_repairing:
            nodes.touch(runtime.database, node["_id"], runtime.now())
        return Difference()
    except (UnknownNode, NodeMoved):
        return Difference()


def _compare(runtime: Runtime, node: Node, *, is_repairing: bool) -> Difference:
    """Compare the rows of a node with its comments, batch by batch; raises Moved."""
    rows = TERMS.of(runtime.database)
    # Rows first: a row made after this reading may have its comment in the other.
    stored = {row["_id"]: row for row in rows.find(all_of(node, node["site"]), _WITHOUT_TERMS)}
    missing = wrong = 0
    for batch in _batches(runtime, node):
        right = {row["_id"]: row for row in batch}
        for each in right:
            stored.pop(each, None)
        same = {"site": node["site"], "_id": {"$in": list(right)}}
        found = {row["_id"]: row for row in rows.find(same)}
        writes = [_insertion(row) for key, row in right.items() if key not in found]
        missing += len(writes)
        differing = [right[key] for key, row in found.items() if row != right[key]]
        wrong += len(differing)
        writes += [_replacement(found[row["_id"]], row) for row in differing]
        if is_repairing:
            _write(runtime, node, writes)
    if is_repairing:
        _write(runtime, node, [DeleteOne(_as_read(row)) for row in stored.values()])
    return Difference(missing, wrong, len(stored))


_WITHOUT_TERMS = {"site": 1, "revision": 1}


def _batches(runtime: Runtime, node: Node) -> Iterator[list[CommentTerms]]:
    """Yield the right rows of a node; of a site that is not searched there are none."""
    batches: Iterator[list[Comment]] = iter(())
    if is_searched(runtime, node["site"]):
        batches = store_of(runtime, node).export(node)
    for batch in batches:
        yield [row for comment in batch if (row := row_of(node, comment)) is not None]


def _write(runtime: Runtime, node: Node, writes: "list[UpdateOne | DeleteOne]") -> None:
    """Do the writes of a repair; raises Moved unless their generation is still served."""
    if not writes:
        return
    now = nodes.look(runtime.database, node["_id"])
    if now is None or now["generation"] != node["generation"] or "vacant" in now:
        raise Moved
    try:
        TERMS.of(runtime.database).bulk_write(writes, ordered=False)
    except BulkWriteError as error:
        # The writer of a missing row may have made it since.
        if not only_duplicates(error):
            raise


def _insertion(row: CommentTerms) -> UpdateOne | DeleteOne:
    key, fields = insertion_of(row)
    return UpdateOne(key, {"$setOnInsert": fields}, upsert=True)


def _replacement(found: CommentTerms, row: CommentTerms) -> UpdateOne | DeleteOne:
    _, fields = insertion_of(row)
    return UpdateOne(_as_read(found), {"$set": fields})


def _as_read(row: CommentTerms) -> Document:
    """Return the filter of a row that no later edit has changed."""
    return {"_id": row["_id"], "site": row["site"], "revision": row["revision"]}
