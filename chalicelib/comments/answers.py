"""Answer shapes of the comments API, so that every route shows a comment alike."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.bounds import BOUNDS
from chalicelib.comments.forms import DEEPEST, MAX_COUNTS, MAX_TEXT_CHARACTERS, CommentId
from chalicelib.comments.mark_answers import Marks, MarksAnswer, comment_marks
from chalicelib.comments.mentions import MAX_MENTIONS
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.permissions import CommentAct, NodeAct, Rights
from chalicelib.comments.shapes import (
    MAX_BADGES,
    MAX_PINNED,
    MAX_REACTIONS,
    MOST_WAITING,
    AuthorRole,
    Comment,
    CommentSite,
    ListingOrder,
    Moderation,
    Node,
    PageOrder,
    ShownBadge,
    State,
    StoreName,
    Votes,
)
from chalicelib.comments.sites.offered import (
    OfferedSignIn,
    ReactionOffered,
    WritingAnswer,
    offered_sign_in,
    reaction_answers,
    writing_answer,
)
from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Cursor, Next
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import moderates
from chalicelib.texts import ShownLine, ShownName, ShownUrl, html_of

CommentHtml = Annotated[str, html_of(BOUNDS.comments.html_bytes)]
# The ids of a comment's ancestors and its own, from the root.
CommentSlug = Annotated[str, Field(pattern=r"^[0-9A-Za-z_/-]*$", max_length=33 * (DEEPEST + 1))]
CountsByNode = Annotated[dict[NodeId, int], Field(max_length=MAX_COUNTS)]
ShownState = Literal["visible", "pending", "hidden", "spam", "deleted"]
_SHOWN: dict[State, ShownState] = {
    "visible": "visible",
    "pending": "pending",
    "hidden": "hidden",
    "spam": "spam",
    "deleted": "deleted",
    "removed": "deleted",
}


class CountsAnswer(TypedDict):
    """The numbers of a node's visible and pending comments."""

    visible: int
    pending: NotRequired[Annotated[int, Field(description="Told to the site's staff alone.")]]


class NodeAnswer(WritingAnswer):
    """A node: a page, or anything else, that can be discussed."""

    id: NodeId
    site: SiteId
    title: ShownLine
    url: Annotated[ShownUrl, Field(description="Where readers find what is discussed.")]
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
    votes: Annotated[Votes, Field(description="Whether readers vote on comments, and how.")]
    order: Annotated[ListingOrder, Field(description="How it is listed at first.")]
    counts: CountsAnswer


class AuthorAnswer(TypedDict):
    """A comment's author, with their badges and role at the time of the post."""

    id: Annotated[str, Field(max_length=64)]
    name: ShownName
    badges: NotRequired[Annotated[list[ShownBadge], Field(max_length=MAX_BADGES)]]
    role: NotRequired[AuthorRole]


class MentionAnswer(TypedDict):
    """A person whom a comment mentions, by the name that stands in its text."""

    id: UserId
    name: ShownName


class ReplyToAnswer(TypedDict):
    """The comment that another comment answers."""

    id: CommentId
    author: Annotated[AuthorAnswer | None, Field(description="Null if the caller does not see it.")]


class CommentAnswer(MarksAnswer):
    """A comment, or a placeholder above comments that the caller sees.

    A placeholder has no author, `text` and `html`. Its `state` is the reason: `deleted`, `pending`
    for a comment that waits for a moderator, `hidden` for any other that the caller does not see.
    """

    id: CommentId
    node_id: NodeId
    parent_id: Annotated[CommentId | None, Field(description="What it replies to.")]
    reply_to: Annotated[
        ReplyToAnswer | None,
        Field(
            description="What it answers where that is not its parent: a reply below the greatest "
            "depth is put beside the comment that it answers. Null otherwise."
        ),
    ]
    slug: Annotated[CommentSlug, Field(description="The path of ids from the first of its thread.")]
    depth: Annotated[int, Field(description="0 for one that replies to none.")]
    posted_at: datetime
    edited_at: datetime | None
    author: Annotated[AuthorAnswer | None, Field(description="Null of a placeholder.")]
    text: Annotated[
        Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)] | None,
        Field(description="Markdown, as it was written."),
    ]
    html: Annotated[
        CommentHtml | None,
        Field(
            description="The text as sanitised HTML; who is mentioned is a `span` of the class "
            "`mention`, with their id in `data-person`."
        ),
    ]
    mentions: Annotated[list[MentionAnswer], Field(max_length=MAX_MENTIONS)]
    state: ShownState
    replies: Annotated[int, Field(description="Direct replies that the caller may see.")]
    can: Annotated[
        list[CommentAct], Field(max_length=4, description="What the caller may do with it.")
    ]
    editable_until: Annotated[
        datetime | None,
        Field(description="Until when its author may edit it; null for any other caller."),
    ]


class PreviewAnswer(TypedDict):
    """A text in HTML, as a comment would show it."""

    html: Annotated[CommentHtml, Field(description="The text as sanitised HTML.")]


class DiscussionAnswer(WritingAnswer, OfferedSignIn):
    """A node, as a page of its comments describes it."""

    id: NodeId
    title: ShownLine
    url: ShownUrl
    locked: bool
    open: Annotated[
        bool,
        Field(description="Whether readers may write now: it is not locked, and it is time."),
    ]
    threaded: bool
    max_depth: int
    votes: Annotated[Votes, Field(description="Whether readers vote on comments, and how.")]
    reactions: Annotated[
        list[ReactionOffered],
        Field(max_length=MAX_REACTIONS, description="What readers can react with."),
    ]
    order: Annotated[ListingOrder, Field(description="How it is listed at first.")]
    counts: CountsAnswer


