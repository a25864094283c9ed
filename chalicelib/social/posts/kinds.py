"""JSON Schemas of posts of any registered type, for the API's document alone."""

import functools
from collections.abc import Iterable, Mapping
from types import NoneType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from typing_extensions import TypedDict, get_type_hints

from chalicelib.http import Input
from chalicelib.social.posts.types import POST_TYPES, is_poll


def schema_prefix(model: type[Input]) -> str:
    """Return the prefix of the schemas of a type's posts: `Status` for `StatusDetail`."""
    return model.__name__.removesuffix("Detail")


def one_of(models: Iterable[Any], handler: GetJsonSchemaHandler) -> JsonSchemaValue:
    """Return the schema of a union of models, with `type` as the discriminator."""
    adapter: TypeAdapter[Any] = TypeAdapter(_tagged_union(models))
    return handler(adapter.core_schema)


class AnyType:
    """Marks the shape of an answered post: a union of all registered types, by `type`."""

    def __get_pydantic_core_schema__(self, shape: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of a post of any type; only the API's document asks for it."""
        fields = get_type_hints(shape, include_extras=True)
        shapes = (_post_shape(name, fields) for name in POST_TYPES)
        return handler.generate_schema(_tagged_union(shapes))


def _tagged_union(kinds: Iterable[Any]) -> Any:
    return Annotated[_union(kinds), Field(discriminator="type")]


def _union(kinds: Iterable[Any]) -> Any:
    return Union[tuple(kinds)]  # noqa: UP007 - made at run time


def _post_shape(name: str, fields: Mapping[str, Any]) -> Any:
    """Return the shape of an answered post of a type."""
    model = POST_TYPES[name]
    own = {**fields, "type": Literal[name], "detail": _detail_shape(model)}
    # Every answered poll has its results, and no other post has any.
    results = own.pop("poll")
    if is_poll(name):
        own["poll"] = get_args(results)[0]
    return _shape(f"{schema_prefix(model)}Post", own, model.__doc__)


@functools.cache
def _detail_shape(model: type[Input]) -> Any:
    """Return the shape of a detail as stored and as answered: an optional field may be missing."""
    fields = {name: _answer_type(field) for name, field in model.model_fields.items()}
    return _shape(f"{schema_prefix(model)}DetailAnswer", fields, model.__doc__)


def _shape(name: str, fields: Mapping[str, Any], description: str | None) -> Any:
    make: Any = TypedDict
    shape = make(name, dict(fields))
    shape.__doc__ = description
    return shape


def _answer_type(field: FieldInfo) -> Any:
    """Return the type of a field in answers: an optional field may be missing, never null."""
    given: Any = field.annotation
    is_optional = NoneType in get_args(given)
    if is_optional:
        given = _union(each for each in get_args(given) if each is not NoneType)
    for metadata in (*field.metadata, Field(description=field.description)):
        given = Annotated[given, metadata]
    return NotRequired[given] if is_optional else given
