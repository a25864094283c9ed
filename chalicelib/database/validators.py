"""Validators: the `$jsonSchema` of a collection, from the shape of its documents.

A shape is a TypedDict beside its collection. At every write of a document, the server needs 0.6 µs
for each array element that it checks. So a schema covers an array's elements only if the
array's bound is at most `LOOKED_INTO`. Of an array with a greater bound it covers type and length,
and of a map only the type.
"""

import types
from dataclasses import dataclass
from datetime import datetime
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from bson import ObjectId

Schema = dict[str, Any]

LOOKED_INTO = 50
_NUMBERS = ["double", "int", "long"]
_BSON_TYPES: dict[Any, list[str]] = {
    str: ["string"],
    bool: ["bool"],
    # A pipeline may return a whole number as either type.
    int: ["int", "long"],
    float: _NUMBERS,
    datetime: ["date"],
    bytes: ["binData"],
    ObjectId: ["objectId"],
    types.NoneType: ["null"],
    Any: [],
}


@dataclass(frozen=True)
class AtMost:
    """The most elements of an array: `Annotated[list[str], AtMost(200)]`."""

    items: int


# Marks a shape that the server accepts as any object: `Annotated[Creative, OPAQUE]`. Writes then
# cost no check; mypy still checks the code against the shape.
OPAQUE = object()


def schema_of(shape: Any) -> Schema:
    """Return the `$jsonSchema` of a shape.

    A TypedDict allows only its own fields, a `dict` any object, and `Any` any value. Raises
    TypeError for an array without a bound, and for a type that BSON lacks.
    """
    if is_typeddict(shape):
        return _object(shape)
    if get_origin(shape):
        return _generic(get_origin(shape), get_args(shape))
    if shape not in _BSON_TYPES:
        raise TypeError(f"BSON has no type for {shape}")
    names = _BSON_TYPES[shape]
    return {"bsonType": names} if names else {}


def _generic(origin: Any, arguments: tuple[Any, ...]) -> Schema:
    if origin in (Required, NotRequired):
        return schema_of(arguments[0])
    if origin is Annotated:
        return _array_or_opaque(arguments[0], arguments[1:])
    if origin in (Union, types.UnionType):
        return _union([schema_of(each) for each in arguments])
    if origin is Literal:
        return {"enum": sorted(arguments)}
    if origin is dict:
        return {"bsonType": ["object"]}
    raise TypeError(f"a {origin} needs a bound: Annotated[list[str], AtMost(200)]")


def _object(shape: Any) -> Schema:
    fields = get_type_hints(shape, include_extras=True)
    required = sorted(shape.__required_keys__)
    return {
        "bsonType": ["object"],
        # The server refuses an empty list.
        **({"required": required} if required else {}),
        "properties": {name: schema_of(type_) for name, type_ in fields.items()},
        "additionalProperties": False,
    }


def _array_or_opaque(shape: Any, notes: tuple[Any, ...]) -> Schema:
    if OPAQUE in notes:
        return {"bsonType": ["object"]}
    bound = next((note for note in notes if isinstance(note, AtMost)), None)
    if bound is None:
        return schema_of(shape)
    (element,) = get_args(shape)
    array: Schema = {"bsonType": ["array"], "maxItems": bound.items}
    if bound.items <= LOOKED_INTO:
        array["items"] = schema_of(element)
    return array


def _union(schemas: list[Schema]) -> Schema:
    """Return the schema of a union: a single list of types if all schemas are mere types."""
    if all(schema.keys() == {"bsonType"} for schema in schemas):
        return {"bsonType": sorted({name for schema in schemas for name in schema["bsonType"]})}
    return {"anyOf": schemas}
