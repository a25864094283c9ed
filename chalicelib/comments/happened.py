"""Comments as causes of activity, notifications and webhooks.

At sites with notifications or webhooks, each write sets the `todo` of the comment's entry, and
then sends a message. If the message is lost, the sweep of entries sends another.
"""

from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.permissions import is_public
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.store import is_shadow
from chalicelib.comments.stores import ask
from chalicelib.happenings import Cause
from chalicelib.notifications.events import Notify
from chalicelib.runtime import Runtime

KIND = "comment"


def name_of(node_id: str, comment_id: str) -> str:
    """Return a comment's name in a happening: `{node}/{comment}`."""
    return f"{node_id}/{comment_id}"


# Imported comments keep their ids, so comments of two sites may have the same id. Nodes of release
# 0.3.0 have no `life`.
def lasting_name(node: Node, comment_id: str) -> str:
    """Return a comment's name that stays when its node moves: `{life of the node}-{comment}`."""
    life = node.get("life")
    return comment_id if life is None else f"{life}-{comment_id}"


def find(runtime: Runtime, thing: str) -> Cause | None:
    """Return a comment as a cause; None: its author does not see it as visible, or it is gone.

    Follows the node to another id; also returns None while the node is not public. In a cause,
    `is_concealed` marks a shadowed author's comment.
    """
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
    if comment is None or comment["author"] is None:
        return None
    is_concealed = is_shadow(comment)
    told = comment.get("shadow") if is_concealed else comment["state"]
    return _cause(node, comment, is_concealed=is_concealed) if told == "visible" else None


def _cause(node: Node, comment: Comment, *, is_concealed: bool) -> Cause:
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
        is_concealed=is_concealed,
    )


def notify(runtime: Runtime, node: Node, comment_id: str) -> None:
    """Send a message for a new or changed comment, if its site has notifications or webhooks."""
    if settings.owes_events(runtime, node["site"]):
        name, lasting = name_of(node["_id"], comment_id), lasting_name(node, comment_id)
        runtime.queues.send(Notify(comment=name, lasting=lasting))
