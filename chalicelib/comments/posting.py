"""Writing to a discussion so that no move of its node loses the write.

A post has three steps: take a number from the node, store the comment under the node's
generation, confirm by counting it where the node still has that generation. A move
(`chalicelib.comments.promotion`) makes the confirmation miss; the post then goes again with
the same id and number, and finding itself there already means that it was copied and counted.
"""

import contextlib
import random
import time
from collections.abc import Iterator

from chalicelib.comments import moderation, nodes
from chalicelib.comments.models import NewComment
from chalicelib.comments.order import segment
from chalicelib.comments.promotion import move
from chalicelib.comments.rendering import RENDERER, render
from chalicelib.comments.rights import viewer
from chalicelib.comments.store import GONE, Added, Comment, Full, Moved, counts_change
from chalicelib.comments.stores import ask, store_of
from chalicelib.database import Document
from chalicelib.errors import NodeLocked, NotThreaded, Unavailable, UnknownComment, UnknownNode
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

# Crockford's base32: no letter that reads like another letter or a digit.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_CHARACTERS = 10
_FIRST_WAIT_MS = 10
_LONGEST_WAIT_MS = 200


def new_comment_id(rng: random.Random) -> str:
    """Return ten random characters: 50 bits, unique within a node."""
    return "".join(rng.choices(_ALPHABET, k=_ID_CHARACTERS))


def post_comment(runtime: Runtime, node_id: str, new: NewComment, author: Principal) -> Comment:
    """Post a comment and return it.

    Raises UnknownNode, NodeLocked, UnknownComment for the parent, NotThreaded,
    CommentTooLarge, and Unavailable when a move of the node outlasts the budget of time.
    """
    node = _take_seq(runtime, node_id)
    parent = _parent(runtime, node, new.parent, author)
    comment = _compose(runtime, node, parent, new.text, author)
    stored_under: set[int] = set()
    for current in turns(runtime, node):
        try:
            added = store_of(runtime, current).add(current, comment)
        except Moved:
            continue
        except Full:
            make_room(runtime, current)
            continue
        if added is Added.COLLISION:
            comment = _compose(runtime, node, parent, new.text, author)
            continue
        generation = current["generation"]
        copied = added is Added.DUPLICATE and generation not in stored_under
        if copied or added is Added.COUNTED:
            return comment
        stored_under.add(generation)
        if nodes.count(runtime.database, current, counts_change(None, comment["state"])):
            return comment
    raise Unavailable("The discussion is being moved")


def turns(runtime: Runtime, node: Document) -> Iterator[Document]:
    """Give the node, then the node as it is whenever no move holds it, within the budget."""
    yield node
    for _ in _waits(runtime.settings.post_budget_ms):
        settled = nodes.find_settled(runtime.database, node["_id"], runtime.now())
        if settled is not None:
            yield settled


def make_room(runtime: Runtime, node: Document) -> None:
    """Promote a node that is full to one document per comment, or leave that to who does."""
    with contextlib.suppress(Unavailable):
        move(runtime, node["_id"], "documents")


def _waits(budget_ms: int) -> Iterator[None]:
    """Give one turn at once and others after growing pauses, within a budget of time."""
    pause_ms, spent_ms = _FIRST_WAIT_MS, 0
    yield
    while spent_ms + pause_ms <= budget_ms:
        time.sleep(pause_ms / 1000)
        spent_ms += pause_ms
        pause_ms = min(2 * pause_ms, _LONGEST_WAIT_MS)
        yield


def _take_seq(runtime: Runtime, node_id: str) -> Document:
    """Number the comment, waiting for a move to end; raises UnknownNode and NodeLocked."""
    for _ in _waits(runtime.settings.post_budget_ms):
        node = nodes.take_seq(runtime.database, node_id, runtime.now())
        if node is not None:
            return node
        _explain(runtime, node_id)
    raise Unavailable("The discussion is being moved")


def _explain(runtime: Runtime, node_id: str) -> None:
    """Remove what keeps a node from taking a comment, where that may be removed."""
    try:
        node = nodes.find(runtime.database, node_id)
    except UnknownNode:
        if not runtime.settings.open_nodes:
            raise
        nodes.insert(runtime.database, nodes.new_node(node_id))
        return
    if node["locked"]:
        raise NodeLocked
    nodes.find_settled(runtime.database, node_id, runtime.now())


def _parent(
    runtime: Runtime, node: Document, parent_id: str | None, author: Principal
) -> Comment | None:
    """Return the comment that is replied to; raises NotThreaded and UnknownComment."""
    if parent_id is None:
        return None
    if not node["threaded"]:
        raise NotThreaded
    parent = ask(runtime, node, lambda store, now: store.get(now, parent_id))
    if parent is None or parent["state"] in GONE or not viewer(author, node["site"]).sees(parent):
        raise UnknownComment
    return parent


def _compose(
    runtime: Runtime, node: Document, parent: Comment | None, text: str, author: Principal
) -> Comment:
    """Return a comment with a new id in its place, queued already if it has to wait."""
    comment_id = new_comment_id(runtime.random)
    posted, seq = node["last_posted"], node["last_seq"]
    # Below the deepest level a reply joins the replies to its parent's parent.
    ids = parent["slug"].split("/")[: node["max_depth"]] if parent else []
    segments = parent["full_slug"].split("/")[: node["max_depth"]] if parent else []
    comment = Comment(
        id=comment_id,
        seq=seq,
        parent_id=ids[-1] if ids else None,
        slug="/".join([*ids, comment_id]),
        full_slug="/".join([*segments, segment(posted, seq, comment_id)]),
        depth=len(ids),
        posted=posted,
        edited=None,
        author={"id": author.id, "name": author.name},
        text=text,
        html=render(text, images=node["site"] in runtime.settings.image_sites),
        renderer=RENDERER,
        state="pending" if node["moderation"] == "before" else "visible",
        reply_count=0,
    )
    if comment["state"] == "pending":
        # Before the comment itself: a crash in between leaves a row too many, never one too few.
        moderation.settle(runtime.database, node, comment)
    return comment
