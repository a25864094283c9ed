"""What tests of deletion do and count."""

from chalicelib.comments import nodes
from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.moderation import queue
from chalicelib.comments.stores import promotion
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import PUBLISHER, Discussion, Layout

LEFT = (nodes.NODES, COMMENTS, PAGES, queue.PENDING, promotion.GENERATIONS)


def delete(discussion: Discussion) -> None:
    discussion_nodes.delete_node(discussion.runtime, discussion.node_id, PUBLISHER)


def left(runtime: Runtime) -> dict[str, int]:
    """Return how many documents each collection of comments still has."""
    counts = {each.name: runtime.database[each.name].count_documents({}) for each in LEFT}
    return {name: number for name, number in counts.items() if number}


def filled(runtime: Runtime, layout: Layout, number: int = 120) -> Discussion:
    """Return a discussion of `number` comments, two of them pending."""
    discussion = Discussion.make(runtime, layout)
    posted = [discussion.post(f"old {index}")["id"] for index in range(number)]
    for comment_id in posted[:2]:
        discussion.set_state(comment_id, "pending")
    return discussion
