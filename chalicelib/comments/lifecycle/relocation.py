"""Moving a node to another id, which may name another site, while people read and post.

A vacant document reserves the new id. The move fills it under a generation of its own, as in a
move to another store (`chalicelib.comments.stores.promotion`). One transaction then makes the new
node and leaves the old id vacant with a forward. A write that the transaction overtook follows the
forward (`chalicelib.comments.stores.turns`): the new node already has a copy of the write, or
stores the write then.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession

from chalicelib.comments import nodes, watches
from chalicelib.comments.entries.carrying import carry
from chalicelib.comments.errors import (
    CommentTooLarge,
    NodeExists,
    NodeMoved,
    StoreTooSmall,
    UnknownNode,
)
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.moderation import queue
from chalicelib.comments.node_ids import site_of_new
from chalicelib.comments.page_urls import fields_of
from chalicelib.comments.rendered import mentions_of, render_text
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import Full, Moved
from chalicelib.comments.stores import promotion, store_of
from chalicelib.comments.terms import writing as terms
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# The fields of a node that may be missing, and move along.
_OPTIONAL: tuple[
    Literal["pinned", "page_edition", "closes_after", "numbering", "imported"], ...
] = (
    "pinned",
    "page_edition",
    "closes_after",
    "numbering",
    "imported",
)


def request(runtime: Runtime, node_id: str, to: str) -> Node:
    """Move a small node to another id at once; a worker moves a large node.

    `to` is an id that a new node may have. Returns the moved node, or the old node with its
    `wanted_id`. Raises UnknownNode, NodeMoved, NodeExists, StoreTooSmall and Unavailable.
    """
    node = nodes.find(runtime.database, node_id)
    _check_free(runtime, to)
    if node["last_seq"] <= runtime.bounds.comments.inline_move_comments:
        return relocate(runtime, node_id, to)
    wanted = nodes.want_id(runtime.database, node_id, to)
    runtime.queues.send(promotion.MoveNode(node_id=node_id))
    return wanted


def relocate_wanted(runtime: Runtime, node_id: str) -> None:
    """Move a node to its `wanted_id`, if it still has one."""
    node = nodes.look(runtime.database, node_id)
    to = node.get("wanted_id") if node else None
    if to is None:
        return
    try:
        relocate(runtime, node_id, to)
    except (NodeExists, StoreTooSmall) as refused:
        nodes.end_want(runtime.database, node_id, {"wanted_id": to})
        fields = {"node": node_id, "to": to, "reason": refused.code}
        log.warning("node cannot move to this id", extra={"fields": fields})


def relocate(runtime: Runtime, node_id: str, to: str) -> Node:
    """Move a node with all its comments to a free id; return the node there.

    Raises UnknownNode, NodeMoved, NodeExists, StoreTooSmall, and InvalidRequest for an id that no
    new node may have. Raises Unavailable while another move runs, or when another move takes over.
    """
    node = promotion.mark_moving(runtime, node_id)
    if node is None:
        nodes.find(runtime.database, node_id)
        raise Unavailable("Another move of this node is running")
    try:
        arriving = _keep_place(runtime, node, to)
        promotion.mark_for_sweep(runtime, node, arriving)
        tally = promotion.MoveTally()
        batches = promotion.renewing(runtime, node, store_of(runtime, node).export(node))
        batches = tally.of(_render_for(runtime, node, arriving, batches))
        store_of(runtime, arriving).load(arriving, batches)
        # Rows until now are of this node: from now on, a new node may take the former id.
        until = runtime.now()
        arrived = _switch(runtime, node, arriving, tally)
    except Moved:
        promotion.abandon(runtime, node)
        raise Unavailable("Another move of this node has taken over") from None
    except Exception as error:
        promotion.abandon(runtime, node)
        if isinstance(error, Full):
            raise StoreTooSmall from None
        raise
    queue.queue_again(runtime, arrived)
    queue.forget(runtime.database, node, until)
    carry(runtime, node, to)
    terms.carry(runtime, node, to)
    watches.carry(runtime, node, to)
    log.info("node moved to another id", extra={"fields": {"node": node_id, "to": to}})
    return arrived


def _check_free(runtime: Runtime, node_id: str) -> None:
    try:
        nodes.find(runtime.database, node_id)
    except (UnknownNode, NodeMoved):
        vacancies.check_empty(runtime, node_id)
        return
    raise NodeExists


def _keep_place(runtime: Runtime, node: Node, to: str) -> Node:
    """Reserve an id for the move to fill; raises InvalidRequest, NodeExists and Unavailable."""
    vacancies.check_empty(runtime, to)
    site, owner = site_of_new(to), promotion.mark_of(node)["owner"]
    arriving: Node = {
        **node,
        "_id": to,
        "site": site,
        "generation": 0,
        "last_generation": 0,
        "wanted_id": None,
        "counts_version": nodes.COUNTS_VERSION,
        **vacancies.empty_fields(runtime),
        "moving": {"owner": owner, "expires_at": vacancies.NEVER, "generation": 0},
    }
    if not vacancies.insert(runtime, arriving):
        raise NodeExists
    return arriving


def _render_for(
    runtime: Runtime, node: Node, arriving: Node, batches: Iterable[list[Comment]]
) -> Iterator[list[Comment]]:
    """Yield the batches, rendered again if just one of the two sites shows images."""
    image_sites = runtime.settings.image_sites
    is_same = (arriving["site"] in image_sites) == (node["site"] in image_sites)
    for batch in batches:
        yield batch if is_same else [_render(runtime, arriving, each) for each in batch]


def _render(runtime: Runtime, arriving: Node, comment: Comment) -> Comment:
    if comment["text"] is None:
        return comment
    site, text = arriving["site"], comment["text"]
    try:
        return {**comment, "html": render_text(runtime, site, text, mentions_of(comment))}
    except CommentTooLarge:
        # With images, the HTML would be too large: the present HTML stays.
        return comment


def _switch(runtime: Runtime, node: Node, arriving: Node, tally: promotion.MoveTally) -> Node:
    """Store the node at the new id and make the old one forward to it, in one transaction."""
    collection = nodes.NODES.of(runtime.database)

    def work(session: ClientSession) -> Node:
        left = collection.find_one_and_update(
            promotion.owner_filter(node),
            vacancies.vacating(runtime, moved_to=arriving["_id"]),
            projection=nodes.WITHOUT_COMMENTS,
            return_document=ReturnDocument.BEFORE,
            session=session,
        )
        if left is None:
            raise Moved
        # `left` may have `shadows` because of shadowed votes alone: the copied comments lack them.
        shadows = left.get("shadows", 0) + tally.raised.get("shadows", 0)
        noted = {"shadows": shadows} if shadows else {}
        # `arriving` is as of the move's beginning: remove the fields that `left` has lost since.
        gone = dict.fromkeys(("vacant", *(each for each in _OPTIONAL if each not in left)), "")
        state: Document = {"moving": None, "counts": tally.counts, "written": runtime.now()}
        # A newer `wanted_id` needs another move; the schedule sends its message.
        if (wanted := left.get("wanted_id")) not in (None, arriving["_id"]):
            state["wanted_id"] = wanted
        arrived = collection.find_one_and_update(
            {**promotion.owner_filter(arriving), "generation": arriving["generation"]},
            {"$set": {**_fields_to_move(left), **state, **noted}, "$unset": gone},
            projection=nodes.WITHOUT_COMMENTS,
            return_document=ReturnDocument.AFTER,
            session=session,
        )
        if arrived is None:
            raise Moved
        return arrived

    return in_transaction(runtime.database, work)


def _fields_to_move(node: Node) -> Document:
    """Return the node's fields that may have changed since the move copied its document."""
    return {
        "title": node["title"],
        **fields_of(node["url"]),
        "threaded": node["threaded"],
        "max_depth": node["max_depth"],
        "locked": node["locked"],
        "moderation": node["moderation"],
        "votes": node.get("votes"),
        "order": node.get("order"),
        "slow_seconds": node.get("slow_seconds"),
        "opens_at": node.get("opens_at"),
        "closes_at": node.get("closes_at"),
        "public_from": node.get("public_from"),
        "public_until": node.get("public_until"),
        "last_seq": node["last_seq"],
        "last_posted": node["last_posted"],
        "wanted_store": node["wanted_store"],
        "version": node.get("version", 0) + 1,
        "entries_version": nodes.ENTRIES_VERSION,
        **{each: node[each] for each in _OPTIONAL if each in node},
    }
