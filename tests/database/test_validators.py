"""Validators are made from shapes."""

from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from bson import ObjectId

from chalicelib.database import Document
from chalicelib.database.validators import LOOKED_INTO, OPAQUE, AtMost, schema_of


class Place(TypedDict):
    city: str
    position: NotRequired[float]


class Person(TypedDict):
    _id: ObjectId
    name: str | None
    born: datetime
    homes: Annotated[list[Place], AtMost(3)]
    friends: dict[str, Place]
    mood: Literal["well", "ill"]


@pytest.mark.parametrize(
    ("shape", "schema"),
    [
        (str, {"bsonType": ["string"]}),
        (bool, {"bsonType": ["bool"]}),
        (int, {"bsonType": ["int", "long"]}),
        (float, {"bsonType": ["double", "int", "long"]}),
        (datetime, {"bsonType": ["date"]}),
        (str | None, {"bsonType": ["null", "string"]}),
        (Literal["b", "a"], {"enum": ["a", "b"]}),
        (Literal["a"] | None, {"anyOf": [{"enum": ["a"]}, {"bsonType": ["null"]}]}),
        (Document, {"bsonType": ["object"]}),
        (Any, {}),
    ],
)
def test_a_type_has_its_schema(shape: Any, schema: Document) -> None:
    assert schema_of(shape) == schema


def test_a_shape_allows_its_own_fields_and_requires_those_that_may_not_be_missing() -> None:
    assert schema_of(Place) == {
        "bsonType": ["object"],
        "required": ["city"],
        "properties": {
            "city": {"bsonType": ["string"]},
            "position": {"bsonType": ["double", "int", "long"]},
        },
        "additionalProperties": False,
    }


def test_a_short_array_is_looked_into() -> None:
    homes = schema_of(Person)["properties"]["homes"]

    assert homes == {"bsonType": ["array"], "maxItems": 3, "items": schema_of(Place)}


def test_of_a_long_array_only_the_length_is_checked() -> None:
    long = Annotated[list[Place], AtMost(LOOKED_INTO + 1)]

    assert schema_of(long) == {"bsonType": ["array"], "maxItems": LOOKED_INTO + 1}


def test_an_opaque_shape_is_any_object() -> None:
    homes = Annotated[list[Annotated[Place, OPAQUE]], AtMost(3)]

    assert schema_of(homes)["items"] == {"bsonType": ["object"]}


def test_an_array_without_a_bound_is_refused() -> None:
    with pytest.raises(TypeError, match="needs a bound"):
        schema_of(list[str])


def test_a_type_that_bson_does_not_know_is_refused() -> None:
    with pytest.raises(TypeError, match="no type"):
        schema_of(complex)
