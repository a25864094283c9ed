"""Turns of a write: it repeats until no move holds its node, within a budget of time."""

import contextlib
import time
from collections.abc import Iterator

from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.shapes import Node
from chalicelib.comments.stores.promotion import move
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime

_FIRST_WAIT_MS = 10
_LONGEST_WAIT_MS = 200


def turns(runtime: Runtime, node: Node) -> Iterator[Node]:
    """Yield the node, then its present state whenever no move holds it, within the budget.

    The turns follow a node to another id. Raises UnknownNode after its deletion, even if a new
    node has its id.
    """
    yield node
    node_id, life = node["_id"], node.get("life")
    for _ in waits(runtime.settings.post_budget_ms):
        settled = nodes.find_settled(runtime.database, node_id, runtime.now())
        if settled is None:
            try:
                nodes.find(runtime.database, node_id)
            except NodeMoved as forward:
                node_id = forward.moved_to
        elif settled.get("life") != life:
            raise UnknownNode
        else:
            yield settled


def make_room(runtime: Runtime, node: Node) -> None:
    """Move a full node to the `documents` store, unless another move of it is running."""
    with contextlib.suppress(Unavailable):
        move(runtime, node["_id"], "documents")


def waits(budget_ms: int) -> Iterator[None]:
    """Yield one turn at once, then turns after growing pauses, within a budget of time."""
    pause_ms, spent_ms = _FIRST_WAIT_MS, 0
    yield
    while spent_ms + pause_ms <= budget_ms:
        time.sleep(pause_ms / 1000)
        spent_ms += pause_ms
        pause_ms = min(2 * pause_ms, _LONGEST_WAIT_MS)
        yield
