"""Pydantic fields for descriptors of any registered type: in requests, and in answers.

Pydantic builds the request's field at the first new action, and the answer's field only for the
API's document. By then, the application has registered its types.
"""

import functools
from collections.abc import Iterable
from types import NoneType
from typing import Annotated, Any, NoReturn, NotRequired, Union, get_args

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import TypedDict

from chalicelib.database import Document
from chalicelib.social.activity.actions import types
from chalicelib.social.activity.actions.types import Descriptor
from chalicelib.social.activity.refs import RefId

# Lambda escapes its JSON: a character of two bytes becomes six bytes. Stored names may also be
# longer than the sent names.
_MAX_ANSWERED_BYTES = 4 * types.MAX_DESCRIPTOR_BYTES
PersonId = Annotated[
    RefId, Field(description="A user's id; `:erased` after the user has been erased.")
]


class _Sent:
    """Marks a field that accepts a descriptor of any registered type."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        models = types.sendable_types()
        if not models:
            return core_schema.no_info_plain_validator_function(_refuse)
        return core_schema.tagged_union_schema(
            {name: handler.generate_schema(model) for name, model in models.items()},
            discriminator=_type_of,
            custom_error_type="unknown_type",
            custom_error_message=types.name_types(models),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Add the discriminator, which pydantic has for fields alone.

        Without registered types, the document describes the fields that every type has.
        """
        models = types.sendable_types()
        if not models:
            return _other_type()
        union = handler(schema)
        mapping = dict(zip(models, (each["$ref"] for each in union["oneOf"]), strict=True))
        return {**union, "discriminator": {"propertyName": "type", "mapping": mapping}}


def _refuse(_: Any) -> NoReturn:
    """Refuse every descriptor: the application has registered no type."""
    raise PydanticCustomError("unknown_type", types.name_types(()))


def _any_of(kinds: Iterable[Any]) -> Any:
    return Union[tuple(kinds)]  # noqa: UP007 - made at run time


def _type_of(descriptor: Any) -> str | None:
    """Return a descriptor's type. None: it states no text as its type.

    Pydantic's discriminator by name would quote the sent type in errors.
    """
    stated = descriptor.get("type") if isinstance(descriptor, dict) else None
    return stated if isinstance(stated, str) else None


class _Shown:
    """Marks a field of an answer: any descriptor, even of an unregistered type."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        shapes = map(_shape, types.all_types().values())
        return handler.generate_schema(_any_of([*shapes, _Other]))


class _Other:
    """A descriptor of a type that is not registered, or not any more."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(dict[str, Any])

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _: CoreSchema, __: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        other = _other_type(without=types.all_types())
        return {**other, "required": ["type", "tags"], "x-plaza-max-bytes": _MAX_ANSWERED_BYTES}


def _other_type(without: Iterable[str] = ()) -> JsonSchemaValue:
    """Return the schema of descriptors of any type except the types `without`."""
    pattern = TypeAdapter(types.TypeName).json_schema()
    known = {"not": {"enum": list(without)}} if without else {}
    tags = Descriptor.model_json_schema()["properties"]["tags"]
    return {
        "type": "object",
        "description": "Of a type that the application registers, with the fields of that type.",
        "properties": {"type": {**pattern, **known}, "tags": tags},
        "required": ["type"],
        "additionalProperties": True,
    }


@functools.cache
def _shape(model: type[Descriptor]) -> Any:
    """Return the TypedDict of a type's stored descriptors; optional fields may be absent."""
    always = _always_there(model)
    types_of = {name: _answer_type(field) for name, field in model.model_fields.items()}
    fields = {
        name: kind if name in always else NotRequired[kind] for name, kind in types_of.items()
    }
    make: Any = TypedDict
    shape = make(f"{model.__name__}Answer", fields)
    shape.__doc__ = model.__doc__
    return shape


def _always_there(model: type[Descriptor]) -> set[str]:
    """Return the fields that every stored descriptor of a type has."""
    fields = model.model_fields
    given = {name for name, field in fields.items() if not _is_optional(field)}
    # Plaza stores a user's own name with the user's id.
    named = {
        name for id_, name in types.pairs(model) if id_ in given and types.is_user(fields[id_])
    }
    return given | named


def _is_optional(field: FieldInfo) -> bool:
    return NoneType in get_args(field.annotation)


def _answer_type(field: FieldInfo) -> Any:
    """Return the type of a field in an answer: without None, since answers omit empty fields."""
    if types.is_user(field):
        return PersonId
    given: Any = field.annotation
    if _is_optional(field):
        given = _any_of(each for each in get_args(given) if each is not NoneType)
    for metadata in field.metadata:
        given = Annotated[given, metadata]
    return Annotated[given, Field(description=field.description)]


# A descriptor as sent, and as stored and answered.
SentDescriptor = Annotated[Descriptor, _Sent()]
ShownDescriptor = Annotated[Document, _Shown()]
