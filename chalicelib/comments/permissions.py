"""Rights in a site's discussions, by the hours and lock of a node and by the caller's role.

A node takes comments from `opens_at` until `closes_at`. The node of a page is public while the page
is. Moderators of the site write at any time: to begin a discussion before its readers, and to say a
last word after them. A locked node takes no comment at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

from chalicelib.comments.errors import NodeClosed, NodeLocked
from chalicelib.comments.shapes import Comment, CommentSite, Node, Shadow
from chalicelib.comments.store import GONE, Viewer
from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.sites.permissions import moderates

NodeAct = Literal["post", "moderate"]
CommentAct = Literal["reply", "edit", "delete", "moderate"]
EDIT_WINDOW = timedelta(minutes=15)
# The `public_from` of a node with a page that is not public and has no date of publication.
NEVER = datetime(9999, 1, 1, tzinfo=UTC)


class Own(NamedTuple):
    """A reader's private part of a node: it changes the pages of this reader alone.

    `shadows`: the number of the reader's concealed comments, by the state that the reader sees.
    `replies`: the number of concealed comments that the reader sees as visible, by parent id.
    `votes`: the reader's votes that count for this reader alone, by comment id.
    `blocked`: the ids of the people that the reader blocks.
    """

    shadows: Mapping[Shadow, int] = {}
    replies: Mapping[str, int] = {}
    votes: Mapping[str, int] = {}
    blocked: frozenset[str] = frozenset()


NOTHING_OWN = Own()


def viewer(caller: Principal | None, site: str) -> Viewer:
    """Return the caller as a viewer of the site's discussions."""
    if caller is None:
        return Viewer()
    return Viewer(user_id=caller.id, moderator=moderates(caller, site))


def is_author(caller: Principal, comment: Comment) -> bool:
    """Return whether the caller wrote the comment."""
    return comment["author"] is not None and comment["author"]["id"] == caller.id


class Rights:
    """Rights of a caller at a time: in a node, and on the comments that they see there."""

    def __init__(
        self,
        caller: Principal | None,
        node: Node,
        settings: CommentSite,
        now: datetime,
        own: Own = NOTHING_OWN,
    ) -> None:
        self.caller = caller
        self.settings = settings
        self.viewer = replace(
            viewer(caller, node["site"]),
            shadowed=bool(own.shadows),
            replies=own.replies,
        )
        self.own_votes = own.votes
        # The number of the caller's concealed comments that the caller sees as visible.
        self.unseen = own.shadows.get("visible", 0)
        sees_shadows = bool(own.shadows) or self.viewer.moderator
        self._shadows = node.get("shadows", 0) if sees_shadows else 0
        self.blocked = own.blocked
        self._moderates = self.viewer.moderator
        self._site = node["site"]
        # Whether readers may write now; this changes with time, without a write.
        self.is_open = is_open(node, now)
        self._may_write = not node["locked"] and (self.is_open or self._moderates)
        self._takes_replies = node["threaded"] and self._may_write
        self.now = now

    def view_key(self) -> list[str | bool | int | list[str]] | None:
        """Return all facts of the caller that change their view of a page; None for anonymous."""
        if self.caller is None:
            return None
        staff = moderates(self.caller, self._site)
        who: list[str | bool | int | list[str]] = [self.caller.id, self.caller.name]
        return [*who, self._moderates, staff, self._shadows, sorted(self.blocked)]

    def without_blocked_authors(self, comments: Sequence[Comment]) -> list[Comment]:
        """Return the comments without those of authors whom the caller has blocked."""
        return [each for each in comments if not self.blocks(each)]

    def blocks(self, comment: Comment) -> bool:
        """Return whether the caller has blocked the author of a comment."""
        author = comment["author"]
        return author is not None and author["id"] in self.blocked

    def in_node(self) -> list[NodeAct]:
        """Return the caller's permitted acts in the node."""
        if self.caller is None:
            return []
        can: list[NodeAct] = ["post"] if self._may_write else []
        return [*can, "moderate"] if self._moderates else can

    def on(self, comment: Comment) -> list[CommentAct]:
        """Return the caller's permitted acts on a comment."""
        # Placeholders have no author.
        if self.caller is None or comment["author"] is None or comment["state"] in GONE:
            return []
        can: list[CommentAct] = ["reply"] if self._takes_replies else []
        if self._moderates:
            return [*can, "edit", "delete", "moderate"]
        if not is_author(self.caller, comment):
            return can
        return [*can, "edit", "delete"] if self.editable_until(comment) else [*can, "delete"]

    def editable_until(self, comment: Comment) -> datetime | None:
        """Return the end of the caller's time to edit a comment of their own.

        None: the time is over, another person wrote the comment, or the caller is a moderator and
        may edit it at any time.
        """
        if self.caller is None or self._moderates or not is_author(self.caller, comment):
            return None
        end = comment["posted"] + EDIT_WINDOW
        return None if self.now > end else end


def is_public(node: Mapping[str, Any], now: datetime) -> bool:
    """Return whether the node's page is public at a time; a node without a page always is."""
    begin, end = node.get("public_from"), node.get("public_until")
    return (begin is None or begin <= now) and (end is None or end > now)


def is_open(node: Node, now: datetime) -> bool:
    """Return whether readers may comment in a node at a time."""
    return is_public(node, now) and not node["locked"] and _closed_error(node, now) is None


def check_open(node: Node, now: datetime, *, moderates: bool) -> None:
    """Raise NodeLocked for a locked node, and NodeClosed outside its hours unless `moderates`."""
    if node["locked"]:
        raise NodeLocked
    closed = _closed_error(node, now)
    if closed is not None and not moderates:
        raise closed


def writable_filter(now: datetime, moderated: frozenset[str] | None) -> Document:
    """Return the filter of the nodes that a caller may write in now.

    `moderated`: the sites that the caller moderates; None: every site; empty: none.
    """
    # A missing bound and null both mean no bound.
    begins, ends = {"$not": {"$gt": now}}, {"$not": {"$lte": now}}
    times = {"opens_at": begins, "closes_at": ends, "public_from": begins, "public_until": ends}
    if moderated is None:
        return {"locked": False}
    if not moderated:
        return {"locked": False, **times}
    return {"locked": False, "$or": [times, {"site": {"$in": sorted(moderated)}}]}


def _closed_error(node: Node, now: datetime) -> NodeClosed | None:
    """Return the error before `opens_at`, and from `closes_at` on; None between these times."""
    opens_at, closes_at = node.get("opens_at"), node.get("closes_at")
    if closes_at is not None and closes_at <= now:
        return NodeClosed({"closed_at": closes_at})
    if opens_at is not None and opens_at > now:
        return NodeClosed({"opens_at": opens_at})
    return None
