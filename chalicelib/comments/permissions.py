"""What a caller may see of a site's discussions, and do there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from chalicelib.comments.opening import is_open
from chalicelib.comments.shapes import Comment, CommentSite, Node, Shadow
from chalicelib.comments.store import GONE, Viewer
from chalicelib.identity import Principal
from chalicelib.sites.permissions import manages, moderates

NodeAct = Literal["post", "moderate"]
CommentAct = Literal["reply", "edit", "delete", "moderate"]
EDIT_WINDOW = timedelta(minutes=15)


class Own(NamedTuple):
    """What a listing has of its reader: shadows, by what they are shown, and whom they block."""

    shadows: Mapping[Shadow, int] = {}
    blocked: frozenset[str] = frozenset()


_NOTHING = Own()


def viewer(caller: Principal | None, site: str) -> Viewer:
    """Return the caller as a viewer of the site's discussions."""
    if caller is None:
        return Viewer()
    return Viewer(user_id=caller.id, moderator=moderates(caller, site))


def is_author(caller: Principal, comment: Comment) -> bool:
    """Return whether the caller wrote the comment."""
    return comment["author"] is not None and comment["author"]["id"] == caller.id


class Rights:
    """What a caller may do at a time in a node, and with the comments there that they see."""

    def __init__(
        self,
        caller: Principal | None,
        node: Node,
        settings: CommentSite,
        now: datetime,
        own: Own = _NOTHING,
    ) -> None:
        self.caller = caller
        self.settings = settings
        self.viewer = replace(viewer(caller, node["site"]), shadowed=bool(own.shadows))
        # The caller's hidden comments that they are shown as visible.
        self.unseen = own.shadows.get("visible", 0)
        is_told = bool(own.shadows) or self.viewer.moderator
        self._shadows = node.get("shadows", 0) if is_told else 0
        self.blocked = own.blocked
        self._moderates = self.viewer.moderator
        self._site = node["site"]
        # Whether readers may write now; this changes with time, without a write.
        self.is_open = is_open(node, now)
        self._may_write = not node["locked"] and (self.is_open or self._moderates)
        self._takes_replies = node["threaded"] and self._may_write
        self.now = now

    def told(self) -> list[str | bool | int | list[str]] | None:
        """Return who the caller is and all that what they are shown depends on."""
        if self.caller is None:
            return None
        staff = manages(self.caller, self._site)
        who: list[str | bool | int | list[str]] = [self.caller.id, self.caller.name]
        return [*who, self._moderates, staff, self._shadows, sorted(self.blocked)]

    def unblocked(self, comments: Sequence[Comment]) -> list[Comment]:
        """Return the comments without those of people whom the caller has blocked."""
        if not self.blocked:
            return list(comments)
        authors = ((each, each["author"]) for each in comments)
        return [each for each, by in authors if by is None or by["id"] not in self.blocked]

    def in_node(self) -> list[NodeAct]:
        """Return what the caller may do in the node."""
        if self.caller is None:
            return []
        can: list[NodeAct] = ["post"] if self._may_write else []
        return [*can, "moderate"] if self._moderates else can

    def on(self, comment: Comment) -> list[CommentAct]:
        """Return what the caller may do with a comment."""
        if self.caller is None or comment["state"] in GONE:
            return []
        can: list[CommentAct] = ["reply"] if self._takes_replies else []
        if self._moderates:
            return [*can, "edit", "delete", "moderate"]
        if not is_author(self.caller, comment):
            return can
        return [*can, "edit", "delete"] if self.editable_until(comment) else [*can, "delete"]

    def editable_until(self, comment: Comment) -> datetime | None:
        """Return the end of the time in which the caller may edit a comment of their own.

        Returns None once it is over, for other callers, and for moderators, who have no end.
        """
        if self.caller is None or self._moderates or not is_author(self.caller, comment):
            return None
        end = comment["posted"] + EDIT_WINDOW
        return None if self.now > end else end
