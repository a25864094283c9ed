"""Comments as causes of happenings in the activity feed."""

from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.opening import is_public
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.stores import ask
from chalicelib.happenings import Cause
from chalicelib.runtime import Runtime

KIND = "comment"


def name_of(node_id: str, comment_id: str) -> str:
    """Return how a happening names a comment."""
    return f"{node_id}/{comment_id}"


def find(runtime: Runtime, thing: str) -> Cause | None:
    """Return a visible comment, at whatever id its node has now; None if there is none."""
    node_id, _, comment_id = thing.rpartition("/")
    try:
        node = nodes.find(runtime.database, node_id)
    except NodeMoved as moved:
        return find(runtime, name_of(moved.moved_to, comment_id))
    except UnknownNode:
        return None
    if not is_public(node, runtime.now()):
        return None
    comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if comment is None or comment["state"] != "visible" or comment["author"] is None:
        return None
    return _cause(node, comment)


def _cause(node: Node, comment: Comment) -> Cause:
    author = comment["author"]
    assert author is not None  # noqa: S101 - only tombstones have none
    return Cause(
        author_id=author["id"],
        author_name=author["name"],
        at=comment["posted"],
        thing_id=comment["id"],
        page_id=node["_id"],
        page_name=node["title"],
        url=node["url"] or None,
    )
