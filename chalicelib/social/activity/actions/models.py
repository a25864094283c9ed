"""Request bodies and answers of actions."""

import functools
from datetime import datetime
from typing import Annotated, Any, Literal, Self, Union

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    StringConstraints,
    create_model,
    model_validator,
)
from pydantic import Tag as UnionTag

from chalicelib.http import Input
from chalicelib.identity import UserId
from chalicelib.social.activity.actions import recruiting as _recruiting  # noqa: F401 - registers types
from chalicelib.social.activity.actions.shapes import (
    MAX_AUDIENCE,
    MAX_REFS,
    Scope,
    ShownAction,
    StoredAction,
)
from chalicelib.social.activity.actions.types import DESCRIPTORS, Descriptor, TypeName
from chalicelib.social.activity.refs import Name, RefId, distinct

ActionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class Hiding(Input):
    """Whether an action is to be hidden from every feed."""

    hidden: bool


class NewReaction(Input):
    """A reaction to an action; everybody has at most one."""

    kind: Literal["like", "celebrate", "support", "question"]


class Ref(Input):
    """Something that an action is about: a user, by that type, or a thing of the application."""

    id: RefId
    type: TypeName
    name: Name


def _named_once(refs: list[Ref]) -> list[Ref]:
    distinct([ref.id for ref in refs])
    return refs


class NewAction(Input):
    """An action as its actor sends it; a restricted one is for its `audience`."""

    scope: Scope
    audience: Annotated[list[UserId], Field(max_length=MAX_AUDIENCE), AfterValidator(distinct)] = (
        Field(default_factory=list)
    )
    refs: Annotated[list[Ref], Field(max_length=MAX_REFS), AfterValidator(_named_once)] = Field(
        default_factory=list
    )
    descriptor: Any

    @model_validator(mode="after")
    def _check_audience(self) -> Self:
        if (self.scope == "restricted") != bool(self.audience):
            raise ValueError("the scope restricted needs an audience, and no other scope has one")
        return self


def new_action_model() -> type[NewAction]:
    """Return the model of a new action, whose descriptor is of one of the registered types."""
    return _new_action_model(tuple(DESCRIPTORS.items()))


@functools.cache
def _new_action_model(types: tuple[tuple[str, type[Descriptor]], ...]) -> type[NewAction]:
    by_type = Discriminator(
        _type_of,
        custom_error_type="unknown_type",
        custom_error_message=f"the types are {', '.join(name for name, _ in types)}",
    )
    tagged = tuple(Annotated[model, UnionTag(name)] for name, model in types)
    union: Any = Union[tagged]  # noqa: UP007 - made at run time
    fields: dict[str, Any] = {"descriptor": (Annotated[union, by_type], ...)}
    return create_model("NewActionOfType", __base__=NewAction, **fields)


def _type_of(descriptor: Any) -> str | None:
    """Return the type that a descriptor states; by its name alone pydantic would quote it back."""
    stated = descriptor.get("type") if isinstance(descriptor, dict) else None
    return stated if isinstance(stated, str) else None


_SHOWN = (
    "actor",
    "conducted",
    "scope",
    "refs",
    "descriptor",
    "hidden",
    "comment_count",
    "reaction_count",
)


def fields_for(reader_id: str) -> dict[str, Any]:
    """Return the projection of an action: what is shown, and what decides who may see it.

    Of the audience it has only the reader.
    """
    deciding = {"team": 1, "department": 1, "deleted": 1}
    own_part = {"audience": {"$elemMatch": {"$eq": reader_id}}}
    return {**dict.fromkeys(_SHOWN, 1), **deciding, **own_part}


def action_answer(action: ShownAction, relevancy: datetime | None = None) -> dict[str, Any]:
    """Return an action as the API shows it; in a feed, with its relevancy for the reader."""
    shown = {
        "id": action["_id"],
        "actor": action["actor"],
        "conducted": action["conducted"],
        "scope": action["scope"],
        "refs": action["refs"],
        "descriptor": action["descriptor"],
        "hidden": action["hidden"],
        "comment_count": action["comment_count"],
        "reaction_count": action["reaction_count"],
    }
    return shown if relevancy is None else {**shown, "relevancy": relevancy}


def new_action_answer(action: StoredAction) -> dict[str, Any]:
    """Return a new action as its actor sees it: with the size of its audience, and no names.

    Those who are left out may have blocked the actor.
    """
    shown = action_answer(action)
    if action["scope"] != "restricted":
        return shown
    return {**shown, "audience_count": len(action["audience"])}
