"""Calls that the database fails: outages, faults, and time."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from chalice.app import Blueprint, Response
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

from chalicelib import deadlines
from chalicelib.deadlines import REQUEST_SECONDS
from chalicelib.http import (
    Request,
    reply,
    router,
)
from chalicelib.observability import invocations
from chalicelib.runtime import Runtime
from deploy.declared import CONFIG
from tests.http.support.things import app_with
from tests.support.http_client import Client


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


def test_a_request_has_less_time_than_its_function_and_the_gateway(
    runtime: Runtime, token: Callable[..., str]
) -> None:
    def patient(runtime: Runtime) -> Blueprint:
        blueprint = Blueprint(__name__)

        @router(blueprint, runtime)("GET", "/patient")
        def get(_request: Request) -> Response:
            return reply({"database": _csot.remaining(), "all": deadlines.remaining()})

        return blueprint

    seconds = Client(app_with(runtime, patient), token).get("/patient").json

    for each in ("database", "all"):
        assert REQUEST_SECONDS - 1 < seconds[each] <= REQUEST_SECONDS
    assert CONFIG["lambda_timeout"] - invocations.MARGIN_SECONDS > REQUEST_SECONDS


@pytest.mark.parametrize("left_ms", [2_000, 1_999, 0])
def test_an_invocation_with_no_time_left_asks_the_database_for_nothing(
    runtime: Runtime, left_ms: int
) -> None:
    context = SimpleNamespace(get_remaining_time_in_millis=lambda: left_ms)

    with (
        invocations._deadline(context, is_request=True),
        invocations._database_deadline(REQUEST_SECONDS),
        pytest.raises(PyMongoError) as refused,
    ):
        runtime.database.command("ping")

    assert refused.value.timeout
