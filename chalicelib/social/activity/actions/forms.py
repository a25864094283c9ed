"""Bodies and queries of requests about actions; this module registers Plaza's own types."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from chalicelib.http import Input, PageQuery
from chalicelib.people.ids import UserId
from chalicelib.social.activity.actions import own_types as _own_types  # noqa: F401 - registers types
from chalicelib.social.activity.actions import types
from chalicelib.social.activity.actions.descriptors import SentDescriptor
from chalicelib.social.activity.actions.shapes import MAX_AUDIENCE, MAX_REFS, Scope
from chalicelib.social.activity.actions.types import TypeName
from chalicelib.social.activity.refs import Name, RefId, distinct
from chalicelib.social.reactions import ReactionKind
from chalicelib.texts import Paragraphs, at_most

ActionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
MAX_COMMENT_CHARACTERS = 2_000


def _example(**body: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [body]})


class Hiding(Input):
    """A choice to hide an action from every feed, or to show it."""

    model_config = _example(is_hidden=True)

    is_hidden: bool


class NewReaction(Input):
    """A reaction to an action; each user has at most one."""

    model_config = _example(kind="celebrate")

    kind: ReactionKind


class ActionCommentsQuery(PageQuery):
    """The query of the comments on an action."""

    blocked: bool = Field(
        default=False,
        description="Also the comments that blocks hide, for the action's actor alone, who can "
        "delete them.",
    )


class ReactionsQuery(PageQuery):
    """The query of a page of reactions."""

    kind: ReactionKind | None = Field(None, description="Only reactions of this kind.")


def _check_type(name: str) -> str:
    if name not in types.DESCRIPTORS:
        raise PydanticCustomError("unknown_type", types.name_types(types.all_types()))
    return name


class DoneQuery(PageQuery):
    """The query of a page of a person's actions."""

    type: Annotated[TypeName, AfterValidator(_check_type)] = Field(
        description="The type of the actions, as their descriptors have it.",
        examples=["post_published"],
    )


class NewActionComment(Input):
    """A comment on an action."""

    model_config = _example(text="Let us talk to him as well.")

    text: Annotated[Paragraphs, at_most(MAX_COMMENT_CHARACTERS)] = Field(
        description="At most 2,000 characters, of several lines."
    )


class Ref(Input):
    """A subject of an action: a user, by the type `user`, or a thing of the application."""

    id: RefId
    type: TypeName = Field(
        description="`user`, with the user's id; or a type of the application's own.",
        examples=["applicant"],
    )
    name: Name = Field(
        description="At most 200 characters on one line. The name of a user, or a name by "
        "`PUT /refs/{ref}`, prevails."
    )


def _check_unique(refs: list[Ref]) -> list[Ref]:
    distinct([ref.id for ref in refs])
    return refs


class NewAction(Input):
    """An action as its actor sends it.

    It goes to the actor's present team or department, or to its audience.
    """

    # Built with the first request: by then, the application has registered its types.
    model_config = ConfigDict(defer_build=True) | _example(
        scope="department",
        refs=[{"id": "applicant-nils", "type": "applicant", "name": "Nils Aune"}],
        descriptor={
            "type": "new_applicant",
            "applicant_id": "applicant-nils",
            "applicant_name": "Nils Aune",
            "position_id": "position-photographer",
            "position_name": "Photographer",
            "tags": ["photography"],
        },
    )

    scope: Scope
    audience: Annotated[list[UserId], Field(max_length=MAX_AUDIENCE), AfterValidator(distinct)] = (
        Field(
            default_factory=list,
            description="With the scope `restricted` alone, and needed there: users, each once. "
            "Plaza omits unknown users, users with a block, and users without a tie to the actor. "
            "An application needs no tie.",
        )
    )
    refs: Annotated[list[Ref], Field(max_length=MAX_REFS), AfterValidator(_check_unique)] = Field(
        default_factory=list,
        description="The subjects of the action, each id once; `GET /refs/{ref}/actions` lists the "
        "actions about a ref.",
    )
    descriptor: SentDescriptor = Field(description="What happened, in at most 20 KB.")

    @model_validator(mode="after")
    def _check_audience(self) -> Self:
        if (self.scope == "restricted") != bool(self.audience):
            raise ValueError("the scope restricted needs an audience, and no other scope has one")
        return self
