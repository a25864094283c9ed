"""Comments as causes of events for a site's webhooks."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import ENTRIES, key_of, revision_of
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.happened import lasting_name
from chalicelib.comments.latest.permalinks import permalink
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.store import GONE
from chalicelib.comments.stores import ask
from chalicelib.database import Document
from chalicelib.notifications.events import Notify
from chalicelib.runtime import Runtime
from chalicelib.webhooks import events
from chalicelib.webhooks.events import OwedEvent, SeenThing
from chalicelib.webhooks.kinds import CommentEventData, CommentKind
from chalicelib.webhooks.rows import KEPT

# For a comment older than the hooks, an edit within this time becomes the first event. Messages
# rarely lag more.
_FRESH = timedelta(hours=1)


def run(runtime: Runtime, message: Notify) -> None:
    """Send a comment's changes to webhooks; raises Unavailable while its node moves."""
    node_id, _, comment_id = message.comment.rpartition("/")
    try:
        node = nodes.find_moved(runtime.database, node_id)
    except UnknownNode:
        # A deletion of a whole discussion makes no events.
        return
    agree(runtime, node, comment_id)


def agree(runtime: Runtime, node: Node, comment_id: str) -> None:
    """Send webhooks the changes of a comment, at a site with webhooks."""
    if settings.has_hooks(runtime, node["site"]):
        look = partial(_look, runtime, node, comment_id)
        events.tell(runtime, node["site"], lasting_name(node, comment_id), look)


def _look(
    runtime: Runtime, node: Node, comment_id: str, told: Document | None, since: datetime
) -> SeenThing | None:
    """Return a comment's facts, and the events of their changes since the reported facts.

    `told`: the reported facts; None before the first report. `since`: the time of the first hook.
    Returns None without a stored comment.
    """
    comment = ask(runtime, node, lambda store, now: store.get(now, comment_id))
    entry = ENTRIES.of(runtime.database).find_one(key_of(node, comment_id), {"reports": 1})
    if comment is None:
        return None
    # Flags that moderators see: others are no events.
    flags = entry.get("reports", 0) if entry else 0
    facts = {"state": _state(comment), "edited": revision_of(comment), "flags": flags}
    now = runtime.now()
    if told is not None:
        kinds = _kinds(told, facts)
    elif comment["posted"] >= max(since, now - KEPT):
        kinds = _kinds_of_new(facts)
    else:
        kinds = _kinds_of_old(comment, facts, now)
    data = _data(node, comment)
    found = [OwedEvent(kind, _time(comment, kind, now), data) for kind in kinds]
    return SeenThing(facts, found)


def _kinds(told: Document, facts: Document) -> Iterator[CommentKind]:
    """Yield the kinds of the events between a comment's reported facts and its present facts."""
    if facts["state"] == "deleted":
        if told["state"] != "deleted":
            yield "comment.deleted"
        return
    if facts["edited"] != told["edited"]:
        yield "comment.edited"
    if facts["state"] != told["state"]:
        yield "comment.state_changed"
    if facts["flags"] > told["flags"]:
        yield "comment.flagged"


def _kinds_of_new(facts: Document) -> Iterator[CommentKind]:
    """Yield the kinds of the first events of a comment that came after the first hook."""
    if facts["state"] == "deleted":
        yield "comment.deleted"
        return
    yield "comment.created"
    if facts["flags"]:
        yield "comment.flagged"


def _kinds_of_old(comment: Comment, facts: Document, now: datetime) -> Iterator[CommentKind]:
    """Yield the kind of the first event of a comment from before the hooks, if it has changed."""
    if facts["state"] == "deleted":
        yield "comment.deleted"
    elif comment["edited"] and comment["edited"] > now - _FRESH:
        yield "comment.edited"
    elif facts["flags"] and comment["state"] == "visible":
        yield "comment.flagged"
    # A visible comment without an act or reasons has not changed; a sweep looks at it, too.
    elif comment["state"] != "visible" or {"act", "reasons"} & comment.keys():
        yield "comment.state_changed"


def _state(comment: Comment) -> Any:
    return "deleted" if comment["state"] in GONE else comment["state"]


def _time(comment: Comment, kind: CommentKind, now: datetime) -> datetime:
    match kind:
        case "comment.created":
            return comment["posted"]
        case "comment.edited":
            return comment["edited"] or now
    return now


def _data(node: Node, comment: Comment) -> CommentEventData:
    return {
        "id": comment["id"],
        "site": node["site"],
        "node_id": node["_id"],
        "parent_id": comment["parent_id"],
        "state": _state(comment),
        "posted_at": comment["posted"],
        "permalink": permalink(node["url"], comment["id"]),
    }
