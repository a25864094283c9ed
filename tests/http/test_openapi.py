"""The document says of each route what its view declares, and what every call can end with."""

from datetime import date
from typing import Annotated, Any

import jsonschema_rs
import orjson
import pytest
from chalice.app import Blueprint
from chalice.local import LocalChalice
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib import errors
from chalicelib.errors import Problem, UnknownComment
from chalicelib.http import (
    Accepted,
    Created,
    Input,
    NoContent,
    Ok,
    PageQuery,
    Request,
    Retired,
    Roles,
    router,
)
from chalicelib.http.document import FILE
from chalicelib.http.idempotency import KEY_PATTERN
from chalicelib.http.responses import Text
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from contract.compatibility import parameters_of, resolve
from deploy.api import GATEWAY_RESPONSES
from deploy.openapi.document import document as document_of
from deploy.openapi.files import operations
from deploy.openapi.schemas import Json

ThingId = Annotated[
    str, StringConstraints(pattern="^[a-z]{1,20}$"), Field(description="A thing's id.")
]
Publisher = Annotated[Principal, Roles("publisher")]


class Table(Text):
    """200: a table."""

    media_type = "text/csv"


class NewThing(Input):
    """What a thing is made from."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "A lamp"}]})

    title: str


class ThingAnswer(TypedDict):
    """A thing as the API shows it."""

    id: ThingId
    title: str


class ThingsAnswer(TypedDict):
    """A page of things."""

    things: list[ThingAnswer]
    next: str | None


RETIRED = Retired(date(2026, 1, 1), date(2026, 7, 1))


def things(runtime: Runtime) -> Blueprint:
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Things")

    @route("PUT", "/things/{thing}", raises=(UnknownComment,), takes_idempotency_key=True)
    def put_thing(
        request: Request, thing: ThingId, publisher: Publisher, body: NewThing
    ) -> Ok[ThingAnswer] | Created[ThingAnswer] | Accepted[ThingAnswer]:
        """Make or change a thing.

        A thing has a title.
        """
        raise NotImplementedError

    @route("GET", "/things")
    def list_things(
        request: Request, caller: Principal | None, query: PageQuery
    ) -> Ok[ThingsAnswer] | Table:
        """Read the things."""
        raise NotImplementedError

    @route("DELETE", "/things/{thing}", limit=None, retired=RETIRED)
    def delete_thing(request: Request, thing: ThingId) -> NoContent:
        """Delete a thing."""
        raise NotImplementedError

    @route("GET", "/undeclared")
    def get_undeclared(request: Request) -> Any:
        raise NotImplementedError

    return blueprint


@pytest.fixture
def document(runtime: Runtime) -> Json:
    app = LocalChalice(app_name="plaza", configure_logs=False)
    app.register_blueprint(things(runtime))
    return document_of(operations(app), "1.2.3")


@pytest.fixture
def put(document: Json) -> Json:
    found: Json = document["paths"]["/things/{thing}"]["put"]
    return found


def test_it_is_a_valid_document(document: Json) -> None:
    OpenAPIV31SpecValidator(document).validate()


def test_an_operation_is_named_for_its_view_and_told_by_its_docstring(put: Json) -> None:
    assert put["operationId"] == "putThing"
    assert put["summary"] == "Make or change a thing"
    assert put["description"] == "A thing has a title."
    assert put["tags"] == ["Things"]


def test_a_parameter_has_the_bounds_that_calls_are_held_to(document: Json) -> None:
    of_path = parameters_of(document, document["paths"]["/things/{thing}"]["delete"])
    of_query = parameters_of(document, document["paths"]["/things"]["get"])

    schema = {"type": "string", "pattern": "^[a-z]{1,20}$"}
    (thing,) = of_path.values()
    assert (thing["name"], thing["in"], thing["required"]) == ("thing", "path", True)
    assert (thing["description"], thing["schema"]) == ("A thing's id.", schema)
    limit, cursor = of_query.values()
    assert (limit["name"], limit["in"], limit["required"]) == ("limit", "query", False)
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
    assert "next" in cursor["description"]


def test_an_example_keeps_each_of_its_fields(document: Json) -> None:
    assert document["components"]["schemas"]["NewThing"]["examples"] == [{"title": "A lamp"}]


def test_the_examples_of_bodies_are_such_bodies() -> None:
    components = orjson.loads(FILE.read_bytes())["components"]
    for name, schema in components["schemas"].items():
        whole = {**schema, "components": components}
        for example in schema.get("examples", ()):
            fault = next(jsonschema_rs.Draft202012Validator(whole).iter_errors(example), None)
            assert fault is None, f"{name}: {fault}"


def test_a_parameter_of_several_operations_is_told_once(document: Json) -> None:
    methods = document["paths"]["/things/{thing}"]
    named = [methods[method]["parameters"][0] for method in ("put", "delete")]

    assert named == [{"$ref": "#/components/parameters/path.thing"}] * 2
    assert document["components"]["parameters"]["path.thing"]["description"] == "A thing's id."
    # The only operation with a page has its parameters itself.
    assert document["paths"]["/things"]["get"]["parameters"][0]["name"] == "limit"


def test_an_idempotency_key_has_the_form_that_calls_are_held_to(document: Json, put: Json) -> None:
    key = parameters_of(document, put)["header", "Idempotency-Key"]

    assert key["schema"] == {"type": "string", "pattern": KEY_PATTERN}


def test_each_answer_that_a_view_may_give_has_its_status_and_shape(
    document: Json, put: Json
) -> None:
    shape = {"application/json": {"schema": {"$ref": "#/components/schemas/ThingAnswer"}}}
    done = {status: told for status, told in put["responses"].items() if status < "300"}
    assert {status: told["content"] for status, told in done.items()} == {
        "200": shape,
        "201": shape,
        "202": shape,
    }
    assert "Location" in done["201"]["headers"]
    assert "content" not in document["paths"]["/things/{thing}"]["delete"]["responses"]["204"]
    listed = document["paths"]["/things"]["get"]["responses"]["200"]["content"]
    assert listed.keys() == {"application/json", "text/csv"}


def test_problems_are_those_of_the_view_and_of_what_it_takes(document: Json, put: Json) -> None:
    def codes(operation: Json) -> dict[str, list[str]]:
        told = operation["responses"].items()
        return {
            status: resolve(document, each)["x-problem-codes"]
            for status, each in told
            if status >= "400"
        }

    assert codes(put) == {
        "400": ["invalid_json"],
        "401": ["unauthenticated"],
        "403": ["forbidden"],
        "404": ["unknown_comment"],
        "409": ["idempotency_key_reused", "request_in_progress"],
        "413": ["body_too_large"],
        "415": ["unsupported_media_type"],
        "422": ["invalid_request"],
        "429": ["too_fast"],
        "500": ["internal"],
        "503": ["unavailable"],
    }
    listed = codes(document["paths"]["/things"]["get"])
    assert listed.keys() == {"400", "401", "422", "500", "503"}
    assert codes(document["paths"]["/things/{thing}"]["delete"]).keys() == {
        "415",
        "422",
        "500",
        "503",
    }


def test_a_retired_operation_is_deprecated(document: Json, put: Json) -> None:
    retired = document["paths"]["/things/{thing}"]["delete"]

    assert retired["deprecated"] is True
    assert retired["responses"]["204"]["headers"].keys() >= {"Deprecation", "Sunset"}
    assert "deprecated" not in put


def test_who_may_call_is_the_security_of_an_operation(document: Json, put: Json) -> None:
    assert put["security"] == [{"bearer": []}]
    assert put["x-plaza-roles"] == ["publisher", "admin"]
    assert document["paths"]["/things"]["get"]["security"] == [{}, {"bearer": []}]
    assert document["paths"]["/things/{thing}"]["delete"]["security"] == []


def test_a_view_that_does_not_say_what_it_answers_is_left_out(document: Json) -> None:
    assert "/undeclared" not in document["paths"]


def _is_problem(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Problem) and value is not Problem


def test_the_codes_of_all_problems_are_listed_once(document: Json) -> None:
    codes = document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]

    assert codes == sorted(set(codes))
    # A client's parser has to know the codes of the gateway and of the firewall, too.
    of_any_call = {each["code"] for each in GATEWAY_RESPONSES.values()}
    of_any_call |= {each.code for each in vars(errors).values() if _is_problem(each)}
    assert set(codes) == document["components"]["examples"].keys() | of_any_call
