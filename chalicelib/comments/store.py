"""The contract of the stores of comments, and what it is stated in."""

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

from chalicelib.comments.shapes import (
    Comment,
    CommentFields,
    Node,
    NodeGeneration,
    NodeLayout,
    State,
)
from chalicelib.database import Document

Order = Literal["oldest", "newest"]
GONE: tuple[State, ...] = ("deleted", "removed")
# What readers do not see; its author may be shown another state.
CONCEALED: tuple[State, ...] = ("hidden", "spam")
# The fields that a deletion sets.
WIPED: CommentFields = {
    "state": "deleted",
    "author": None,
    "text": None,
    "html": None,
    "edited": None,
    "mentions": [],
}


@dataclass(frozen=True)
class Viewer:
    """The reader of a node: a pending comment is seen by its author and by moderators.

    So is one that is hidden, or spam, without its author being told. Listings look for those only
    of a viewer who is `shadowed` in the node.
    """

    user_id: str | None = None
    moderator: bool = False
    shadowed: bool = False

    def sees(self, comment: Comment) -> bool:
        """Return whether the viewer may know of this comment."""
        match comment["state"]:
            case "visible" | "deleted":
                return True
            case "pending":
                return self.moderator or self._wrote(comment)
            case "hidden" | "spam":
                return self.moderator or (is_shadow(comment) and self._wrote(comment))
            case "removed":
                return False

    def _wrote(self, comment: Comment) -> bool:
        author = comment["author"]
        return author is not None and author["id"] == self.user_id

    def shown(self, comment: Comment) -> Comment:
        """Return a comment with the state and the replies that the viewer may know of."""
        if self.moderator:
            return comment
        if is_shadow(comment):
            comment = {**comment, "state": comment.get("shadow") or comment["state"]}
        invisible = comment.get("invisible_replies")
        if not invisible:
            return comment
        return {**comment, "reply_count": comment["reply_count"] - invisible}

    def expression(self, comment: str) -> Document:
        """Return `sees` as an aggregation expression over a variable, as "$$comment"."""
        shown: list[str] = [
            "visible",
            "deleted",
            *(["pending", *CONCEALED] if self.moderator else []),
        ]
        seen: Document = {"$in": [f"{comment}.state", shown]}
        if self.moderator or self.user_id is None:
            return seen
        own = {"$eq": [f"{comment}.author.id", {"$literal": self.user_id}]}
        waits: Document = {"$eq": [f"{comment}.state", "pending"]}
        if self.shadowed:
            hidden: Document = {"$in": [f"{comment}.state", list(CONCEALED)]}
            waits = {"$or": [waits, {"$and": [hidden, {"$gt": [f"{comment}.shadow", None]}]}]}
        return {"$or": [seen, {"$and": [waits, own]}]}


def is_shadow(comment: Comment) -> bool:
    """Return whether a comment is hidden, or spam, and its author is not told."""
    return comment["state"] in CONCEALED and comment.get("shadow") is not None


class Root(NamedTuple):
    """The root of a thread: its id, and its number, by which a store may find it sooner."""

    id: str
    seq: int


@dataclass(frozen=True)
class Page:
    """A part of a listing: at most `limit` comments that come after the position `after`.

    A position is what `chalicelib.comments.order.position` gives for a comment. If it is read
    `backwards`, these are the comments that come before the position, the nearest first.
    """

    order: Order
    limit: int
    after: tuple[Any, ...] | None
    viewer: Viewer
    backwards: bool = False

    def of_flat(self) -> "Page":
        """Return the same page of a flat discussion, read forwards: in the other order."""
        if not self.backwards:
            return self
        other: Order = "newest" if self.order == "oldest" else "oldest"
        return replace(self, order=other, backwards=False)


class Added(enum.Enum):
    """What became of a comment that a store was asked to add."""

    INSERTED = "stored under the node's generation; the caller has yet to count it"
    COUNTED = "stored and counted in one write"
    DUPLICATE = "this very comment (id and seq) was there already"
    COLLISION = "the id is taken by another comment"


class Moved(Exception):
    """The node no longer is what the caller read: read it again and repeat."""


class Full(Exception):
    """The store cannot hold this much of the node's comments."""


