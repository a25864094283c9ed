"""Apply an imported thread: move its node to a new generation that includes the thread's comments.

Readers see the discussion before or after the move; a crash leaves it as before. The move renumbers
all comments: a concurrent post takes another number (`writing.post`), and older cursors expire.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from pymongo import ReturnDocument

from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.importing.identities import node_at, other_node_id
from chalicelib.comments.importing.ordering import Merge, Present, StagedRows, ThreadOutcome
from chalicelib.comments.importing.placing import CommentPath, FindPlaces, Placing
from chalicelib.comments.importing.rows import StagedThread
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.page_urls import key_of
from chalicelib.comments.shapes import (
    MAX_EMBEDDED_COMMENTS,
    Comment,
    Node,
    StoreName,
)
from chalicelib.comments.sites import settings
from chalicelib.comments.store import Moved
from chalicelib.comments.stores import promotion, store_of
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

_MOVES_WAITED_SECONDS = 60.0
_PAUSE_SECONDS = 0.2
_UNCHECKED = ("public_from", "public_until", "pinned")


class Keeper(Protocol):
    """The part of an import's lease that a move uses."""

    def keep(self) -> None:
        """Extend the lease; raises ImportTakenOver."""
        ...

    def save(self, thread: StagedThread, outcome: ThreadOutcome) -> None:
        """Store the outcome of a thread, before readers see its comments."""
        ...


def find_node(runtime: Runtime, site: str, thread: StagedThread) -> Node | None:
    """Return the site's node of a thread, by the thread's address or else by its wanted ids."""
    if thread["url"]:
        where: Document = {"url_key": key_of(thread["url"]), "site": site, **nodes.OCCUPIED}
        found = nodes.NODES.of(runtime.database).find(where, nodes.WITHOUT_COMMENTS)
        for node in found.sort("_id", 1).limit(1):
            return node
    for wanted in _wanted_ids(thread):
        try:
            node = nodes.find_moved(runtime.database, wanted)
        except UnknownNode:
            continue
        if node["site"] == site and _is_of(node, thread):
            return node
    return None


def _wanted_ids(thread: StagedThread) -> list[str]:
    other = other_node_id(thread["node_id"], thread["url"]) if thread["url"] else None
    return [thread["node_id"], *([other] if other else [])]


def _is_of(node: Node, thread: StagedThread) -> bool:
    if not thread["url"] or not node["url"] or key_of(node["url"]) == key_of(thread["url"]):
        return True
    # A node of imported content has its id from the page's former path. Its present address has no
    # slash at its end, and may have another host.
    is_of_page = node.get("public_from") is not None
    return is_of_page and node["_id"] == node_at(node["site"], thread["url"])


def make_node(runtime: Runtime, site: str, thread: StagedThread) -> Node:
    """Insert and return a node for a thread that has none.

    If another writer was first, returns the node of that writer. Raises Unavailable if nodes of
    other pages have the wanted ids.
    """
    given: dict[str, Any] = {
        name: value for name, value in thread["settings"].items() if name not in _UNCHECKED
    }
    given |= {"title": thread["title"], "url": thread["url"], "locked": thread["locked"]}
    wanted = NodeSettings.model_construct(**given)
    for node_id in _wanted_ids(thread):
        node = nodes.new_node(node_id, site, wanted)
        node["closes_at"] = settings.closing_at(runtime, site, wanted)
        for name in _UNCHECKED:
            if name in thread["settings"]:
                node[name] = thread["settings"][name]  # type: ignore[literal-required]
        if vacancies.insert(runtime, node):
            return node
    found = find_node(runtime, site, thread)
    if found is None:
        raise Unavailable("Other nodes have the ids that this page's discussion may have")
    return found


def has_thread(node: Node | None, thread: StagedThread) -> bool:
    """Return whether this import moved a thread into a node, and has yet to settle it."""
    return node is not None and node.get("imported") == thread["_id"]


def take_over(runtime: Runtime, node: Node, thread: StagedThread) -> Node | None:
    """Take over a node that another import moved but has not settled; return the node.

    The mark of the node then names this thread. None: no import left the node unsettled, or
    another call changed the mark first.
    """
    if "imported" not in node:
        return None
    where = {"_id": node["_id"], "imported": node["imported"]}
    return nodes.NODES.of(runtime.database).find_one_and_update(
        where,
        {"$set": {"imported": thread["_id"]}},
        projection=nodes.WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )


def plan(runtime: Runtime, node: Node | None, thread: StagedThread) -> ThreadOutcome:
    """Return the outcome that a move would have, without a change."""
    outcome, rows = ThreadOutcome(), StagedRows(runtime.database, thread)
    living: Iterable[list[Comment]] = ()
    is_threaded = thread["settings"].get("threaded", True)
    if node is not None:
        living, is_threaded = store_of(runtime, node).export(node), node["threaded"]
    merge = Merge(living, rows, _present(runtime, node), outcome, threaded=is_threaded)
    for _ in merge:
        pass
    return outcome


def has_new(runtime: Runtime, node: Node, thread: StagedThread) -> bool:
    """Return whether a thread has a comment that its node has not."""
    present = _present(runtime, node)
    for batch in StagedRows(runtime.database, thread).batches():
        ids = [row["id"] for row in batch]
        if present(ids) != set(ids):
            return True
    return False


