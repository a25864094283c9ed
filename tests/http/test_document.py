"""The document that a deployment serves is that of its routes, and valid."""

import dataclasses
from collections.abc import Callable

import orjson
from chalice.app import Chalice
from openapi_spec_validator import OpenAPIV31SpecValidator

from chalicelib.http import document
from chalicelib.http.document import FILE
from chalicelib.http.openapi import is_declared, operation_id
from chalicelib.runtime import Runtime
from deploy.openapi import operations, written
from tests.http.test_routing import app_with
from tests.support.http_client import Client


def test_the_file_is_what_the_routes_say(app: Chalice) -> None:
    assert FILE.read_bytes() == written(app), "run script/openapi, which writes it again"


def test_it_is_a_valid_document() -> None:
    OpenAPIV31SpecValidator(orjson.loads(FILE.read_bytes())).validate()


def test_each_operation_has_a_name_of_its_own_a_summary_and_a_tag(app: Chalice) -> None:
    declared = [each for each in operations(app) if is_declared(each)]
    names = [operation_id(each) for each in declared]

    assert len(names) == len(set(names))
    assert [each.path for each in declared if not each.view.__doc__ or not each.rules.tag] == []


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
