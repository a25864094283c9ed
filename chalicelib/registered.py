"""Fields that accept any model of a registry; an application adds its own models there."""

from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, NotRequired, Union

from pydantic import Field, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from typing_extensions import TypedDict


class AnyOf:
    """Marks a field that accepts any model of a registry.

    The OpenAPI document shows each model registered when it is made, but not the fields in
    `without`.
    """

    def __init__(self, registry: Mapping[str, Any], without: Collection[str] = ()) -> None:
        self._registry = registry
        self._without = without

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema `anyOf` with each model once; several names may share a model."""
        models = dict.fromkeys(self._registry.values())
        parts = [_part(each, self._without) for each in models] if self._without else models
        union: Any = Union[tuple(parts)]  # noqa: UP007 - made at run time
        return handler(TypeAdapter[Any](union).core_schema)


def _part(model: Any, without: Collection[str]) -> Any:
    """Return a TypedDict of a model's fields except `without`; optional fields may be missing."""
    make: Any = TypedDict
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if name not in without:
            described = Field(description=field.description)
            kind: Any = Annotated[field.annotation, *field.metadata, described]
            fields[name] = kind if field.is_required() else NotRequired[kind]
    shape = make(f"{model.__name__}Listed", fields)
    shape.__doc__ = model.__doc__
    return shape


def name_in(registry: Mapping[str, Any]) -> Callable[[str], str]:
    """Return a validator: it raises ValueError for a name that is not registered when it runs."""

    def check(name: str) -> str:
        if name not in registry:
            raise ValueError(f"the type must be one of {', '.join(registry)}")
        return name

    return check
