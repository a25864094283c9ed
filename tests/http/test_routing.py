"""Requests and failures, seen through a small blueprint behind the gateway."""

import dataclasses
import io
import json
import logging
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from chalice.app import Blueprint, Chalice, Response
from chalice.local import LocalChalice
from pydantic import Field, StringConstraints, ValidationError
from pymongo import _csot
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ExecutionTimeout,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WriteConcernError,
)

from app import create_app
from chalicelib.database.outages import REQUEST_SECONDS, Outage
from chalicelib.errors import Misconfigured, Unavailable
from chalicelib.http import Input, PageQuery, Request, Route, middleware, reply, router
from chalicelib.observability import invocations
from chalicelib.observability.logs import JsonFormatter, log
from chalicelib.runtime import Runtime
from deploy.declared import CONFIG
from tests.support.http_client import Client, Reply

ThingId = Annotated[str, StringConstraints(pattern=r"^[a-z/]{1,8}$")]
JSON = {"Content-Type": "application/json"}


class Thing(Input):
    name: str = Field(max_length=5)
    size: int = 1


def things(runtime: Runtime) -> Blueprint:
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)

    @route("PUT", "/things/{thing}")
    def put_thing(request: Request, thing: ThingId) -> Response:
        return reply({"id": thing, **request.body(Thing).model_dump()})

    @route("PUT", "/lists", body_limit_bytes=1_000_000)
    def put_lists(request: Request) -> Response:
        return reply(request.body(Thing))

    @route("PUT", "/owned/{thing}")
    def put_owned(request: Request, thing: ThingId) -> Response:
        request.principal()
        request.details["amount_micros"] = 7
        return reply({"id": thing, **request.body(Thing).model_dump()})

    @route("DELETE", "/secrets/{secret}", secrets=("secret",))
    def delete_secret(_request: Request, secret: str) -> Response:
        return reply({"length": len(secret)})

    @route("GET", "/things")
    def get_things(request: Request) -> Response:
        return reply(request.query(PageQuery))

    @route("GET", "/public")
    def get_public(_request: Request) -> Response:
        return reply({}, headers={"Cache-Control": "public, max-age=5"})

    @route("GET", "/staff")
    def get_staff(request: Request) -> Response:
        return reply({"id": request.principal("moderator").id})

    _declare_failures(route)
    return blueprint


def _declare_failures(route: Route) -> None:
    @route("GET", "/crash")
    def crash(_request: Request) -> Response:
        raise ZeroDivisionError("the secret of the house")

    @route("GET", "/misconfigured")
    def misconfigured(_request: Request) -> Response:
        raise Misconfigured("PLAZA_SECRET is not set")

    @route("GET", "/busy")
    def busy(_request: Request) -> Response:
        raise Unavailable(retry_after_seconds=7)


def app_with(runtime: Runtime, routes: Callable[[Runtime], Blueprint]) -> Chalice:
    app = LocalChalice(app_name="plaza", configure_logs=False)
    outage = Outage(runtime.database.client)
    invocations.install(app, outage)
    middleware.install(app, runtime.settings, outage)
    app.register_blueprint(routes(runtime))
    middleware.answer_further_methods(app)
    return app


def app_with_things(runtime: Runtime) -> Chalice:
    return app_with(runtime, things)


@pytest.fixture
def api(runtime: Runtime, token: Callable[..., str]) -> Client:
    return Client(app_with_things(runtime), token)


def fields(reply: Reply) -> dict[str, str]:
    """Return the code of each field that the answer finds fault with."""
    assert reply.status == 422
    assert reply.code == "invalid_request"
    return {error["field"]: error["code"] for error in reply.json["errors"]}


def test_a_good_request_is_parsed(api: Client) -> None:
    assert api.put("/things/abc", name="ball").json == {"id": "abc", "name": "ball", "size": 1}


def test_a_path_parameter_is_decoded(api: Client) -> None:
    assert api.put("/things/a%2Fb", name="ball").json["id"] == "a/b"