def move(runtime: Runtime, node_id: str, thread: StagedThread, keeper: Keeper) -> Node:
    """Move the comments of a node and a thread to a new generation; return the node.

    Raises Unavailable if another move holds the node for a minute, or takes this move over.
    """
    node = _begin(runtime, node_id)
    store: StoreName = "documents" if node["store"] == "embedded" else node["store"]
    target: Node = {**node, "generation": promotion.mark_of(node)["generation"], "store": store}
    outcome, tally = ThreadOutcome(), promotion.MoveTally()
    try:
        promotion.mark_for_sweep(runtime, node, target)
        rows = StagedRows(runtime.database, thread)
        present, is_threaded = _noting(runtime, node, rows), node["threaded"]
        living = store_of(runtime, node).export(node)
        merge = Merge(living, rows, present, outcome, threaded=is_threaded)
        placing = Placing(runtime, target, _find_places(runtime, target))
        batches = promotion.renewing(runtime, node, _keeping(placing.batches(merge), keeper))
        latest = _Latest(node)
        store_of(runtime, target).load(target, tally.of(latest.of(batches)))
        keeper.save(thread, outcome)
        numbers = {"last_seq": placing.last_seq, "last_posted": latest.posted}
        fields = {"counts": tally.counts, "imported": thread["_id"], **numbers}
        return _switch(runtime, node, target, fields, tally.raised)
    except Moved:
        raise Unavailable("Another move of this node has taken over") from None
    except Exception:
        promotion.abandon(runtime, node)
        raise


def end(runtime: Runtime, node: Node, thread: StagedThread) -> None:
    """Remove the mark of an import from its node: `settling` is done."""
    ours = {"_id": node["_id"], "imported": thread["_id"]}
    nodes.NODES.of(runtime.database).update_one(ours, {"$unset": {"imported": ""}})


class _Latest:
    """The latest time of posting: of a node, and of every batch that `of` has yielded."""

    def __init__(self, node: Node) -> None:
        self.posted = node["last_posted"]

    def of(self, batches: Iterable[list[Comment]]) -> Iterator[list[Comment]]:
        """Yield the batches unchanged, and note their latest time."""
        for batch in batches:
            times = [comment["posted"] for comment in batch]
            self.posted = max(times if self.posted is None else [*times, self.posted])
            yield batch


def _begin(runtime: Runtime, node_id: str) -> Node:
    """Mark a node as moving; wait up to a minute for another move, or raise Unavailable."""
    end = time.monotonic() + _MOVES_WAITED_SECONDS
    while True:
        node = promotion.mark_moving(runtime, node_id)
        if node is not None:
            return node
        try:
            node_id = nodes.find(runtime.database, node_id)["_id"]
        except NodeMoved as moved:
            node_id = moved.moved_to
        if time.monotonic() >= end:
            raise Unavailable("Another move of this node is running")
        time.sleep(_PAUSE_SECONDS)


def _keeping(batches: Iterable[list[Comment]], keeper: Keeper) -> Iterator[list[Comment]]:
    for batch in batches:
        keeper.keep()
        yield batch


def _present(runtime: Runtime, node: Node | None) -> Present:
    def present(ids: Sequence[str]) -> set[str]:
        if node is None or not ids:
            return set()
        return {each["id"] for each in store_of(runtime, node).get_many(node, ids)}

    return present


def _noting(runtime: Runtime, node: Node, rows: StagedRows) -> Present:
    """Return a `Present` that also notes in staged rows that the node had their comments."""
    present = _present(runtime, node)
    if "imported" in node:
        # Another import moved some of these comments, but did not store their votes yet.
        return present

    def note(ids: Sequence[str]) -> set[str]:
        found = present(ids)
        rows.note_living(sorted(found))
        return found

    return note


def _find_places(runtime: Runtime, target: Node) -> FindPlaces:
    def find(ids: Sequence[str]) -> Mapping[str, CommentPath]:
        found = store_of(runtime, target).get_many(target, ids)
        return {each["id"]: CommentPath(each["slug"], each["full_slug"]) for each in found}

    return find


def _switch(
    runtime: Runtime, node: Node, target: Node, fields: Document, raised: Mapping[str, int]
) -> Node:
    """Switch a node to its new generation with new numbers, in one write."""
    served = {"store": target["store"], "generation": target["generation"]}
    is_small = fields["last_seq"] <= MAX_EMBEDDED_COMMENTS
    # A later move returns a small discussion to the `embedded` store.
    returns = {"wanted_store": "embedded"} if node["store"] == "embedded" and is_small else {}
    # After a crash from here on, entries are missing or have old numbers until the comparison of
    # counts repairs them.
    written = {"written": runtime.now(), "moving": None}
    switched = nodes.NODES.of(runtime.database).find_one_and_update(
        promotion.owner_filter(target),
        {
            "$set": {**served, **fields, **written, **returns},
            "$inc": {"numbering": 1, **nodes.RAISED, **raised},
            "$unset": {"metadata": ""},
        },
        projection=nodes.WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )
    if switched is None:
        raise Moved
    log.info(
        "comments imported", extra={"fields": {"node": node["_id"], "comments": fields["counts"]}}
    )
    return switched
