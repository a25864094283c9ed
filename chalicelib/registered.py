"""Models by name, to which an application adds its own: how a field takes any of them."""

from collections.abc import Callable, Mapping
from typing import Any, Union

from pydantic import GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class AnyOf:
    """Marks a field that takes any model of a registry, as it is when the document is made."""

    def __init__(self, registry: Mapping[str, Any]) -> None:
        self._registry = registry

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return `anyOf` the models: two names may have the same one."""
        models: Any = Union[tuple(self._registry.values())]  # noqa: UP007 - made at run time
        return handler(TypeAdapter[Any](models).core_schema)


def name_in(registry: Mapping[str, Any]) -> Callable[[str], str]:
    """Return what checks that a name is registered, by the time that it is sent."""

    def checked(name: str) -> str:
        if name not in registry:
            raise ValueError(f"the type must be one of {', '.join(registry)}")
        return name

    return checked
