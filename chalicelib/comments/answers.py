"""The forms in which the comments API answers."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.models import CommentId, SiteId
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.shapes import Comment, Moderation, Node, State, StoreName

ShownState = Literal["visible", "pending", "hidden", "deleted"]
Next = Annotated[
    str | None, Field(description="The `cursor` of the next page; null on the last one.")
]
_SHOWN: dict[State, ShownState] = {
    "visible": "visible",
    "pending": "pending",
    "hidden": "hidden",
    "deleted": "deleted",
    "removed": "deleted",
}


class CountsAnswer(TypedDict):
    """How many comments of a node are in these states."""

    visible: int
    pending: NotRequired[Annotated[int, Field(description="Told to the site's staff alone.")]]


class NodeAnswer(TypedDict):
    """A node: a page, or anything else, that can be discussed."""

    id: NodeId
    site: SiteId
    title: str
    url: Annotated[str, Field(description="Where readers find what is discussed.")]
    store: Annotated[StoreName, Field(description="How its comments are stored.")]
    moving_to: Annotated[
        StoreName | None, Field(description="The store that a worker is moving it to.")
    ]
    threaded: Annotated[bool, Field(description="Whether comments may reply to each other.")]
    max_depth: Annotated[
        int, Field(description="How deep replies go; a deeper one is put at this depth.")
    ]
    locked: Annotated[bool, Field(description="Whether it takes no more comments.")]
    moderation: Annotated[
        Moderation,
        Field(description="`before`: comments wait for a moderator; `after`: they are shown."),
    ]
    counts: CountsAnswer


class AuthorAnswer(TypedDict):
    """Who wrote a comment."""

    id: str
    name: str


class CommentAnswer(TypedDict):
    """A comment; of a deleted one its place alone is left, if it has replies."""

    id: CommentId
    node_id: NodeId
    parent_id: Annotated[CommentId | None, Field(description="What it replies to.")]
    slug: Annotated[str, Field(description="The path of ids from the first of its thread.")]
    depth: Annotated[int, Field(description="0 for one that replies to none.")]
    posted: datetime
    edited: datetime | None
    author: Annotated[AuthorAnswer | None, Field(description="Null once it is deleted.")]
    text: Annotated[str | None, Field(description="Markdown, as it was written.")]
    html: Annotated[str | None, Field(description="The text as sanitised HTML.")]
    state: ShownState
    replies: Annotated[int, Field(description="Direct replies that the caller may see.")]


class ThreadAnswer(TypedDict):
    """A page of a comment and its descendants, depth-first."""

    comments: list[CommentAnswer]
    next: Next


class CommentsAnswer(ThreadAnswer):
    """A page of a node's comments."""

    count: Annotated[int, Field(description="All visible comments of the node.")]


class PendingAnswer(TypedDict):
    """A comment that waits for a moderator."""

    id: CommentId
    node_id: NodeId
    site: SiteId
    posted: datetime
    edited: Annotated[
        datetime | None,
        Field(description="Send it along with an approval, to approve what was read."),
    ]
    author: AuthorAnswer
    excerpt: Annotated[str, Field(description="The beginning of the text.")]


class QueueAnswer(TypedDict):
    """A page of the comments that wait, longest waiting first."""

    comments: list[PendingAnswer]
    next: Next


def node_answer(node: Node, *, staff: bool) -> NodeAnswer:
    """Return a node as the API shows it; how much waits is told to the site's staff alone."""
    counts: CountsAnswer = {"visible": node["counts"]["visible"]}
    if staff:
        counts["pending"] = node["counts"]["pending"]
    return {
        "id": node["_id"],
        "site": node["site"],
        "title": node["title"],
        "url": node["url"],
        "store": node["store"],
        "moving_to": node["wanted_store"],
        "threaded": node["threaded"],
        "max_depth": node["max_depth"],
        "locked": node["locked"],
        "moderation": node["moderation"],
        "counts": counts,
    }


def comment_answer(node_id: str, comment: Comment) -> CommentAnswer:
    """Return a comment as the API shows it."""
    return {
        "id": comment["id"],
        "node_id": node_id,
        "parent_id": comment["parent_id"],
        "slug": comment["slug"],
        "depth": comment["depth"],
        "posted": comment["posted"],
        "edited": comment["edited"],
        "author": comment["author"],
        "text": comment["text"],
        "html": comment["html"],
        "state": _SHOWN[comment["state"]],
        "replies": comment["reply_count"],
    }
