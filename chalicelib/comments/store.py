"""The contract that all stores of comments fulfil, with the types of its methods.

A flat discussion sorts by number, a threaded one depth-first by path. The path is the `full_slug`
of MongoDB Applied Design Patterns, "Storing Comments". Its segments have a time, a number and an
id, all of fixed width, so that the string order of paths is the order of the discussion.
"""

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
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
# The states, beside `pending`, that conceal a comment from readers; its author may see another
# state (`shadow`).
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
_TIME_DIGITS = 17
_SEQ_DIGITS = 10
# The character after "/": all descendants of a path sort before the path with this character.
_AFTER_SLASH = "0"


@dataclass(frozen=True)
class Viewer:
    """The reader of a node: moderators see all but removed comments, authors their pending ones.

    An author also sees their shadows: comments that are hidden or spam without their knowledge.
    Listings look for shadows only for a `shadowed` viewer. `replies`: the number of the shadows
    that the viewer sees as visible, by the id of the parent.
    """

    user_id: str | None = None
    moderator: bool = False
    shadowed: bool = False
    replies: Mapping[str, int] = field(default_factory=dict)

    def sees(self, comment: Comment) -> bool:
        """Return whether the viewer may see this comment."""
        match comment["state"]:
            case "visible" | "deleted":
                return True
            case "pending":
                return self.moderator or self._wrote(comment)
            case "hidden" | "spam":
                return self.moderator or (is_shadow(comment) and self._wrote(comment))
            case "removed":
                return False

    def lists(self, comment: Comment) -> bool:
        """Return whether listings have this comment: the viewer may see it, and it is not gone."""
        return comment["state"] not in GONE and self.sees(comment)

    def _wrote(self, comment: Comment) -> bool:
        author = comment["author"]
        return author is not None and author["id"] == self.user_id

    def view(self, comment: Comment) -> Comment:
        """Return a comment with the state and the number of replies that the viewer sees.

        All responses of the API show this view.
        """
        if self.moderator:
            return comment
        state = state_for_author(comment)
        replies = comment["reply_count"] - comment.get("invisible_replies", 0)
        replies += self.replies.get(comment["id"], 0)
        if (state, replies) == (comment["state"], comment["reply_count"]):
            return comment
        return {**comment, "state": state, "reply_count": replies}

    @property
    def expression(self) -> Document:
        """Return `lists` as an aggregation expression over the variable `$$comment`."""
        shown: list[str] = ["visible", *(["pending", *CONCEALED] if self.moderator else [])]
        seen: Document = {"$in": ["$$comment.state", shown]}
        if self.moderator or self.user_id is None:
            return seen
        own = {"$eq": ["$$comment.author.id", {"$literal": self.user_id}]}
        waits: Document = {"$eq": ["$$comment.state", "pending"]}
        if self.shadowed:
            hidden: Document = {"$in": ["$$comment.state", list(CONCEALED)]}
            waits = {"$or": [waits, {"$and": [hidden, {"$gt": ["$$comment.shadow", None]}]}]}
        return {"$or": [seen, {"$and": [waits, own]}]}


def state_for_author(comment: Comment) -> State:
    """Return the state of a comment as its author sees it."""
    return (comment.get("shadow") if is_shadow(comment) else None) or comment["state"]


def is_shadow(comment: Comment) -> bool:
    """Return whether a comment is hidden or spam without its author's knowledge."""
    return comment["state"] in CONCEALED and comment.get("shadow") is not None


class Root(NamedTuple):
    """The root of a thread: its id, and its number, which helps a store to find it."""

    id: str
    seq: int


@dataclass(frozen=True)
class Page:
    """A part of a listing: at most `limit` comments after a position.

    after: a position by `chalicelib.comments.store.position`; None: the beginning.
    backwards: the comments before the position, the nearest first.
    """

    order: Order
    limit: int
    after: tuple[Any, ...] | None
    viewer: Viewer
    backwards: bool = False

    def of_flat(self) -> "Page":
        """Return a backwards page of a flat discussion as a forwards page of the other order."""
        if not self.backwards:
            return self
        other: Order = "newest" if self.order == "oldest" else "oldest"
        return replace(self, order=other, backwards=False)


class Added(enum.Enum):
    """The result of a store's attempt to add a comment."""

    INSERTED = "stored under the node's generation; the caller has yet to count it"
    COUNTED = "stored and counted in one write"
    DUPLICATE = "this very comment (id and seq) was there already"
    COLLISION = "the id is taken by another comment"


class Moved(Exception):
    """The node has changed since the caller read it: read it again and repeat."""


class Full(Exception):
    """The store has no room for the node's comments."""


@dataclass(frozen=True)
class Changed:
    """A comment before and after a change; `counted`: the same write changed the node's counts."""

    before: Comment
    after: Comment
    counted: bool = False


