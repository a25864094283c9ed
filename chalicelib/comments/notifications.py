"""Comments as causes of notifications: of replies, of mentions, and of watched discussions."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from chalicelib.comments import nodes, watches
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.happened import lasting_name, name_of
from chalicelib.comments.latest import rows
from chalicelib.comments.latest.permalinks import permalink
from chalicelib.comments.log import decisions
from chalicelib.comments.log.decisions import DECIDED
from chalicelib.comments.people.blocking import blocked_by, find_blockers
from chalicelib.comments.permissions import is_public
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.store import is_shadow
from chalicelib.comments.stores import ask
from chalicelib.identity import Principal
from chalicelib.notifications import events
from chalicelib.notifications.events import NotificationEvent, Notify
from chalicelib.notifications.groups import group_of
from chalicelib.notifications.inbox import TEXT_CHARACTERS, ShownThing
from chalicelib.notifications.rows import Kind, NotificationItem
from chalicelib.runtime import Runtime
from chalicelib.terms.plain import plain_text

_PEOPLE_AT_ONCE = 1_000


def run(runtime: Runtime, message: Notify) -> None:
    """Make notifications agree with a comment; raises Unavailable during a move of its node."""
    read_at = runtime.now()
    node_id, _, comment_id = message.comment.rpartition("/")
    try:
        node = nodes.find_moved(runtime.database, node_id)
    except UnknownNode:
        node = None
    comment = None
    if node is not None:
        comment = ask(runtime, node, lambda store, now: store.get(now, comment_id))
    if node is None or comment is None:
        # Deleted with its discussion, or perhaps not stored yet: the sweep looks again.
        events.withdraw(runtime, message.lasting)
        events.withdraw(runtime, _watch_key(message.lasting))
        return
    agree(runtime, node, comment, read_at)


def agree(runtime: Runtime, node: Node, comment: Comment, read_at: datetime) -> None:
    """Make the notifications of a comment agree with it, at a site with notifications.

    `read_at`: a time before the read of the comment.
    """
    if settings.notifies(runtime, node["site"]):
        event = _event(runtime, node, comment)
        events.agree(runtime, event, read_at)
        if event.by and _is_shown(runtime, node, comment):
            _notify_watchers(runtime, node, comment, event, read_at)
        elif not event.is_new:
            events.withdraw(runtime, _watch_key(event.key))
        decisions.notify_author(runtime, node, comment, event.thing, read_at)


def _notify_watchers(
    runtime: Runtime, node: Node, comment: Comment, told: NotificationEvent, read_at: datetime
) -> None:
    """Notify a comment's watchers.

    Without the author, the recipients of `told`, people who block the author, and people whom the
    author blocks.
    """
    group = group_of("comment.watched", node["_id"], comment["posted"])
    event = told._replace(key=_watch_key(told.key), group=group)
    after = ""
    while rows := watches.find_watchers(runtime.database, node, comment, after, _PEOPLE_AT_ONCE):
        after, people = rows[-1]["_id"], sorted({row["user_id"] for row in rows})
        levels = watches.levels(runtime.database, node, watches.thread_of(node, comment), people)
        apart = blocked_by(runtime, node["site"], told.by) | find_blockers(
            runtime, node["site"], told.by, people
        )
        others = {told.by, *told.recipients, *apart}
        recipients: dict[str, Kind] = {
            who: "comment.watched"
            for who in people
            if levels.get(who) == "watching" and who not in others
        }
        found = event._replace(recipients=recipients, among=tuple(people))
        events.agree(runtime, found, read_at)


def _watch_key(lasting: str) -> str:
    """Return the key of a comment's event for watchers."""
    return f"{lasting}/watched"


def _event(runtime: Runtime, node: Node, comment: Comment) -> NotificationEvent:
    author = comment["author"]["id"] if comment["author"] else ""
    recipients: dict[str, Kind] = {}
    if author and _is_shown(runtime, node, comment):
        recipients = {each["id"]: "comment.mention" for each in comment.get("mentions", [])}
        answered = _answered(runtime, node, comment)
        if answered and not _mutes(runtime, node, comment, answered):
            recipients[answered] = "comment.reply"
        recipients = {
            who: kind for who, kind in recipients.items() if _may_meet(runtime, node, author, who)
        }
    thing = name_of(node["_id"], comment["id"])
    # A tombstone has no author, and may have no other trace of a change.
    is_new = bool(author) and not comment["edited"] and not {"act", "reasons"} & comment.keys()
    key = lasting_name(node, comment["id"])
    at = comment["posted"]
    return NotificationEvent(key, node["site"], thing, author, at, recipients, is_new)