def test_a_path_parameter_that_does_not_fit_is_named(api: Client) -> None:
    assert fields(api.put("/things/%24where", name="ball")) == {"thing": "string_pattern_mismatch"}


def test_each_faulty_field_of_a_body_is_named(api: Client) -> None:
    reply = api.put("/things/abc", name="too long", size="1", extra=0)

    assert fields(reply) == {
        "name": "string_too_long",
        "size": "int_type",
        "extra": "extra_forbidden",
    }


def test_a_problem_names_twenty_faults_at_most(api: Client) -> None:
    reply = api.put("/things/abc", name="ball", **{f"unknown{number}": 0 for number in range(30)})

    assert reply.status == 422
    assert len(reply.json["errors"]) == 20


def test_an_operator_is_no_value(api: Client) -> None:
    assert fields(api.put("/things/abc", name={"$gt": ""})) == {"name": "string_type"}


def test_a_problem_does_not_repeat_what_was_sent(api: Client) -> None:
    assert b"confidential" not in api.put("/things/abc", name="confidential").body


@pytest.mark.parametrize("body", [b"", b"{", b"nonsense", b"\xff\xfe"])
def test_a_body_that_is_not_json_is_a_400(api: Client, body: bytes) -> None:
    reply = api.request("PUT", "/things/abc", body=body, headers=JSON)

    assert (reply.status, reply.code) == (400, "invalid_json")


def test_a_body_of_another_kind_is_a_422(api: Client) -> None:
    reply = api.request("PUT", "/things/abc", body=b"[1]", headers=JSON)

    assert (reply.status, reply.code) == (422, "invalid_request")


def test_a_body_of_another_content_type_is_a_415(api: Client) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    reply = api.request("PUT", "/things/abc", body=b"name=ball", headers=headers)

    assert (reply.status, reply.code) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("/things/abc", 65_536, 422),
        ("/things/abc", 65_537, 413),
        ("/lists", 1_000_000, 422),
        ("/lists", 1_000_001, 413),
    ],
)
def test_a_body_may_have_as_many_bytes_as_its_route_says(
    api: Client, path: str, size: int, status: int
) -> None:
    body = b'{"name":"' + b"x" * (size - 11) + b'"}'
    assert len(body) == size

    assert api.request("PUT", path, body=body, headers=JSON).status == status


def unknown_members(count: int) -> bytes:
    return b"{" + b",".join(b'"k%d":1' % number for number in range(count)) + b"}"


@pytest.mark.parametrize(
    "body",
    [
        unknown_members(90_000),
        b'{"name":' + unknown_members(90_000) + b"}",
        b'{"name":[' + b",".join([b"{}"] * 300_000) + b"]}",
        b"[" + b",".join([b"1"] * 400_000) + b"]",
    ],
    ids=["members", "nested", "objects", "elements"],
)
def test_a_body_of_too_many_values_costs_little(api: Client, body: bytes) -> None:
    """Less than half of what pydantic takes for them, which was 300 ms and more."""
    began = time.process_time()
    with pytest.raises(ValidationError):
        Thing.model_validate_json(body, strict=True)
    by_pydantic = time.process_time() - began

    began = time.process_time()
    reply = api.request("PUT", "/lists", body=body, headers=JSON)
    taken = time.process_time() - began

    assert fields(reply) == {"": "too_many_values"}
    assert taken < by_pydantic


def test_a_text_of_many_colons_and_commas_is_no_body_of_many_values(api: Client) -> None:
    body = b'{"name":"' + b":," * 9_000 + b'"}'

    assert fields(api.request("PUT", "/lists", body=body, headers=JSON)) == {
        "name": "string_too_long"
    }


def test_a_long_body_that_is_not_json_is_a_400(api: Client) -> None:
    reply = api.request("PUT", "/lists", body=b'{"a":' * 20_000, headers=JSON)

    assert (reply.status, reply.code) == (400, "invalid_json")


