"""Repair of the counts of nodes, their entries and terms; the re-rendering of comments."""

import contextlib
from collections import Counter
from collections.abc import Iterator

from pymongo import ASCENDING, ReturnDocument

from chalicelib.comments import nodes
from chalicelib.comments.entries import shadows
from chalicelib.comments.entries.comparing import repair as repair_entries
from chalicelib.comments.entries.rows import ENTRIES, all_of
from chalicelib.comments.errors import CommentTooLarge, NodeMoved, UnknownNode
from chalicelib.comments.moderation import queue
from chalicelib.comments.rendered import RENDERER, mentions_of, render_text
from chalicelib.comments.shapes import Comment, CommentCounts, CommentFields, Node
from chalicelib.comments.store import GONE, Moved
from chalicelib.comments.stores import store_of
from chalicelib.comments.terms import upkeep as terms
from chalicelib.comments.writing.changes import change_comment
from chalicelib.database import Document
from chalicelib.jobs.sweeping import Sweep
from chalicelib.observability.logs import log
from chalicelib.runtime import LONGEST_RUN, Runtime

_NODES_AT_ONCE = 200
# No comparison runs longer. The lease ends in the future, so no write sets the same `written`.
_LEASE = LONGEST_RUN
_QUIET = Sweep(nodes.NODES, "written", LONGEST_RUN, {"moving": None}, nodes.WITHOUT_COMMENTS)


def repair_counts(runtime: Runtime) -> int:
    """Repair the counts, entries and terms of quiet nodes; return the number of wrong nodes.

    Each node is due once after its last write, when no write can be in flight.
    """
    repaired = 0
    for found in _QUIET.find(runtime, _NODES_AT_ONCE):
        node = _take(runtime, found)
        # A node that moves meanwhile stays marked; a later run compares it.
        with contextlib.suppress(Moved):
            repaired += node is not None and _repair(runtime, node)
    return repaired


def _take(runtime: Runtime, node: Node) -> Node | None:
    """Lease a node for its comparison; None: a write or another run was quicker.

    If the comparison crashes, the node is due again after the lease, behind the others.
    """
    return nodes.NODES.of(runtime.database).find_one_and_update(
        {**_QUIET.where, "_id": node["_id"], "written": node["written"]},
        {"$set": {"written": runtime.now() + _LEASE}},
        projection=nodes.WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )


def render_again(runtime: Runtime, after: str = "", most_nodes: int = 1_000) -> Document:
    """Render the comments of older renderers again, node by node in the order of their ids.

    Also render a comment again if its site has begun or ceased to show images.

    Returns `{rendered, too_large, next}`: the number of comments rendered, the number unchanged
    because their HTML would exceed its bound, and the node to continue after, or null.
    """
    found = nodes.NODES.of(runtime.database).find({"_id": {"$gt": after}}, {"_id": 1})
    ids = [node["_id"] for node in found.sort("_id", ASCENDING).limit(most_nodes)]
    done: Counter[str] = Counter()
    for node_id in ids:
        # A deleted node has nothing to render; a moved node may need another run, at its new id.
        with contextlib.suppress(UnknownNode, NodeMoved):
            done += _render_node(runtime, node_id)
    following = ids[-1] if len(ids) == most_nodes else None
    return {"rendered": done["rendered"], "too_large": done["too_large"], "next": following}


def _repair(runtime: Runtime, node: Node) -> bool:
    store = store_of(runtime, node)
    counted = store.count(node)
    counts: CommentCounts = {
        "visible": counted.get("visible", 0),
        "pending": counted.get("pending", 0),
    }
    is_wrong = counts != node["counts"]
    compared = repair_entries(runtime, node)
    queued = queue.PENDING.of(runtime.database).count_documents(
        {"site": node["site"], "node_id": node["_id"]}
    )
    if queued != counts["pending"] - _flagged_count(runtime, node):
        queue.queue_again(runtime, node)
        is_wrong = True
    compared_terms = terms.repair(runtime, node)
    if any((*compared, *compared_terms)):
        is_wrong = True
    if store.repair_replies(node):
        is_wrong = True
    # A post by a shadowed author may have crashed before the node noted it.
    if not node.get("shadows") and shadows.has_any(runtime, node):
        nodes.note_shadow(runtime.database, node)
        is_wrong = True
    # A write meanwhile sets `written` anew, so a later run compares the node again.
    nodes.NODES.of(runtime.database).update_one(
        {"_id": node["_id"], "generation": node["generation"], "written": node["written"]},
        # A writer may have crashed between its write and the raise of the version.
        {
            "$set": {"counts": counts, "written": None},
            "$inc": nodes.RAISED,
        },
    )
    if is_wrong:
        fields = {"node": node["_id"], "had": node["counts"], "has": counts, "queued": queued}
        fields |= {"entries": compared._asdict(), "terms": compared_terms._asdict()}
        log.warning("counts repaired", extra={"fields": fields})
    return is_wrong


def _flagged_count(runtime: Runtime, node: Node) -> int:
    """Count the pending comments that flags hold back: these have no rows in `PENDING`."""
    held = {**all_of(node, node["site"]), "state": "pending", "queue": "flagged"}
    return ENTRIES.of(runtime.database).count_documents(held)


def _render_node(runtime: Runtime, node_id: str) -> Counter[str]:
    node = nodes.find(runtime.database, node_id)
    done: Counter[str] = Counter()
    for comment in _comments(runtime, node):
        if comment["state"] in GONE or comment["text"] is None:
            continue
        shows_images = node["site"] in runtime.settings.image_sites
        if comment["renderer"] == RENDERER and _has_right_images(comment, shows=shows_images):
            continue
        try:
            html = render_text(
                runtime, node["site"], comment["text"], mentions_of(comment), is_new=False
            )
        except CommentTooLarge:
            fields = {"node": node_id, "comment": comment["id"]}
            log.warning("comment not rendered again", extra={"fields": fields})
            done["too_large"] += 1
            continue
        if (html, RENDERER) == (comment["html"], comment["renderer"]):
            continue
        # An edit in between has another text, or the new renderer already.
        where: CommentFields = {"renderer": comment["renderer"], "text": comment["text"]}
        changed = change_comment(
            runtime, node, comment["id"], {"html": html, "renderer": RENDERER}, where
        )
        done["rendered"] += changed is not None
    return done


def _has_right_images(comment: Comment, *, shows: bool) -> bool:
    """Return whether a comment shows images, or links in their place, as its site wants now."""
    has_images = "<img " in (comment["html"] or "")
    return has_images == shows or not (has_images or "![" in (comment["text"] or ""))


def _comments(runtime: Runtime, node: Node) -> Iterator[Comment]:
    for batch in store_of(runtime, node).export(node):
        yield from batch
