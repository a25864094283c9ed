"""The largest size of every answer: below Lambda's limit by its schema, or cut by the router."""

import copy
import json
import math
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from chalicelib.http.document import FILE
from chalicelib.http.responses import MAX_BINARY_BYTES, MAX_BYTES, sent_bytes
from chalicelib.web.files import CONSOLE, EMBED, PAGES
from contract.compatibility import parameters_of
from contract.sizes import Answer, answers, pattern_bytes, sent_in_json

DUCK = "\N{DUCK}"
# Lambda's own limit, less what headers and the JSON around a body may take.
LAMBDA_BYTES = 6_291_556 - 100_000
BINARY_BYTES = sent_bytes(bytes(MAX_BINARY_BYTES))
# What a person's documents say is not known before: `tests/people/test_export.py` has the largest.
OPEN_ROWS = {"exportMe"}


def document() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(FILE.read_bytes())
    return found


def of_schema(schema: Any, components: Any = None, **operation: Any) -> Answer:
    """Return the answer of a document whose only operation answers with this schema."""
    content = {"application/json": {"schema": schema}}
    (found,) = answers(
        {
            "paths": {
                "/things": {
                    "get": {
                        "operationId": "getThings",
                        "parameters": [],
                        "responses": {"200": {"content": content}, "404": {}},
                        **operation,
                    }
                }
            },
            "components": {"schemas": components or {}},
        }
    )
    return found


def test_no_answer_can_pass_the_limit_unless_the_router_cuts_it() -> None:
    found = list(answers(document()))
    most = {"readAsset": BINARY_BYTES}

    too_large = [
        f"{each.operation} {each.media_type}: {each.whole.bytes:,} {sorted(each.whole.unbounded)}"
        for each in found
        if not each.is_cut and each.whole.bytes > most.get(each.operation, MAX_BYTES)
    ]

    assert BINARY_BYTES < LAMBDA_BYTES
    assert len({each.operation for each in found}) > 150
    assert not too_large, "bound their schemas, or give their routes a `limit` or `rows`"


def test_one_row_of_every_page_that_is_cut_fits_into_an_answer() -> None:
    too_large = [
        f"{each.operation}: {each.one_row.bytes:,} {sorted(each.one_row.unbounded)}"
        for each in answers(document())
        if each.is_cut and each.one_row.bytes > MAX_BYTES and each.operation not in OPEN_ROWS
    ]

    assert not too_large


def test_every_operation_with_a_cursor_is_cut() -> None:
    told = document()
    uncut = [
        operation["operationId"]
        for methods in told["paths"].values()
        for operation in methods.values()
        if ("query", "cursor") in parameters_of(told, operation)
        and not operation.get("x-plaza-cut")
    ]

    assert not uncut


def unbound(schema: Any) -> Iterator[Any]:
    """Yield what a schema is without each of its bounds, one at a time."""
    bounds = ("maxLength", "maxItems", "maxProperties")
    for name, part in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if name in bounds:
            yield {key: value for key, value in schema.items() if key != name}
        elif isinstance(part, (dict, list)):
            for less in unbound(part):
                changed = copy.copy(schema)
                changed[name] = less
                yield changed


WORST: dict[str, tuple[Any, Any]] = {
    "a text": ({"type": "string", "maxLength": 3}, DUCK * 3),
    "a text of a pattern": (
        {"type": "string", "pattern": "^[a-z]{1,9}(-[0-9]{2}){0,2}$"},
        "a" * 15,
    ),
    "a quotation mark": ({"type": "string", "pattern": '^["a]{0,5}$'}, '"' * 5),
    "a bounded pattern": ({"type": "string", "pattern": "^[a-z]*$", "maxLength": 4}, "aaaa"),
    "a time": ({"type": "string", "format": "date-time"}, "9999-12-31T23:59:59.999999+00:00"),
    "a choice": ({"enum": ["a", 5, DUCK, None]}, DUCK),
    "a number": ({"type": "integer"}, -(10**18)),
    "a list": (
        {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 2}},
        [DUCK * 2] * 3,
    ),
    "an object": (
        {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "null"}}},
        {"a": False, "b": None},
    ),
    "a map": (
        {
            "type": "object",
            "maxProperties": 2,
            "propertyNames": {"maxLength": 2},
            "additionalProperties": {"type": "string", "maxLength": 1},
        },
        {DUCK + "\N{EGG}": DUCK, DUCK * 2: DUCK},
    ),
    "one of two": (
        {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 7}]},
        DUCK * 7,
    ),
}


@pytest.mark.parametrize("name", WORST)
def test_the_largest_value_of_a_schema_is_measured(name: str) -> None:
    schema, value = WORST[name]
    size = of_schema(schema).whole

    # A list is measured with a comma after its last item, an object after its last member.
    assert sent_in_json(value) <= size.bytes <= sent_in_json(value) + 8
    assert not size.unbounded


@pytest.mark.parametrize("name", WORST)
def test_without_any_one_bound_a_schema_has_no_largest_value(name: str) -> None:
    schema, _ = WORST[name]

    for less in unbound(schema):
        if "pattern" not in less:
            size = of_schema(less).whole
            assert size.bytes == math.inf
            assert size.unbounded


def test_what_is_open_is_named() -> None:
    thing = {"type": "object", "properties": {"name": {"type": "string"}, "more": {}}}
    tree = {"type": "array", "maxItems": 2, "items": {"$ref": "#/components/schemas/Tree"}}
    size = of_schema({"$ref": "#/components/schemas/Thing"}, {"Thing": thing}).whole

    assert size.unbounded == {"Thing.name: a string without maxLength", "Thing.more: anything"}
    assert of_schema({"$ref": "#/components/schemas/Tree"}, {"Tree": tree}).whole.unbounded == {
        "Tree[]: a Tree in itself"
    }


def test_the_rows_of_a_page_count_once_and_other_lists_whole() -> None:
    text = {"type": "string", "maxLength": 10}
    rows = {"type": "array", "maxItems": 200, "items": text}
    beside = {"type": "array", "maxItems": 3, "items": text}
    schema = {"type": "object", "properties": {"rows": rows, "beside": beside}}
    limit = {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 200}}

    page = of_schema(schema, parameters=[limit], **{"x-plaza-cut": True})

    assert page.is_cut
    assert page.one_row.bytes == pytest.approx(4 * sent_in_json(DUCK * 10), abs=60)
    assert page.whole.bytes > 200 * sent_in_json(DUCK * 10)


@pytest.mark.parametrize("pattern", ["a{1,3}", "^a|b$", "^.{0,9}", "^[a-z]+$", "^[^x]*$"])
def test_a_pattern_that_bounds_nothing_is_not_taken_for_one_that_does(pattern: str) -> None:
    assert pattern_bytes(pattern)[0] == math.inf


def test_every_file_that_is_served_is_as_small_as_its_answer_says() -> None:
    said = {
        each.bytes for each in (a.whole for a in answers(document()) if "script" in a.media_type)
    }
    (most,) = said

    kinds = {".js", ".css", ".html", ".svg"}
    files = [
        file
        for folder in (EMBED, CONSOLE, PAGES)
        for file in folder.rglob("*")
        if file.suffix in kinds
    ]

    assert len(files) > 10
    assert all(len(json.dumps(file.read_text())) <= most for file in files)


def test_the_document_itself_fits_into_an_answer() -> None:
    assert sent_bytes(orjson.dumps(document()).decode()) < MAX_BYTES