def test_a_body_beyond_the_gateways_own_limit_gets_the_same_answer(api: Client) -> None:
    body = b" " * (10 * 1024 * 1024 + 1)
    reply = api.request("PUT", "/things/abc", body=body, headers=JSON)

    assert (reply.status, reply.code) == (413, "body_too_large")


@pytest.mark.parametrize("limit", ["1", "200"])
def test_a_page_has_one_to_two_hundred(api: Client, limit: str) -> None:
    assert api.get(f"/things?limit={limit}").json == {"limit": int(limit), "cursor": None}


@pytest.mark.parametrize("limit", ["0", "-1", "201", "x", "", "1e2", "%00"])
def test_another_limit_is_a_422(api: Client, limit: str) -> None:
    assert "limit" in fields(api.get(f"/things?limit={limit}"))


def test_an_unknown_query_parameter_is_named(api: Client) -> None:
    assert fields(api.get("/things?limit=5&skip=10")) == {"skip": "extra_forbidden"}


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/"), ("GET", "/nothing"), ("DELETE", "/things"), ("GET", "/things/a/b")],
)
def test_an_unknown_path_and_a_wrong_method_are_the_same_404(
    api: Client, method: str, path: str
) -> None:
    reply = api.request(method, path)

    assert (reply.status, reply.code) == (404, "unknown_route")


@pytest.mark.parametrize("header", ["Bearer x.y.z", "AWS4-HMAC-SHA256 é"])
def test_a_token_does_not_change_the_answer_for_an_unknown_path(api: Client, header: str) -> None:
    reply = api.request("GET", "/nothing", headers={"Authorization": header})

    assert (reply.status, reply.code) == (404, "unknown_route")


def test_without_a_token_a_closed_call_is_a_401(api: Client) -> None:
    reply = api.get("/staff")

    assert (reply.status, reply.code) == (401, "unauthenticated")
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")


def test_with_another_role_it_is_a_403(api: Client) -> None:
    reply = api.as_("ann", roles=["publisher"]).get("/staff")

    assert (reply.status, reply.code) == (403, "forbidden")


def test_with_the_role_it_is_answered(api: Client) -> None:
    assert api.as_("ann", roles=["moderator"]).get("/staff").json == {"id": "ann"}


@pytest.mark.parametrize("path", ["/crash", "/misconfigured"])
def test_an_unexpected_failure_leaks_nothing(api: Client, path: str) -> None:
    reply = api.get(path)

    assert (reply.status, reply.code) == (500, "internal")
    assert b"secret" not in reply.body.lower()
    assert "detail" not in reply.json


def test_a_passing_failure_says_when_to_come_back(api: Client) -> None:
    reply = api.get("/busy")

    assert (reply.status, reply.code) == (503, "unavailable")
    assert reply.headers["Retry-After"] == "7"


def test_every_answer_may_be_read_by_any_page(api: Client) -> None:
    for path in ("/things", "/staff", "/crash", "/nothing"):
        assert api.get(path).headers["Access-Control-Allow-Origin"] == "*"


ORIGINS = ("https://a.example", "https://b.example")


@pytest.fixture
def listed(runtime: Runtime) -> Client:
    """A caller of an API whose answers the pages of two origins may read."""
    settings = runtime.settings.model_copy(update={"allowed_origins": ORIGINS})
    app = app_with_things(dataclasses.replace(runtime, settings=settings))
    return Client(app, lambda *_: "")


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_with_a_list_of_origins_the_callers_own_is_named(listed: Client, method: str) -> None:
    answer = listed.request(method, "/things", headers={"Origin": "https://b.example"})

    assert answer.headers["Access-Control-Allow-Origin"] == "https://b.example"
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    assert answer.headers["Vary"] == "Authorization, Origin"


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://b.example.evil"])
def test_an_origin_that_is_not_listed_is_never_named(
    listed: Client, method: str, origin: str
) -> None:
    answer = listed.request(method, "/things", headers={"Origin": origin})

    assert answer.headers["Access-Control-Allow-Origin"] == "https://a.example"


