"""Repairing the counts of nodes and rendering comments again."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from pymongo import ASCENDING

from chalicelib.comments import nodes
from chalicelib.comments.discussion.editing import change_comment
from chalicelib.comments.errors import CommentTooLarge, NodeMoved, UnknownNode
from chalicelib.comments.moderation import queue
from chalicelib.comments.rendering import RENDERER, render
from chalicelib.comments.store import GONE, Comment, Moved
from chalicelib.comments.stores import store_of
from chalicelib.comments.stores.embedded import note_authors
from chalicelib.database import Document
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# A write that began this long ago is over: no function runs longer.
_QUIET = timedelta(minutes=15)


_NODES_AT_ONCE = 200


def repair_counts(runtime: Runtime) -> int:
    """Compare the counters of quiet nodes with a recount; return how many had to be mended.

    A node is compared once after it was last written to, when no write can be in flight.
    """
    quiet = {"written": {"$lte": runtime.now() - _QUIET}, "moving": None}
    found = nodes.collection(runtime.database).find(quiet, nodes.WITHOUT_COMMENTS)
    mended = 0
    for node in found.sort("written", ASCENDING).limit(_NODES_AT_ONCE):
        # One that moves meanwhile keeps its mark, and is compared the next time.
        with contextlib.suppress(Moved):
            mended += _repair(runtime, node)
    return mended


def render_again(runtime: Runtime, after: str = "", most_nodes: int = 1_000) -> Document:
    """Render the comments that an older renderer made, node by node in the order of their ids.

    Returns `{rendered, too_large, next}`: how many comments, how many are left as they were,
    since their HTML would pass its limit, and the node to go on after, or null.
    """
    found = nodes.collection(runtime.database).find({"_id": {"$gt": after}}, {"_id": 1})
    ids = [node["_id"] for node in found.sort("_id", ASCENDING).limit(most_nodes)]
    done: Counter[str] = Counter()
    for node_id in ids:
        # One that is deleted has nothing to render, and one that moves is met at its new id.
        with contextlib.suppress(UnknownNode, NodeMoved):
            done += _render_node(runtime, node_id)
    following = ids[-1] if len(ids) == most_nodes else None
    return {"rendered": done["rendered"], "too_large": done["too_large"], "next": following}


def _repair(runtime: Runtime, node: Document) -> bool:
    counted = store_of(runtime, node).count(node)
    counts = {"visible": counted.get("visible", 0), "pending": counted.get("pending", 0)}
    mended: bool = counts != node["counts"]
    queued = runtime.database[queue.PENDING.name].count_documents(
        {"site": node["site"], "node_id": node["_id"]}
    )
    if queued != counts["pending"]:
        queue.queue_again(runtime, node)
        mended = True
    if store_of(runtime, node).repair_replies(node):
        mended = True
    if node["store"] == "embedded":
        # The last release does not note them, and may be at work still.
        note_authors(runtime.database, {"_id": node["_id"]})
    # Whoever writes meanwhile leaves another mark, and the node is compared again.
    nodes.collection(runtime.database).update_one(
        {"_id": node["_id"], "generation": node["generation"], "written": node["written"]},
        {"$set": {"counts": counts, "written": None, "counts_version": nodes.COUNTS_VERSION}},
    )
    if mended:
        fields = {"node": node["_id"], "had": node["counts"], "has": counts, "queued": queued}
        log.warning("counts mended", extra={"fields": fields})
    return mended


def _render_node(runtime: Runtime, node_id: str) -> Counter[str]:
    node = nodes.find(runtime.database, node_id)
    images = node["site"] in runtime.settings.image_sites
    done: Counter[str] = Counter()
    for comment in _comments(runtime, node):
        if comment["renderer"] == RENDERER or comment["state"] in GONE or comment["text"] is None:
            continue
        try:
            html = render(comment["text"], images=images, is_new=False)
        except CommentTooLarge:
            fields = {"node": node_id, "comment": comment["id"]}
            log.warning("comment not rendered again", extra={"fields": fields})
            done["too_large"] += 1
            continue
        # An edit in between bears the new renderer already.
        where = {"renderer": comment["renderer"], "text": comment["text"]}
        changed = change_comment(
            runtime, node, comment["id"], {"html": html, "renderer": RENDERER}, where
        )
        done["rendered"] += changed is not None
    return done


def _comments(runtime: Runtime, node: Document) -> Iterator[Comment]:
    for batch in store_of(runtime, node).export(node):
        yield from batch
