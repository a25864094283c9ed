"""Descriptors of any registered type, as pydantic fields: how they are sent, and how answered.

Both are made from the types that the application has registered by then: what is sent with the
first action that is sent, what is answered for the API's document alone.
"""

import functools
from collections.abc import Iterable
from types import NoneType
from typing import Annotated, Any, NotRequired, Union, get_args

from pydantic import Discriminator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic import Tag as UnionTag
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from typing_extensions import TypedDict

from chalicelib.database import Document
from chalicelib.social.activity.actions import types
from chalicelib.social.activity.actions.types import Descriptor
from chalicelib.social.activity.refs import RefId

PersonId = Annotated[
    RefId, Field(description="A user's id; `:erased` after the user has been erased.")
]


class _Sent:
    """Marks a field that takes a descriptor of any registered type."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        by_type = Discriminator(
            _type_of,
            custom_error_type="unknown_type",
            custom_error_message=f"the types are {', '.join(types.sendable())}",
        )
        tagged = (Annotated[model, UnionTag(name)] for name, model in types.sendable().items())
        return handler.generate_schema(Annotated[_any_of(tagged), by_type])

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Add the discriminator, which pydantic has for fields alone."""
        union = handler(schema)
        mapping = dict(
            zip(types.sendable(), (each["$ref"] for each in union["oneOf"]), strict=True)
        )
        return {**union, "discriminator": {"propertyName": "type", "mapping": mapping}}


def _any_of(kinds: Iterable[Any]) -> Any:
    return Union[tuple(kinds)]  # noqa: UP007 - made at run time


def _type_of(descriptor: Any) -> str | None:
    """Return the type that a descriptor states; by its name alone pydantic would quote it back."""
    stated = descriptor.get("type") if isinstance(descriptor, dict) else None
    return stated if isinstance(stated, str) else None


class _Shown:
    """Marks a field that answers with a descriptor of any registered type."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        shapes = map(_shape, types.registered().values())
        return handler.generate_schema(Annotated[_any_of(shapes), Field(discriminator="type")])


@functools.cache
def _shape(model: type[Descriptor]) -> Any:
    """Return the shape in which descriptors of a type are stored: what was left out is missing."""
    fields = {
        name: _answered(field) if name in _always_there(model) else NotRequired[_answered(field)]
        for name, field in model.model_fields.items()
    }
    make: Any = TypedDict
    shape = make(f"{model.__name__}Answer", fields)
    shape.__doc__ = model.__doc__
    return shape


def _always_there(model: type[Descriptor]) -> set[str]:
    """Return the fields that every stored descriptor of a type has."""
    fields = model.model_fields
    given = {name for name, field in fields.items() if not _takes_none(field)}
    # Plaza stores a user's own name with the user's id.
    named = {
        name for id_, name in types.pairs(model) if id_ in given and types.is_user(fields[id_])
    }
    return given | named


def _takes_none(field: FieldInfo) -> bool:
    return NoneType in get_args(field.annotation)


def _answered(field: FieldInfo) -> Any:
    """Return the type of an answered field."""
    if types.is_user(field):
        return PersonId
    given: Any = field.annotation
    if _takes_none(field):
        given = _any_of(each for each in get_args(given) if each is not NoneType)
    for metadata in field.metadata:
        given = Annotated[given, metadata]
    return Annotated[given, Field(description=field.description)]


# A descriptor as it is sent, and as it is stored and answered.
SentDescriptor = Annotated[Descriptor, _Sent()]
ShownDescriptor = Annotated[Document, _Shown()]
