"""Discussions made in bulk, where posting each comment would take too long."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime

from chalicelib.comments import nodes
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.shapes import Comment, Node, StoreName
from chalicelib.comments.store import segment
from chalicelib.comments.stores import store_of
from chalicelib.comments.writing.draft import new_comment_id
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE

POSTED = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
_BATCH = 1_000


def made_up(number: int, *, threaded: bool, visible_of_ten: int = 10) -> Iterator[list[Comment]]:
    """Give a discussion of `number` comments, the same each time, in batches.

    Every fourth is a root, the others reply to one of the latest; `visible_of_ten` of ten are
    visible and the others wait for a moderator. Ann wrote one in a hundred.
    """
    rng = random.Random(number)  # noqa: S311 - the same ids every time
    batch: list[Comment] = []
    above: Comment | None = None
    for seq in range(1, number + 1):
        parent = above if threaded and seq % 4 else None
        comment = _comment(seq, parent, new_comment_id(rng))
        if seq % 10 >= visible_of_ten:
            comment["state"] = "pending"
        batch.append(comment)
        if len(batch) == _BATCH:
            yield batch
            batch = []
        above = comment if parent is None or rng.getrandbits(1) else parent
        if above["depth"] == nodes.DEFAULT_MAX_DEPTH:
            above = parent
    if batch:
        yield batch


def _comment(seq: int, parent: Comment | None, comment_id: str) -> Comment:
    here = segment(POSTED, seq, comment_id)
    return Comment(
        id=comment_id,
        seq=seq,
        parent_id=parent["id"] if parent else None,
        slug=f"{parent['slug']}/{comment_id}" if parent else comment_id,
        full_slug=f"{parent['full_slug']}/{here}" if parent else here,
        depth=parent["depth"] + 1 if parent else 0,
        posted=POSTED,
        edited=None,
        author={"id": "ann" if seq % 100 == 1 else "bob", "name": "Somebody"},
        text=f"Comment {seq}",
        html=f"<p>Comment {seq}</p>\n",
        renderer="",
        state="visible",
        reply_count=0,
    )


def seed_node(  # noqa: PLR0913 - each is a property of a node
    runtime: Runtime,
    node_id: str,
    number: int,
    *,
    store: StoreName,
    threaded: bool,
    visible_of_ten: int = 10,
) -> Node:
    """Make a node with a made-up discussion of `number` comments; return it."""
    node = nodes.new_node(node_id, site_of(node_id) or DEFAULT_SITE)
    node |= {"store": store, "threaded": threaded, "last_seq": number, "last_posted": POSTED}
    node["moving"] = {"owner": "bench", "expires_at": POSTED, "generation": 0}
    nodes.insert(runtime.database, node)
    kept = store_of(runtime, node)
    kept.load(node, made_up(number, threaded=threaded, visible_of_ten=visible_of_ten))
    counted = kept.count(node)
    counts = {"visible": counted.get("visible", 0), "pending": counted.get("pending", 0)}
    nodes.NODES.of(runtime.database).update_one(
        {"_id": node_id}, {"$set": {"moving": None, "counts": counts}}
    )
    return nodes.find(runtime.database, node_id)
