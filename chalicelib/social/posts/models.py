"""What the social API takes, and the forms in which it answers."""

import functools
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    create_model,
    model_validator,
)

from chalicelib.http import Input
from chalicelib.identity import UserId
from chalicelib.social.graph.models import MAX_CIRCLES
from chalicelib.social.posts.shapes import PostComment, ShownPost
from chalicelib.social.posts.types import POST_TYPES, distinct
from chalicelib.texts import Paragraphs, at_most

PUBLIC = "*public*"
ALL_CIRCLES = "*circles*"
# Whose circles decide who sees a post: today's, or those of the moment it was posted.
AT_VIEW, AT_POST = "at_view", "at_post"
# The number of last comments that are shown with a post.
COMMENTS_SHOWN = 3

MAX_COMMENT_CHARACTERS = 2_000

# Wider than the ids that Plaza makes: one that it never made is unknown, not malformed.
PostId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
CommentText = Annotated[Paragraphs, at_most(MAX_COMMENT_CHARACTERS)]


class NewPostComment(Input):
    """A comment on a post."""

    text: CommentText


def _unmixed(circles: list[str]) -> list[str]:
    if len(circles) > 1 and not {PUBLIC, ALL_CIRCLES}.isdisjoint(circles):
        raise ValueError(f"{PUBLIC} and {ALL_CIRCLES} must each be the only value")
    return distinct(circles)


_AudienceName = Annotated[
    str, StringConstraints(pattern=r"^(\*public\*|\*circles\*|[A-Za-z0-9_-]{1,64})$")
]


class NewPost(Input):
    """A post as its author sends it.

    `wall` is whose wall it goes to, by default the author's; `audience` says whether today's
    circles decide who sees it, or those of the moment it was posted.
    """

    type: str
    detail: Any
    circles: Annotated[
        list[_AudienceName],
        Field(min_length=1, max_length=MAX_CIRCLES),
        AfterValidator(_unmixed),
    ]
    wall: UserId | None = None
    audience: Literal["at_view", "at_post"] = "at_view"

    @model_validator(mode="after")
    def _check_audience(self) -> Self:
        if self.audience == AT_POST and self.circles == [PUBLIC]:
            raise ValueError("a public post cannot fix its audience")
        return self


class PostEdit(Input):
    """What can be changed on a post: what it says."""

    detail: Any


def _registered(name: str) -> str:
    if name not in POST_TYPES:
        raise ValueError(f"the type must be one of {', '.join(POST_TYPES)}")
    return name


class PostType(BaseModel):
    """The one field of a new post that says how to read the others."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: Annotated[str, AfterValidator(_registered)]


@functools.cache
def new_post_model(name: str) -> type[NewPost]:
    """Return the model of a new post of a registered type."""
    fields: dict[str, Any] = {"type": (Literal[name], ...), "detail": (POST_TYPES[name], ...)}
    return create_model(f"New{name.title()}", __base__=NewPost, **fields)


@functools.cache
def edit_model(name: str) -> type[PostEdit]:
    """Return the model of an edit of a post of a registered type."""
    fields: dict[str, Any] = {"detail": (POST_TYPES[name], ...)}
    return create_model(f"Edited{name.title()}", __base__=PostEdit, **fields)


def comment_answer(comment: PostComment) -> dict[str, Any]:
    """Return a comment on a post as the API shows it."""
    return {
        "id": comment["id"],
        "by": comment["by"],
        "ts": comment["ts"],
        "text": comment["text"],
    }


def post_answer(post: ShownPost, reader_id: str | None) -> dict[str, Any]:
    """Return a post, or a wall's copy of it, as the API shows it to a reader.

    Only its author is shown the circles that it went to.
    """
    is_own = post["by"]["id"] == reader_id
    return {
        "id": post["id"],
        "by": post["by"],
        "wall": post["wall"],
        "visibility": "public" if post["circles"] == [PUBLIC] else "circles",
        **({"circles": post["circles"]} if is_own else {}),
        "type": post["type"],
        "detail": post["detail"],
        "ts": post["ts"],
        "edited": post["edited"],
        "comments": [comment_answer(comment) for comment in post["comments"]],
        "comment_count": post["comment_count"],
    }
