"""Bodies of requests about posts and comments, as the API's document has them."""

import functools
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    create_model,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from chalicelib.http import Input, PageQuery
from chalicelib.people.ids import UserId
from chalicelib.registered import AnyOf, name_in
from chalicelib.social.graph.audience import ALL_CIRCLES, PUBLIC, Audience
from chalicelib.social.posts import kinds
from chalicelib.social.posts.types import POST_TYPES
from chalicelib.texts import Line, Paragraphs, at_most

# The members of the circles at posting see a post, whatever the circles have today.
AT_POST = "at_post"
# A post shows this many of its last comments.
COMMENTS_SHOWN = 3

MAX_COMMENT_CHARACTERS = 2_000

# Wider than the ids that Plaza makes: an id that matches may be unknown, but not malformed.
PostId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
PostCommentId = PostId
CommentText = Annotated[Paragraphs, at_most(MAX_COMMENT_CHARACTERS)]


class NewPostComment(Input):
    """A comment on a post."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "In, if it is dry."}]})

    text: CommentText = Field(description="Plain text, of several lines.")


class PostCommentEdit(Input):
    """A new text of a comment on a post."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "In, if it stays dry."}]})

    text: CommentText = Field(description="Plain text, of several lines.")


class PostCommentsQuery(PageQuery):
    """The query of the comments on a post."""

    blocked: bool = Field(
        default=False,
        description="Also the comments that blocks hide, for the post's author alone, who can "
        "delete them.",
    )


class NewPost(Input):
    """A post as its author sends it; `type` decides the fields of `detail`."""

    type: str
    detail: Any
    circles: Audience = Field(
        description=f"Its readers: ids of the author's circles, or `{PUBLIC}` alone for a public "
        f"post, or `{ALL_CIRCLES}` alone for all circles of the author.",
        examples=[["birders"]],
    )
    wall_owner_id: UserId | None = Field(
        None, description="The owner of its wall; left out, the author."
    )
    audience: Literal["at_view", "at_post"] = Field(
        "at_view",
        description="`at_view`: for members of the circles today. `at_post`: for members at the "
        "time of posting; not for public posts.",
    )

    @model_validator(mode="after")
    def _check_audience(self) -> Self:
        if self.audience == AT_POST and self.circles == [PUBLIC]:
            raise ValueError("a public post cannot fix its audience")
        return self

    @classmethod
    def model_validate_json(
        cls, json_data: str | bytes | bytearray, *, strict: bool | None = None, **given: Any
    ) -> Self:
        """Read a post by the model of its type; raises ValidationError."""
        if cls is not NewPost:
            return super().model_validate_json(json_data, strict=strict, **given)
        name = _PostType.model_validate_json(json_data, strict=strict).type
        post: Any = new_post_model(name).model_validate_json(json_data, strict=strict, **given)
        return post  # type: ignore[no-any-return]

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema of a post of any registered type."""
        if cls is not NewPost:
            return handler(schema)
        return {
            "description": cls.__doc__,
            **kinds.one_of([new_post_model(name) for name in POST_TYPES], handler),
            "examples": [_EXAMPLE],
        }


_EXAMPLE = {
    "type": "status",
    "detail": {"text": "214 eiders off the point this morning."},
    "circles": ["birders"],
}


class NewVote(Input):
    """A vote in a poll; each user has at most one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"option": "18:30"}]})

    option: Line = Field(description="One of the poll's options, as the poll has it.")


class PostEdit(Input):
    """A new detail of a post; everything else on it stays."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"detail": {"text": "215 eiders, says Ines."}}]}
    )

    detail: Annotated[Any, AnyOf(POST_TYPES)] = Field(
        description="The whole new detail, as the post's type has it."
    )


class _PostType(BaseModel):
    """The one field of a new post that decides the model of the others."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: Annotated[str, AfterValidator(name_in(POST_TYPES))]


@functools.cache
def new_post_model(name: str) -> type[NewPost]:
    """Return the model of a new post of a registered type."""
    model = POST_TYPES[name]
    fields: dict[str, Any] = {"type": (Literal[name], ...), "detail": (model, ...)}
    named = f"New{kinds.schema_prefix(model)}Post"
    return create_model(named, __base__=NewPost, __doc__=model.__doc__, **fields)


@functools.cache
def edit_model(name: str) -> type[PostEdit]:
    """Return the model of an edit of a post of a registered type."""
    model = POST_TYPES[name]
    fields: dict[str, Any] = {"detail": (model, ...)}
    return create_model(f"Edited{kinds.schema_prefix(model)}Post", __base__=PostEdit, **fields)
