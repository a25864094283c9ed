"""The check of the contract finds what an answer must not be."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
import pytest

from tests.support.contract import PROBLEM, Contract

THING = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "title": {"type": "string"},
        "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
    },
    "required": ["id"],
}
# A part has parts: the schemas refer to one another in a circle.
PART = {
    "type": "object",
    "properties": {"whole": {"$ref": "#/components/schemas/Thing"}},
}
DOCUMENT = {
    "paths": {
        "/things/{thing}": {
            "get": {
                "operationId": "getThing",
                "responses": {
                    "200": {
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}
                        }
                    },
                    "404": {
                        "content": {PROBLEM: {"schema": {"type": "object"}}},
                        "x-problem-codes": ["unknown_thing"],
                    },
                },
            },
            "delete": {"operationId": "deleteThing", "responses": {"204": {}}},
        },
        "/things/all": {
            "get": {
                "operationId": "listThings",
                "responses": {"200": {"content": {"application/json": {"schema": {}}}}},
            }
        },
    },
    "components": {"schemas": {"Thing": THING, "Part": PART}},
}


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


def json(body: Any, status: int = 200, kind: str = "application/json") -> Answer:
    return Answer(status, {"Content-Type": kind}, orjson.dumps(body))


@pytest.fixture
def contract() -> Contract:
    return Contract(DOCUMENT)


def test_what_is_declared_passes_and_is_seen(contract: Contract) -> None:
    contract.check("GET", "/things/lamp?limit=1", json({"id": "lamp", "parts": [{}]}))
    contract.check("GET", "/things/lamp", json({"code": "unknown_thing"}, 404, PROBLEM))
    contract.check("DELETE", "/things/lamp", Answer(204, {}, b""))
    contract.check("GET", "/things/all", json([1]))

    assert contract.seen == contract.declared()


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (json({"id": "lamp"}, 201), "declares no 201"),
        (json({"code": "too_fast"}, 404, PROBLEM), "declares no too_fast"),
        (json({"id": 1}), "is not of type"),
        (json({}), "required"),
        (json({"id": "lamp", "secret": 1}), "secret"),
        (json({"id": "lamp", "parts": [{"whole": {"id": "lamp", "secret": 1}}]}), "secret"),
        (Answer(200, {"Content-Type": "text/csv"}, b"id"), "is not among"),
    ],
    ids=["status", "code", "type", "missing", "beside", "inside", "kind"],
)
def test_what_is_not_declared_fails(contract: Contract, answer: Answer, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        contract.check("GET", "/things/lamp", answer)


def test_a_head_has_no_body_to_check(contract: Contract) -> None:
    contract.check("HEAD", "/things/lamp", Answer(200, {"Content-Type": "application/json"}, b""))

    assert contract.seen == {"getThing 200"}


def test_calls_that_no_operation_has_are_left_alone(contract: Contract) -> None:
    contract.check("GET", "/elsewhere", json({}))

    assert contract.seen == set()
