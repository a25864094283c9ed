"""What breaks a client that keeps to an older document, and what does not."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from contract.compatibility import breaking

Json = dict[str, Any]
Change = Callable[[Json], object]


def document() -> Json:
    """Return a small document: a thing is read, listed and put."""
    thing = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "owner": {"$ref": "#/components/schemas/Owner"},
            "shape": {
                "oneOf": [
                    {"$ref": "#/components/schemas/Ball"},
                    {"$ref": "#/components/schemas/Box"},
                ]
            },
        },
        "required": ["id", "size"],
    }
    owner = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "deputy": {"anyOf": [{"$ref": "#/components/schemas/Owner"}, {"type": "null"}]},
        },
        "required": ["name"],
    }
    ball = {"type": "object", "properties": {"radius": {"type": "integer"}}}
    box = {"type": "object", "properties": {"side": {"type": "integer"}}}
    sent = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["ball", "box"]},
            "name": {"type": "string", "maxLength": 10},
            "shape": {
                "oneOf": [
                    {"$ref": "#/components/schemas/Sphere"},
                    {"$ref": "#/components/schemas/Cube"},
                ]
            },
        },
        "required": ["kind"],
    }
    json = "application/json"
    answer = {"200": {"content": {json: {"schema": {"$ref": "#/components/schemas/Thing"}}}}}
    name = {"in": "path", "name": "thing", "required": True, "schema": {"type": "string"}}
    limit = {"in": "query", "name": "limit", "required": False, "schema": {"type": "integer"}}
    schemas = {"Thing": thing, "Owner": owner, "Ball": ball, "Box": box}
    schemas |= {"Sphere": copy.deepcopy(ball), "Cube": copy.deepcopy(box)}
    return {
        "paths": {
            "/things/{thing}": {
                "get": {
                    "operationId": "getThing",
                    "parameters": [dict(name), limit],
                    "security": [{}, {"bearer": []}],
                    "responses": {**answer, "404": {"content": {}}},
                },
                "put": {
                    "operationId": "putThing",
                    "parameters": [dict(name)],
                    "security": [{"bearer": []}],
                    "x-plaza-roles": ["publisher", "admin"],
                    "requestBody": {"content": {json: {"schema": sent}}},
                    "responses": copy.deepcopy(answer),
                },
            }
        },
        "components": {"schemas": schemas},
    }


def get(document: Json) -> Json:
    found: Json = document["paths"]["/things/{thing}"]["get"]
    return found


def put(document: Json) -> Json:
    found: Json = document["paths"]["/things/{thing}"]["put"]
    return found


def sent(document: Json) -> Json:
    found: Json = put(document)["requestBody"]["content"]["application/json"]["schema"]
    return found


def schema(document: Json, name: str) -> Json:
    found: Json = document["components"]["schemas"][name]
    return found


def changed(change: Change) -> list[str]:
    """Return what breaks if the document is changed so."""
    new = copy.deepcopy(document())
    change(new)
    return list(breaking(document(), new))


BREAKING: dict[str, Change] = {
    "putThing: PUT /things/{thing} is gone": lambda new: new["paths"]["/things/{thing}"].pop("put"),
    "getThing: its id is now readThing": lambda new: get(new).update(operationId="readThing"),
    "getThing: it needs a token now": lambda new: get(new).update(security=[{"bearer": []}]),
    "putThing: it refuses the roles publisher now": lambda new: put(new).update(
        {"x-plaza-roles": ["admin"]}
    ),
    "getThing: it needs a role now": lambda new: get(new).update({"x-plaza-roles": ["admin"]}),
    "getThing: the parameter limit is gone": lambda new: get(new)["parameters"].pop(),
    "getThing: the parameter limit is required now": lambda new: get(new)["parameters"][1].update(
        required=True
    ),
    "getThing: limit: maximum is 5 now": lambda new: get(new)["parameters"][1].update(
        schema={"type": "integer", "maximum": 5}
    ),
    "getThing: thing: has another pattern now": lambda new: get(new)["parameters"][0].update(
        schema={"type": "string", "pattern": "^a$"}
    ),
    "getThing: it needs a body now": lambda new: get(new).update(
        requestBody=put(new)["requestBody"]
    ),
    "putThing: it takes no body any more": lambda new: put(new).pop("requestBody"),
    "putThing: the body: name is required now": lambda new: sent(new)["required"].append("name"),
    "putThing: the body: name is gone": lambda new: sent(new)["properties"].pop("name"),
    "putThing: name in the body: maxLength is 9 now": lambda new: sent(new)["properties"][
        "name"
    ].update(maxLength=9),
    "putThing: kind in the body: may not be ball now": lambda new: sent(new)["properties"][
        "kind"
    ].update(enum=["box", "bag"]),
    "putThing: name in the body: may not be string now": lambda new: sent(new)["properties"].update(
        name={"type": "integer"}
    ),
    "putThing: shape in the body: may not be Cube now": lambda new: sent(new)["properties"][
        "shape"
    ]["oneOf"].pop(),
    "getThing: it does not answer 200 any more": lambda new: get(new)["responses"].pop("200"),
    "getThing: application/json is gone": lambda new: get(new)["responses"].update(
        {"200": {"content": {"text/csv": {"schema": {"type": "string"}}}}}
    ),
}
OF_BOTH: dict[str, Change] = {
    "the answer: id is gone": lambda new: schema(new, "Thing")["properties"].pop("id"),
    "the answer: size may be missing now": lambda new: schema(new, "Thing")["required"].remove(
        "size"
    ),
    "id in the answer: may be null now": lambda new: schema(new, "Thing")["properties"].update(
        id={"anyOf": [{"type": "string"}, {"type": "null"}]}
    ),
    "shape in the answer: side is gone": lambda new: schema(new, "Box").update(properties={}),
    "size in the answer: may be anything now": lambda new: schema(new, "Thing")[
        "properties"
    ].update(size={}),
    "owner in the answer: name may be missing now": lambda new: schema(new, "Owner").update(
        required=[]
    ),
}
HARMLESS: dict[str, Change] = {
    "nothing": lambda _new: None,
    "a new operation": lambda new: new["paths"].update({"/new": {"get": get(new)}}),
    "a new field of an answer": lambda new: schema(new, "Thing")["properties"].update(
        new={"type": "string"}
    ),
    "a new problem": lambda new: get(new)["responses"].update({"409": {"content": {}}}),
    "a new parameter": lambda new: get(new)["parameters"].append(
        {"in": "query", "name": "new", "required": False, "schema": {"type": "string"}}
    ),
    "a wider bound": lambda new: sent(new)["properties"]["name"].update(maxLength=11),
    "any value to send": lambda new: sent(new)["properties"].update(name={}),
    "no bound": lambda new: sent(new)["properties"]["name"].pop("maxLength"),
    "one more value to send": lambda new: sent(new)["properties"]["kind"]["enum"].append("bag"),
    "a field that may be left out": lambda new: sent(new).update(required=[]),
    "one type less in an answer": lambda new: schema(new, "Thing")["properties"].update(
        size={"type": "integer"}
    ),
    "one more role": lambda new: put(new)["x-plaza-roles"].append("moderator"),
    "no token": lambda new: put(new).update({"security": [{}], "x-plaza-roles": []}),
    "choices in another order": lambda new: schema(new, "Thing")["properties"]["shape"][
        "oneOf"
    ].reverse(),
    "one choice less in an answer": lambda new: schema(new, "Thing")["properties"]["shape"][
        "oneOf"
    ].pop(),
    "a choice of another name": lambda new: (
        new["components"]["schemas"].update(Crate=schema(new, "Cube")),
        sent(new)["properties"]["shape"]["oneOf"][1].update({"$ref": "#/components/schemas/Crate"}),
    ),
    "a schema of another name": lambda new: new["components"]["schemas"].update(
        Thing=schema(new, "Thing")
    ),
}


@pytest.mark.parametrize("told", BREAKING)
def test_a_breaking_change_is_told(told: str) -> None:
    assert changed(BREAKING[told]) == [told]


@pytest.mark.parametrize("told", OF_BOTH)
def test_what_breaks_a_shared_schema_is_told_of_each_operation(told: str) -> None:
    assert changed(OF_BOTH[told]) == [f"getThing: {told}", f"putThing: {told}"]


@pytest.mark.parametrize("name", HARMLESS)
def test_what_breaks_nobody_is_not_told(name: str) -> None:
    assert changed(HARMLESS[name]) == []


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ("^[0-9]{1,9}$", []),
        ("^[0-9]{1,10}$", []),
        ("^[0-9]{0,9}$", []),
        ("^[0-9]{1,8}$", ["getThing: thing: has another pattern now"]),
        ("^[0-9]{2,10}$", ["getThing: thing: has another pattern now"]),
        ("^[1-9]{1,10}$", ["getThing: thing: has another pattern now"]),
    ],
)
def test_a_pattern_may_repeat_more_and_not_less(new: str, told: list[str]) -> None:
    old, later = document(), document()
    get(old)["parameters"][0]["schema"] = {"type": "string", "pattern": "^[0-9]{1,9}$"}
    get(later)["parameters"][0]["schema"] = {"type": "string", "pattern": new}

    assert list(breaking(old, later)) == told


def test_a_pattern_without_a_needless_backslash_is_the_same_pattern() -> None:
    old, new = document(), document()
    get(old)["parameters"][0]["schema"] = {"type": "string", "pattern": r"^[^<\"]+$"}
    get(new)["parameters"][0]["schema"] = {"type": "string", "pattern": '^[^<"]+$'}

    assert list(breaking(old, new)) == []
