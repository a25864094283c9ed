"""Answers about posts and comments: their shapes stand in the API's document."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, cast, get_args

from pydantic import Field
from typing_extensions import TypeAliasType, TypedDict

from chalicelib.assets import pictures
from chalicelib.database import Document
from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Next
from chalicelib.people.ids import UserId
from chalicelib.social.graph.audience import MAX_CIRCLES, PUBLIC, AudienceName
from chalicelib.social.graph.circle_keys import ids_of
from chalicelib.social.graph.forms import PersonAnswer
from chalicelib.social.posts.forms import COMMENTS_SHOWN, MAX_COMMENT_CHARACTERS, PostId
from chalicelib.social.posts.kinds import AnyType
from chalicelib.social.posts.shapes import (
    PollResults,
    PostComment,
    PostReactions,
    ShownPost,
)
from chalicelib.social.posts.types import MAX_OPTIONS, picture_fields
from chalicelib.social.reactions import ReactionKind
from chalicelib.texts import ShownLine

_NO_REACTIONS: PostReactions = {"counts": {}, "own": []}


class PostCommentAnswer(TypedDict):
    """A comment on a post."""

    id: Annotated[str, Field(max_length=64)]
    author: PersonAnswer
    posted_at: datetime
    edited_at: Annotated[datetime | None, Field(description="Null if it never was.")]
    text: Annotated[
        Annotated[str, Field(max_length=MAX_COMMENT_CHARACTERS)],
        Field(description="Plain text, of several lines."),
    ]


class PollAnswer(TypedDict):
    """The votes in a poll, up to date even while the rest of a post is behind."""

    votes: Annotated[
        list[Annotated[int, Field(ge=0)]],
        Field(
            max_length=MAX_OPTIONS,
            description="The number of votes for each option, in the order of the options.",
        ),
    ]
    vote_count: Annotated[int, Field(ge=0, description="All votes.")]
    own_vote: Annotated[
        ShownLine | None,
        Field(description="The option that the caller voted for; null without a vote."),
    ]


class PostReactionCounts(TypedDict, total=False):
    """The number of reactions by kind, without kinds that have none."""

    like: Annotated[int, Field(ge=1)]
    celebrate: Annotated[int, Field(ge=1)]
    support: Annotated[int, Field(ge=1)]
    question: Annotated[int, Field(ge=1)]


class PostReactionsAnswer(TypedDict):
    """The reactions to a post, up to date even while the rest of a post is behind.

    If many react at once, the counts follow within seconds; the caller's own are exact.
    """

    counts: PostReactionCounts
    own: Annotated[
        list[ReactionKind],
        Field(max_length=len(get_args(ReactionKind)), description="The caller's own kinds."),
    ]


class AnyPost(TypedDict):
    """A post of any type."""

    id: PostId
    author: PersonAnswer
    wall_owner_id: Annotated[
        UserId, Field(description="The owner of its wall: its author, or another user.")
    ]
    visibility: Annotated[
        Literal["public", "circles"],
        Field(description="`public`, or `circles` for some circles of its author."),
    ]
    circles: NotRequired[
        Annotated[
            list[AudienceName],
            Field(
                max_length=MAX_CIRCLES,
                description="As they were sent; only its author sees them.",
            ),
        ]
    ]
    type: str
    detail: Document
    posted_at: datetime
    edited_at: Annotated[datetime | None, Field(description="Null if it never was.")]
    comments: Annotated[
        list[PostCommentAnswer],
        Field(
            max_length=COMMENTS_SHOWN,
            description="The last comments, oldest first, without comments that blocks hide from "
            "the caller; `GET /posts/{post}/comments` has all.",
        ),
    ]
    comment_count: Annotated[int, Field(ge=0, description="All comments, but for hidden ones.")]
    reactions: PostReactionsAnswer
    poll: NotRequired[PollAnswer]
    read_as: NotRequired[
        Annotated[
            Literal["moderator"],
            Field(
                description="Present if the caller reads it by id and by the role alone; this is "
                "audited."
            ),
        ]
    ]


# A post as the API shows it: its schema has one shape for each type.
PostAnswer = TypeAliasType("PostAnswer", Annotated[AnyPost, AnyType()])


class PostsAnswer(TypedDict):
    """A page of posts, newest first; it may be short before the end. `next` is null at the end."""

    posts: Annotated[list[PostAnswer], Field(max_length=MAX_PAGE)]
    next: Next


class PostCommentsAnswer(TypedDict):
    """A page of the comments on a post, oldest first.

    It may be short before the end, as blocks hide comments. `next` is null at the end.
    """

    comments: Annotated[list[PostCommentAnswer], Field(max_length=MAX_PAGE)]
    next: Next
    read_as: NotRequired[
        Annotated[
            Literal["moderator"],
            Field(description="Present if the caller reads them by the role alone; audited."),
        ]
    ]


def comment_answer(comment: PostComment) -> PostCommentAnswer:
    """Return a comment on a post as the API shows it."""
    return {
        "id": comment["id"],
        "author": comment["by"],
        "posted_at": comment["ts"],
        "edited_at": comment.get("edited"),
        "text": comment["text"],
    }


def post_answer(post: ShownPost, reader_id: str | None, base: str) -> PostAnswer:
    """Return a post, or a copy of a post, as the API shows it to a reader.

    `base` is the API's address. Only the author sees the post's circles.
    """
    answer: PostAnswer = {
        "id": post["id"],
        "author": post["by"],
        "wall_owner_id": post["wall"],
        "visibility": "public" if post["circles"] == [PUBLIC] else "circles",
        "type": post["type"],
        "detail": pictures.to_addresses(picture_fields(post["type"]), post["detail"], base),
        "posted_at": post["ts"],
        "edited_at": post["edited"],
        "comments": [comment_answer(comment) for comment in post["comments"]],
        "comment_count": post["comment_count"],
        "reactions": reactions_answer(post.get("reacted", _NO_REACTIONS)),
    }
    if post["by"]["id"] == reader_id:
        answer["circles"] = ids_of(post["circles"])
    if "results" in post:
        answer["poll"] = _poll_answer(post["results"])
    return answer


def reactions_answer(reacted: PostReactions) -> PostReactionsAnswer:
    """Return the reactions to a post as the API shows them."""
    return cast("PostReactionsAnswer", reacted)


def _poll_answer(results: PollResults) -> PollAnswer:
    return {
        "votes": results["votes"],
        "vote_count": sum(results["votes"]),
        "own_vote": results["own"],
    }