@dataclass(frozen=True)
class Changed:
    """A change that a store made: the comment before and after, and whether it was counted."""

    before: Comment
    after: Comment
    counted: bool = False


class Store(Protocol):
    """A way to store the comments of a node.

    Every method takes the node as it was read, and answers for its generation alone.
    `embedded` raises Moved if the node has changed since, and Full if it has no room.
    """

    def add(self, node: Node, comment: Comment) -> Added:
        """Store a comment, counting it among its parent's replies."""
        ...

    def page(self, node: Node, page: Page) -> list[Comment]:
        """Return a page: by `seq`, or depth-first if the node is threaded."""
        ...

    def get(self, node: NodeLayout, comment_id: str) -> Comment | None:
        """Return a comment whatever its state."""
        ...

    def get_many(self, node: NodeLayout, comment_ids: Sequence[str]) -> list[Comment]:
        """Return the comments with these ids whatever their state, in any order."""
        ...

    def thread(self, node: Node, root: Comment, page: Page) -> list[Comment]:
        """Return a comment and its descendants, depth-first and oldest first."""
        ...

    def gather(self, node: Node, roots: Sequence[Root], viewer: Viewer) -> list[Comment]:
        """Return the threads of roots in the order given, each depth-first and oldest first."""
        ...

    def change(
        self, node: NodeLayout, comment_id: str, fields: CommentFields, where: CommentFields
    ) -> Changed | None:
        """Set fields of a comment that has the values of `where`.

        Returns None if there is none, or if it is deleted. The state `deleted` becomes
        `removed` if nobody has replied.
        """
        ...

    def count(self, node: NodeLayout) -> Mapping[State, int]:
        """Count the comments of each state, one by one."""
        ...

    def repair_replies(self, node: NodeLayout) -> int:
        """Compare the counts of replies with a recount; return how many comments were wrong.

        A count that changes meanwhile is left as it is.
        """
        ...

    def export(self, node: NodeLayout) -> Iterator[list[Comment]]:
        """Give every comment by `seq`, in batches."""
        ...

    def load(self, node: NodeLayout, batches: Iterable[list[Comment]]) -> None:
        """Store exported comments under the node's generation, which nobody reads yet.

        Replies are counted again, since a post may have been half done when it was copied.
        """
        ...

    def drop(self, node: NodeGeneration, most: int) -> bool:
        """Remove about `most` comments of a generation that is no longer served.

        Returns whether any may be left. The node itself may have been deleted.
        """
        ...


def gathered(comments: Iterable[Comment], roots: Sequence[Root]) -> list[Comment]:
    """Return the comments of the roots' threads alone, in the order that `gather` gives."""
    rank = {root.id: place for place, root in enumerate(roots)}
    found = [
        (place, comment["full_slug"], comment)
        for comment in comments
        if (place := rank.get(comment["slug"].partition("/")[0])) is not None
    ]
    return [comment for *_, comment in sorted(found, key=lambda each: each[:2])]


def counts_change(before: State | None, after: State) -> dict[str, int]:
    """Return the `$inc` that keeps a node's counts right over a change of state."""
    change: dict[str, int] = {}
    if before == after:
        return change
    if before in ("visible", "pending"):
        change[f"counts.{before}"] = -1
    if after in ("visible", "pending"):
        change[f"counts.{after}"] = 1
    return change


def invisible_change(before: State | None, after: State) -> int:
    """Return what a reply's change of state adds to its parent's `invisible_replies`."""
    was_invisible = before is not None and before != "visible"
    return (after != "visible") - was_invisible


def after_change(comment: Comment, fields: CommentFields) -> Comment:
    """Return a comment with the fields set, as every store leaves it.

    One deleted without replies is removed. So is one of a shadowed author: the place of what
    nobody saw would be seen.
    """
    changed: Comment = {**comment, **fields}
    leaves_place = comment["reply_count"] and not is_shadow(comment)
    if changed["state"] == "deleted" and not leaves_place:
        changed["state"] = "removed"
    return changed


def matches(comment: Comment, where: CommentFields) -> bool:
    """Return whether a comment may still change and has the values of `where`."""
    return comment["state"] not in GONE and where.items() <= comment.items()