class Store(Protocol):
    """A way to store the comments of a node.

    Every method takes the node as the caller read it, and sees its generation alone.
    `embedded` raises Moved if the node has changed since, and Full if it has no room.
    """

    def add(self, node: Node, comment: Comment) -> Added:
        """Store a comment, counting it among its parent's replies."""
        ...

    def page(self, node: Node, page: Page) -> list[Comment]:
        """Return a page of living comments: by `seq`, or depth-first if the node is threaded."""
        ...

    def get(self, node: NodeLayout, comment_id: str) -> Comment | None:
        """Return a comment in any state."""
        ...

    def get_many(self, node: NodeLayout, comment_ids: Sequence[str]) -> list[Comment]:
        """Return the comments with these ids, in any state and any order."""
        ...

    def thread(self, node: Node, path: str, page: Page) -> list[Comment]:
        """Return the comment of a path and its descendants, depth-first and oldest first."""
        ...

    def gather(self, node: Node, roots: Sequence[Root], viewer: Viewer) -> list[Comment]:
        """Return the threads of roots in the roots' order, each depth-first and oldest first."""
        ...

    def change(
        self, node: NodeLayout, comment_id: str, fields: CommentFields, where: CommentFields
    ) -> Changed | None:
        """Set fields of a comment that has the values of `where`.

        Returns None for an unknown or deleted comment, and if a value differs from `where`. For a
        comment without replies, the state `deleted` becomes `removed`.
        """
        ...

    def count(self, node: NodeLayout) -> Mapping[State, int]:
        """Count the comments of each state, one by one."""
        ...

    def repair_replies(self, node: NodeLayout) -> int:
        """Correct the counts of replies by a recount; return the number of wrong comments.

        A count that changes meanwhile stays.
        """
        ...

    def export(self, node: NodeLayout, after: int = 0) -> Iterator[list[Comment]]:
        """Yield every comment with a `seq` above `after`, by `seq`, in batches."""
        ...

    def load(self, node: NodeLayout, batches: Iterable[list[Comment]]) -> None:
        """Store exported comments under the node's generation, which no request reads yet.

        It counts the replies again, since the export may have caught a post half done.
        """
        ...

    def drop(self, node: NodeGeneration, most: int) -> bool:
        """Remove about `most` comments of a generation that is no longer served.

        Returns whether more may remain. The node itself may not exist any more.
        """
        ...


def order_threads(comments: Iterable[Comment], roots: Sequence[Root]) -> list[Comment]:
    """Return the comments of the roots' threads, in the order of `Store.gather`."""
    rank = {root.id: place for place, root in enumerate(roots)}
    found = [
        (place, comment["full_slug"], comment)
        for comment in comments
        if (place := rank.get(comment["slug"].partition("/")[0])) is not None
    ]
    return [comment for *_, comment in sorted(found, key=lambda each: each[:2])]


def counts_change(before: State | None, after: State) -> dict[str, int]:
    """Return the `$inc` of a node's counts for a comment's change of state."""
    change: dict[str, int] = {}
    if before == after:
        return change
    if before in ("visible", "pending"):
        change[f"counts.{before}"] = -1
    if after in ("visible", "pending"):
        change[f"counts.{after}"] = 1
    return change


def invisible_change(before: State | None, after: State) -> int:
    """Return the change of a parent's `invisible_replies` by a reply's change of state."""
    was_invisible = before is not None and before != "visible"
    return (after != "visible") - was_invisible


def after_change(comment: Comment, fields: CommentFields) -> Comment:
    """Return a comment with the fields set, as every store leaves it.

    The deletion of a comment without replies sets the state `removed`. With replies, the comment
    becomes a tombstone, which pages show only above comments that the viewer sees.
    """
    changed: Comment = {**comment, **fields}
    if changed["state"] == "deleted" and not comment["reply_count"]:
        changed["state"] = "removed"
    return changed


def matches(comment: Comment, where: CommentFields) -> bool:
    """Return whether a comment is not deleted and has the values of `where`."""
    return comment["state"] not in GONE and where.items() <= comment.items()


def segment(posted: datetime, seq: int, comment_id: str) -> str:
    """Return a comment's own segment of a path.

    `posted` never runs backwards within a node (`nodes.take_seq`), so segments sort by number.
    """
    milliseconds = posted.microsecond // 1000
    return f"{posted:%Y%m%d%H%M%S}{milliseconds:03}:{seq:0{_SEQ_DIGITS}}:{comment_id}"


def root_seq(full_slug: str) -> int:
    """Return the number of a path's root comment."""
    return int(full_slug[_TIME_DIGITS + 1 : _TIME_DIGITS + 1 + _SEQ_DIGITS])


def root_id(full_slug: str) -> str:
    """Return the id of a path's root comment."""
    return full_slug.partition("/")[0].rpartition(":")[2]


def thread_range(full_slug: str) -> tuple[str, str]:
    """Return the half-open range of paths of a comment and its descendants."""
    return full_slug, full_slug + _AFTER_SLASH


def position(node: Node, comment: Comment) -> tuple[Any, ...]:
    """Return the position of a comment in the node's listings, as cursors store it."""
    if node["threaded"]:
        return (root_seq(comment["full_slug"]), comment["full_slug"])
    return (comment["seq"],)