def test_a_preflight_allows_the_token_header_and_the_paths_methods(api: Client) -> None:
    answer = api.request("OPTIONS", "/things/abc", headers={"Origin": "https://a.example"})

    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]
    assert answer.headers["Access-Control-Allow-Methods"] == "OPTIONS, PUT"
    assert answer.headers["Access-Control-Max-Age"] == "7200"


def test_a_preflight_needs_no_token_and_looks_nothing_up(client: Client) -> None:
    headers = {
        "Origin": "https://a.example",
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    for path in ("/users/me", "/nodes/none/comments", "/posts/none"):
        assert client.request("OPTIONS", path, headers=headers).status == 204
    assert client.request("OPTIONS", "/nothing", headers=headers).status == 404


PATHS = ("/things", "/public", "/staff", "/crash", "/nothing", "/things?limit=0")


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_is_taken_for_what_it_is(api: Client, path: str) -> None:
    for method in ("GET", "OPTIONS"):
        assert api.request(method, path).headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", sorted({*PATHS} - {"/nothing"}))
@pytest.mark.parametrize("header", ["Authorization", "Cookie"])
def test_no_cache_keeps_what_somebody_was_answered(api: Client, path: str, header: str) -> None:
    answer = api.request("GET", path, headers={header: "Bearer x"})

    # A frame that is the same for everybody is asked for with a visitor's cookie too.
    is_everybodys = path == "/public" and header == "Cookie"
    expected = "public, max-age=5" if is_everybodys else "private, no-store"
    assert answer.headers["Cache-Control"] == expected
    assert "Authorization" in answer.headers["Vary"]


@pytest.mark.parametrize("path", PATHS)
def test_a_cache_keeps_an_answer_to_nobody_only_if_its_route_says_so(
    api: Client, path: str
) -> None:
    expected = "public, max-age=5" if path == "/public" else "no-store"

    assert api.get(path).headers["Cache-Control"] == expected


def test_every_answer_to_somebody_is_private(client: Client) -> None:
    ann = client.as_("ann")
    ann.put("/users/me")
    for path in ("/users/me", "/users/me/news", "/feed", "/nodes/none", "/ads/a/b", "/health"):
        assert ann.get(path).headers["Cache-Control"] == "private, no-store"


def test_head_is_answered_as_get_is_without_a_body(api: Client) -> None:
    for path in ("/things", "/public", "/crash", "/things?limit=0"):
        get, head = api.get(path), api.request("HEAD", path)

        assert (head.status, head.body) == (get.status, b"")
        assert head.headers.keys() == get.headers.keys()
        assert head.headers["Content-Type"] == get.headers["Content-Type"]
    assert api.as_("ann").request("HEAD", "/staff").status == 403
    assert api.request("HEAD", "/things/abc").status == 404


def test_every_path_that_answers_get_answers_head(app: Chalice) -> None:
    for path, methods in app.routes.items():
        assert ("HEAD" in methods) == ("GET" in methods), path
        assert "OPTIONS" in methods


@pytest.fixture
def log_lines() -> Iterator[Callable[[], list[dict[str, Any]]]]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    log.addHandler(handler)
    log.setLevel("INFO")
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    log.removeHandler(handler)


def test_a_request_is_one_line_of_json(api: Client, log_lines: Any) -> None:
    api.put("/things/abc", name="ball")

    _, line = log_lines()
    assert (line["method"], line["route"], line["status"]) == ("PUT", "/things/{thing}", 200)
    assert line["request_ms"] >= 0


def test_a_requests_line_is_its_metric_too(api: Client, log_lines: Any) -> None:
    """By the specification of CloudWatch's embedded metric format."""
    api.put("/things/abc", name="ball")

    _, line = log_lines()
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Plaza"
    assert directive["Metrics"] == [{"Name": "request_ms", "Unit": "Milliseconds"}]
    assert directive["Dimensions"] == [["method", "route"], ["status_class"], []]
    assert line["status_class"] == "2xx"
    assert abs(line["_aws"]["Timestamp"] - time.time() * 1000) < 60_000


def test_an_answer_says_what_to_look_for_in_the_log(api: Client, log_lines: Any) -> None:
    answers = [api.put("/things/abc", name="ball"), api.get("/crash"), api.get("/things?limit=0")]

    for answer in answers:
        request_id = answer.headers["X-Request-Id"]
        assert request_id in {line["correlation_id"] for line in log_lines()}
        assert answer.headers["Access-Control-Expose-Headers"] == "X-Request-Id"
    assert len({answer.headers["X-Request-Id"] for answer in answers}) == 3


def test_a_clients_own_request_id_is_not_taken_over(api: Client) -> None:
    answer = api.request("GET", "/things", headers={"X-Request-Id": "mine"})

    assert answer.headers["X-Request-Id"] != "mine"


def audits(log_lines: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [line for line in log_lines() if line["message"] == "audit"]


def test_a_write_says_who_did_what_to_whose(api: Client, log_lines: Any) -> None:
    reply = api.as_("ann", roles=["publisher"]).put("/owned/abc", name="ball")

    (line,) = audits(log_lines)
    assert line["correlation_id"] == reply.headers["X-Request-Id"]
    assert (line["caller"], line["roles"], line["status"]) == ("ann", ["publisher"], 200)
    assert (line["method"], line["route"]) == ("PUT", "/owned/{thing}")
    assert line["things"] == {"thing": "abc"}
    assert line["details"] == {"amount_micros": 7}


@pytest.mark.parametrize(
    ("claims", "body", "status"),
    [({}, b"{", 400), ({}, b'{"name":"too long"}', 422), ({"roles": ["advertiser"]}, b"{}", 422)],
)
def test_a_write_that_is_refused_is_audited_too(
    api: Client, log_lines: Any, claims: Any, body: bytes, status: int
) -> None:
    api.as_("ann", **claims).request("PUT", "/owned/abc", body=body, headers=JSON)

    (line,) = audits(log_lines)
    assert (line["caller"], line["status"]) == ("ann", status)


def test_a_write_of_nobody_is_audited_as_such(api: Client, log_lines: Any) -> None:
    api.put("/owned/abc", name="ball")
    api.request("PUT", "/owned/%24", headers={**JSON, "Authorization": "Bearer a.b.c"})

    assert [(line["caller"], line["status"]) for line in audits(log_lines)] == [
        (None, 401),
        (None, 422),
    ]


def test_a_read_that_needs_a_role_is_audited_and_another_is_not(
    api: Client, log_lines: Any
) -> None:
    api.as_("ann", roles=["moderator"]).get("/staff")
    api.as_("bob").get("/staff")
    api.as_("ann").get("/things")

    assert [(line["caller"], line["status"]) for line in audits(log_lines)] == [
        ("ann", 200),
        ("bob", 403),
    ]


def test_an_audit_line_holds_no_secret_and_is_bounded(api: Client, log_lines: Any) -> None:
    api.request("DELETE", "/secrets/worth-much")
    api.put("/owned/" + "x" * 5_000, name="private")

    secret, long = audits(log_lines)
    assert secret["things"] == {}
    assert len(json.dumps(long)) < 1_000
    assert "private" not in json.dumps(long)


@pytest.mark.parametrize(
    "error",
    [
        AutoReconnect("no primary"),
        ServerSelectionTimeoutError(),
        WriteConcernError("the primary stepped down", 11602),
        BulkWriteError({"writeErrors": [], "writeConcernErrors": [{"code": 11602}]}),
        ExecutionTimeout("out of time", 50),
    ],
)
def test_an_outage_of_the_database_is_a_503(
    runtime: Runtime, token: Callable[..., str], error: PyMongoError
) -> None:
    reply = Client(app_with(runtime, failing_with(error)), token).get("/failing")

    assert (reply.status, reply.code) == (503, "unavailable")
    assert reply.headers["Retry-After"]


def test_an_operation_that_is_wrong_is_no_outage(
    runtime: Runtime, token: Callable[..., str]
) -> None:
    error = BulkWriteError({"writeErrors": [{"code": 121}], "writeConcernErrors": []})
    for each in (error, OperationFailure("no such operator", 2)):
        reply = Client(app_with(runtime, failing_with(each)), token).get("/failing")

        assert (reply.status, reply.code) == (500, "internal")


def failing_with(error: PyMongoError) -> Callable[[Runtime], Blueprint]:
    def failing(runtime: Runtime) -> Blueprint:
        blueprint = Blueprint(__name__)

        @router(blueprint, runtime)("GET", "/failing")
        def get(_request: Request) -> Response:
            raise error

        return blueprint

    return failing


def test_the_database_has_less_time_than_the_function(
    runtime: Runtime, token: Callable[..., str]
) -> None:
    def patient(runtime: Runtime) -> Blueprint:
        blueprint = Blueprint(__name__)

        @router(blueprint, runtime)("GET", "/patient")
        def get(_request: Request) -> Response:
            return reply({"seconds": _csot.remaining()})

        return blueprint

    seconds = Client(app_with(runtime, patient), token).get("/patient").json["seconds"]

    assert REQUEST_SECONDS - 1 < seconds <= REQUEST_SECONDS
    assert CONFIG["lambda_timeout"] - invocations.MARGIN_SECONDS > REQUEST_SECONDS


def test_the_log_has_no_token_and_no_text(api: Client, log_lines: Any) -> None:
    caller = api.as_("ann")
    caller.put("/things/abc", name="private words")
    caller.get("/crash")

    text = json.dumps(log_lines())
    assert "private words" not in text
    assert caller.headers["Authorization"].removeprefix("Bearer ") not in text


def test_the_log_names_an_unexpected_failure_and_its_place(api: Client, log_lines: Any) -> None:
    api.get("/crash")

    (line,) = [line for line in log_lines() if line["level"] == "ERROR"]
    assert line["exception"] == "ZeroDivisionError"
    assert any("test_routing.py" in frame for frame in line["traceback"])
    assert "the secret of the house" not in json.dumps(log_lines())


def test_the_log_names_the_setting_that_is_missing(api: Client, log_lines: Any) -> None:
    api.get("/misconfigured")

    assert any(line.get("reason") == "PLAZA_SECRET is not set" for line in log_lines())


def test_two_apps_with_two_runtimes_do_not_see_each_other(
    runtime: Runtime, token: Callable[..., str]
) -> None:
    other_settings = runtime.settings.model_copy(update={"database": "plaza-other"})
    other = dataclasses.replace(
        runtime,
        database=runtime.database.client.get_database("plaza-other"),
        settings=other_settings,
    )
    one, two = (Client(create_app(each, LocalChalice), token) for each in (runtime, other))
    admin = {"roles": ["admin"]}
    url = "https://site.example/page"

    assert one.as_("ann", **admin).put("/nodes/page", title="One", url=url).status == 201
    assert two.get("/nodes/page").code == "unknown_node"
    assert two.as_("ann", **admin).put("/nodes/page", title="Two", url=url).status == 201
    assert one.get("/nodes/page").json["title"] == "One"
    assert two.get("/nodes/page").json["title"] == "Two"
    runtime.database.client.drop_database("plaza-other")


@pytest.mark.parametrize("left_ms", [2_000, 1_999, 0])
def test_an_invocation_with_no_time_left_asks_the_database_for_nothing(
    runtime: Runtime, left_ms: int
) -> None:
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: left_ms)

    with invocations._deadline(context, REQUEST_SECONDS), pytest.raises(PyMongoError) as refused:
        runtime.database.command("ping")

    assert refused.value.timeout