class ViewerAnswer(TypedDict):
    """The caller of a page of comments."""

    id: UserId
    name: ShownName
    can: Annotated[
        list[NodeAct], Field(max_length=2, description="What the caller may do in the node.")
    ]


class ThreadAnswer(TypedDict):
    """A page of a comment and its descendants, depth-first."""

    node: DiscussionAnswer
    viewer: Annotated[ViewerAnswer | None, Field(description="Null for a call without a token.")]
    comments: Annotated[list[CommentAnswer], Field(max_length=MAX_PAGE)]
    next: Next
    version: Annotated[
        str, Field(max_length=64, description="As `GET /changes` tells it of `node:ID`.")
    ]


class CommentsAnswer(ThreadAnswer):
    """A page of a node's comments."""

    previous: Annotated[
        Cursor | None,
        Field(description="The `cursor` of the page before; null if this page is the first."),
    ]
    order: Annotated[PageOrder, Field(description="Send it along with `next`.")]
    waiting: Annotated[
        list[CommentAnswer],
        Field(
            max_length=MOST_WAITING,
            json_schema_extra={"x-plaza-left-out": True},
            description="Of a first page by rank: the caller's own comments that wait for a "
            "moderator, which have no rank.",
        ),
    ]
    pinned: Annotated[
        list[CommentAnswer],
        Field(
            max_length=MAX_PINNED,
            json_schema_extra={"x-plaza-left-out": True},
            description="Of a first page: visible comments that moderators have pinned; they "
            "are in their places of the listing, too.",
        ),
    ]
    ancestors: Annotated[
        list[CommentAnswer],
        Field(
            max_length=DEEPEST,
            json_schema_extra={"x-plaza-left-out": True},
            description="Of a page `around` a comment that begins within a thread: the comments "
            "above its first one, the root first. They are on earlier pages.",
        ),
    ]
    count: Annotated[int, Field(description="All visible comments of the node.")]
    page: Annotated[MarksAnswer, Field(description="What readers say to the page itself.")]


def node_answer(node: Node, settings: CommentSite, *, staff: bool) -> NodeAnswer:
    """Return a node with its settings in force; only the site's staff see the pending count."""
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
        "moderation": settings["moderation"],
        "votes": settings["votes"],
        "order": settings["order"],
        "counts": _counts(node, staff=staff),
        **writing_answer(node, settings),
    }


def discussion_answer(node: Node, rights: Rights) -> DiscussionAnswer:
    """Return a page's node with its settings in force, as the caller of these rights sees it."""
    caller, settings = rights.caller, rights.settings
    staff = caller is not None and moderates(caller, node["site"])
    counts = _counts(node, staff=staff)
    return {
        "id": node["_id"],
        "title": node["title"],
        "url": node["url"],
        "locked": node["locked"],
        "open": rights.is_open,
        "threaded": node["threaded"],
        "max_depth": node["max_depth"],
        "votes": settings["votes"],
        "reactions": reaction_answers(settings),
        "order": settings["order"],
        "counts": {**counts, "visible": counts["visible"] + rights.unseen},
        **writing_answer(node, settings),
        **offered_sign_in(settings),
    }


def viewer_answer(rights: Rights) -> ViewerAnswer | None:
    """Return the caller of a page with their rights in its node; None for an anonymous call."""
    caller = rights.caller
    if caller is None:
        return None
    return {"id": caller.id, "name": caller.name, "can": rights.in_node()}


def comment_answer(
    node_id: str,
    comment: Comment,
    rights: Rights,
    marks: Marks | None,
    answered: Mapping[str, Comment],
) -> CommentAnswer:
    """Return a comment as the API shows it to a caller with these rights.

    `marks`: None where readers neither vote nor react. `answered`: by id, the comments that
    `reply_to` may name.
    """
    comment = rights.viewer.view(comment)
    return {
        "id": comment["id"],
        "node_id": node_id,
        "parent_id": comment["parent_id"],
        "reply_to": _reply_to(comment, answered),
        "slug": comment["slug"],
        "depth": comment["depth"],
        "posted_at": comment["posted"],
        "edited_at": comment["edited"],
        "author": comment["author"],
        "text": comment["text"],
        "html": comment["html"],
        "mentions": [
            MentionAnswer(id=m["id"], name=m["name"]) for m in comment.get("mentions", [])
        ],
        "state": _SHOWN[comment["state"]],
        "replies": comment["reply_count"],
        "can": rights.on(comment),
        "editable_until": rights.editable_until(comment),
        **comment_marks(comment, marks, rights),
    }


def _reply_to(comment: Comment, answered: Mapping[str, Comment]) -> ReplyToAnswer | None:
    if "reply_to" not in comment:
        return None
    found = answered.get(comment["reply_to"])
    return {"id": comment["reply_to"], "author": found["author"] if found else None}


def _counts(node: Node, *, staff: bool) -> CountsAnswer:
    counts: CountsAnswer = {"visible": node["counts"]["visible"]}
    if staff:
        counts["pending"] = node["counts"]["pending"]
    return counts