def _is_shown(runtime: Runtime, node: Node, comment: Comment) -> bool:
    """Return whether a comment is public."""
    is_open = is_public(node, runtime.now())
    return is_open and comment["state"] == "visible" and not is_shadow(comment)


def _answered(runtime: Runtime, node: Node, comment: Comment) -> str:
    """Return the author of the comment that this one replies to; empty for none."""
    target = comment.get("reply_to") or comment["parent_id"]
    if target is None:
        return ""
    found = ask(runtime, node, lambda store, now: store.get(now, target))
    return found["author"]["id"] if found and found["author"] else ""


def _mutes(runtime: Runtime, node: Node, comment: Comment, who: str) -> bool:
    """Return whether a person mutes a comment's thread or discussion; mentions come anyway."""
    thread = watches.thread_of(node, comment)
    return watches.levels(runtime.database, node, thread, [who]).get(who) == "muted"


def _may_meet(runtime: Runtime, node: Node, author: str, other: str) -> bool:
    """Return whether two people differ and neither blocks the other."""
    site = node["site"]
    return (
        author != other
        and author not in blocked_by(runtime, site, other)
        and other not in blocked_by(runtime, site, author)
    )


def show(
    runtime: Runtime, reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Return the comments of notifications that a reader sees now, by the ids of the items."""
    places = {each["_id"]: tuple(each["thing"].rpartition("/")[::2]) for each in items}
    found = _nodes(runtime, {node_id for node_id, _ in places.values()}, reader)
    wanted = {
        item_id: (found[node_id], comment_id)
        for item_id, (node_id, comment_id) in places.items()
        if node_id in found
    }
    comments = rows.read(runtime, list(wanted.values()))
    kinds = {each["_id"]: each["kind"] for each in items}
    authors = decisions.authors_of_deleted(runtime, comments.values())
    shown: dict[str, ShownThing] = {}
    for item_id, (node, comment_id) in wanted.items():
        comment = comments.get((node["_id"], comment_id))
        if comment is None:
            continue
        is_deleted = authors.get(comment.get("act") or "") == reader.id
        is_told = is_deleted and kinds[item_id] == "comment.rejected"
        if is_told or _is_seen(runtime, reader, node, comment, kinds[item_id]):
            shown[item_id] = _thing(node, comment)
    return shown


def _nodes(runtime: Runtime, ids: set[str], reader: Principal) -> dict[str, Node]:
    """Return the nodes that a reader sees, by the ids that notifications name."""
    found = rows.visible_nodes(runtime, ids, reader)
    for node_id in ids - found.keys():
        try:
            moved = nodes.find_moved(runtime.database, node_id)
        except UnknownNode:
            # The discussion is gone, and the inbox shows nothing of it.
            continue
        if moved["_id"] != node_id and nodes.is_visible(moved, reader, runtime.now()):
            found[node_id] = moved
    return found


def _is_seen(runtime: Runtime, reader: Principal, node: Node, comment: Comment, kind: Kind) -> bool:
    author = comment["author"]
    if kind in DECIDED:
        is_own = author is not None and author["id"] == reader.id
        return is_own and decisions.is_true(comment, kind)
    is_shown = comment["state"] == "visible" and not is_shadow(comment)
    return (
        is_shown
        and author is not None
        and author["id"] not in blocked_by(runtime, node["site"], reader.id)
    )


def _thing(node: Node, comment: Comment) -> ShownThing:
    author = comment["author"]
    return ShownThing(
        by_name=author["name"] if author else "",
        text=plain_text(comment["html"] or "")[:TEXT_CHARACTERS],
        page_id=node["_id"],
        page_title=node["title"],
        page_url=node["url"],
        permalink=permalink(node["url"], comment["id"]),
    )
