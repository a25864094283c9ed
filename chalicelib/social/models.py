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

from chalicelib.database import Document
from chalicelib.http import Input
from chalicelib.identity import UserId
from chalicelib.texts import Line, Paragraphs, PersonName, Url, at_most

PUBLIC = "*public*"
ALL_CIRCLES = "*circles*"
# Whose circles decide who sees a post: today's, or those of the moment it was posted.
AT_VIEW, AT_POST = "at_view", "at_post"
# So many of the last comments are shown with a post.
COMMENTS_SHOWN = 3
# And so many stand on it; older ones have a collection of their own.
HELD_ON_POST = 200

# With three comments a copy then has at most 60 KB, and a wall's document of 100 copies 6 MB.
MAX_POST_CHARACTERS = 5_000
MAX_COMMENT_CHARACTERS = 2_000
MAX_CIRCLES = 100

CircleId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
# Wider than the ids that Plaza makes: one that it never made is unknown, not malformed.
PostId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
PostText = Annotated[Paragraphs, at_most(MAX_POST_CHARACTERS)]
CommentText = Annotated[Paragraphs, at_most(MAX_COMMENT_CHARACTERS)]


class Profile(Input):
    """What people say of themselves."""

    location: Line | None = None
    about: Annotated[Paragraphs, at_most(1_000)] | None = None
    age: Annotated[int, Field(ge=0, le=150)] | None = None
    interests: Annotated[list[Line], Field(max_length=20)] | None = None


class UserSettings(Input):
    """A user's own name and profile; what is left out stays."""

    name: PersonName | None = None
    profile: Profile | None = None


class CircleSettings(Input):
    """A circle's name, which may be any line of text: it is never a key."""

    name: PersonName


class NewComment(Input):
    """A comment on a post."""

    text: CommentText


class Status(Input):
    """A plain update."""

    text: PostText


class Link(Input):
    """A page elsewhere."""

    url: Url
    title: Line | None = None
    text: PostText | None = None


class Photo(Input):
    """A picture that is kept elsewhere."""

    url: Url
    text: PostText | None = None


class CheckIn(Input):
    """Being at a place; its position in degrees is optional."""

    place: Line
    latitude: Annotated[float, Field(ge=-90, le=90)] | None = None
    longitude: Annotated[float, Field(ge=-180, le=180)] | None = None
    text: PostText | None = None

    @model_validator(mode="after")
    def _check_position(self) -> Self:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("latitude and longitude go together")
        return self


def _distinct(values: list[str]) -> list[str]:
    if len(set(values)) < len(values):
        raise ValueError("the same value stands here twice")
    return values


class Poll(Input):
    """A question with two to twenty answers to choose from."""

    question: Line
    options: Annotated[list[Line], Field(min_length=2, max_length=20), AfterValidator(_distinct)]


# The types of posts by name, each with the model of its `detail`. An application adds its own
# before the first request; a detail has to stay below 20 KB.
POST_TYPES: dict[str, type[Input]] = {
    "status": Status,
    "link": Link,
    "photo": Photo,
    "checkin": CheckIn,
    "poll": Poll,
}


def _unmixed(circles: list[str]) -> list[str]:
    if len(circles) > 1 and not {PUBLIC, ALL_CIRCLES}.isdisjoint(circles):
        raise ValueError(f"{PUBLIC} and {ALL_CIRCLES} each stand alone")
    return _distinct(circles)


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
            raise ValueError("a public post has no audience to keep")
        return self


class PostEdit(Input):
    """What can be changed on a post: what it says."""

    detail: Any


def _registered(name: str) -> str:
    if name not in POST_TYPES:
        raise ValueError(f"the types of posts are {', '.join(POST_TYPES)}")
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


def user_answer(user: Document) -> dict[str, Any]:
    """Return a user as the API shows it to everyone."""
    counts = {name: user["counts"][name] for name in ("followers", "following")}
    return {"id": user["_id"], "name": user["name"], "profile": user["profile"], "counts": counts}


def comment_answer(comment: Document) -> dict[str, Any]:
    """Return a comment on a post as the API shows it."""
    return {name: comment[name] for name in ("id", "by", "ts", "text")}


def post_answer(post: Document) -> dict[str, Any]:
    """Return a post, or a wall's copy of it, as the API shows it."""
    return {
        **{name: post[name] for name in ("id", "by", "wall", "circles", "type", "detail")},
        **{name: post[name] for name in ("ts", "edited")},
        "comments": [comment_answer(comment) for comment in post["comments"]],
        "comment_count": post["comment_count"],
    }
