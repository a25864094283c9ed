"""The document that a deployment serves is that of its routes, and valid."""

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from chalice.app import Chalice
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel

from chalicelib.http import document
from chalicelib.http.document import FILE
from chalicelib.http.middleware import CORS
from chalicelib.http.outcomes import is_declared
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import types
from chalicelib.social.activity.actions.forms import NewAction
from contract.compatibility import resolve
from deploy.openapi.document import operation_id
from deploy.openapi.files import KEPT, operations, ship, written
from tests.http.support.things import app_with
from tests.support.contract import PROBLEM
from tests.support.http_client import Client

# A browser that opens /docs reads all of it.
MAX_SHIPPED_BYTES = 800_000


@pytest.fixture
def plain(app: Chalice, monkeypatch: pytest.MonkeyPatch) -> Iterator[Chalice]:
    """An app without the types of actions that the local server adds."""
    own = {name: model for name, model in types.DESCRIPTORS.items() if model.is_plazas}
    with monkeypatch.context() as patch:
        patch.setattr(types, "DESCRIPTORS", own)
        NewAction.model_rebuild(force=True)
        yield app
    NewAction.model_rebuild(force=True)


def test_the_file_is_what_the_routes_say(plain: Chalice) -> None:
    assert KEPT.read_bytes() == written(plain), "run script/openapi, which writes it again"


def test_a_deployment_ships_the_types_of_actions_that_it_has_registered(app: Chalice) -> None:
    body = orjson.loads(written(app))["components"]["schemas"]["NewAction"]["properties"]

    assert set(body["descriptor"]["discriminator"]["mapping"]) == set(types.sendable_types())


@pytest.mark.usefixtures("plain")
def test_without_types_of_actions_every_action_is_refused(client: Client) -> None:
    reply = client.as_("ann").post("/actions", scope="team", descriptor={"type": "new_applicant"})

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert [each["code"] for each in reply.json["errors"]] == ["unknown_type"]


def test_the_file_that_ships_is_the_same_in_a_third_of_the_bytes(tmp_path: Path) -> None:
    ship(KEPT.read_bytes(), tmp_path / "openapi.json")

    shipped = (tmp_path / "openapi.json").read_bytes()
    assert orjson.loads(shipped) == orjson.loads(KEPT.read_bytes())
    assert len(shipped) <= MAX_SHIPPED_BYTES


def test_an_answer_that_is_a_problem_stands_once(app: Chalice) -> None:
    answers = [
        answer
        for methods in orjson.loads(written(app))["paths"].values()
        for operation in methods.values()
        for answer in operation["responses"].values()
    ]

    assert [each for each in answers if each.get("content", {}).keys() == {PROBLEM}] == []


def test_it_is_a_valid_document() -> None:
    OpenAPIV31SpecValidator(orjson.loads(FILE.read_bytes())).validate()


def test_each_operation_has_a_name_of_its_own_a_summary_and_a_tag(app: Chalice) -> None:
    declared = [each for each in operations(app) if is_declared(each)]
    names = [operation_id(each) for each in declared]

    assert len(names) == len(set(names))
    assert [each.path for each in declared if not each.view.__doc__ or not each.rules.tag] == []


def test_the_examples_of_bodies_are_what_calls_take(app: Chalice) -> None:
    bodies = {each.signature.body for each in operations(app)}
    models = {each for each in bodies if each is not None and issubclass(each, BaseModel)}
    examples = [(body, given) for body in models for given in _examples(body)]

    assert {body for body in models if not _examples(body)} == set()
    for body, example in examples:
        body.model_validate_json(orjson.dumps(example), strict=True)


def _examples(body: type[BaseModel]) -> list[Any]:
    found: list[Any] = body.model_json_schema().get("examples", [])
    return found


def arrays(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every schema of a list, and where it stands."""
    if isinstance(schema, list):
        for number, each in enumerate(schema):
            yield from arrays(each, f"{path}/{number}")
    elif isinstance(schema, dict):
        if schema.get("type") == "array":
            yield path, schema
        for name in schema.keys() - {"example", "examples"}:
            yield from arrays(schema[name], f"{path}/{name}")


def test_every_list_that_is_sent_or_answered_has_a_bound() -> None:
    found = list(arrays(orjson.loads(FILE.read_bytes())))

    assert len(found) > 50
    assert [path for path, schema in found if "maxItems" not in schema] == []


def test_no_name_of_a_shape_says_where_the_code_is() -> None:
    """Pydantic names two classes of one name by their modules, which is no clients' matter."""
    named = orjson.loads(FILE.read_bytes())["components"]["schemas"]

    assert [name for name in named if "__" in name] == [], "give these classes names of their own"


def test_it_is_served_as_it_was_written(client: Client) -> None:
    answer = client.get("/openapi.json")

    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json == orjson.loads(FILE.read_bytes())


def test_it_names_the_address_of_the_deployment(
    runtime: Runtime, token: Callable[..., str]
) -> None:
    settings = runtime.settings.model_copy(update={"public_url": "https://plaza.example"})
    deployed = app_with(dataclasses.replace(runtime, settings=settings), document.routes)

    servers = Client(deployed, token).get("/openapi.json").json["servers"]

    assert servers == [{"url": "https://plaza.example"}]


def test_a_client_that_has_it_is_told_so(client: Client) -> None:
    tag = client.get("/openapi.json").headers["ETag"]

    again = client.request("GET", "/openapi.json", headers={"If-None-Match": tag})

    assert (again.status, again.body) == (304, b"")
    assert again.headers["ETag"] == tag


def test_a_page_of_another_origin_sends_and_reads_the_headers_of_the_document() -> None:
    document = orjson.loads(KEPT.read_bytes())
    cors = CORS.get_access_control_headers()
    exposed = set(cors["Access-Control-Expose-Headers"].split(","))
    allowed = set(cors["Access-Control-Allow-Headers"].split(","))

    answered = document["components"]["headers"].keys()
    sent = {
        each["name"]
        for path in document["paths"].values()
        for operation in path.values()
        for each in map(partial(resolve, document), operation.get("parameters", []))
        if each["in"] == "header"
    }

    assert answered <= exposed
    assert sent <= allowed
