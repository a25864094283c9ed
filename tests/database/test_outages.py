"""How long requests wait for a database that is gone."""

import dataclasses
import time
from collections.abc import Callable, Iterator

import pytest
from chalice.app import Blueprint, Response
from pymongo import MongoClient
from pymongo.errors import BulkWriteError, PyMongoError, WriteError

from chalicelib import deadlines
from chalicelib.database import Document, is_outage, open_database
from chalicelib.deadlines import SHORT_SECONDS, Outage
from chalicelib.http import Request, no_content, reply, router
from chalicelib.runtime import Runtime
from local.mongod import free_port
from tests.http.support.things import app_with
from tests.support.http_client import Client

# A seventh of what a deployment has, and still three times as long as the others wait.
FIRST_SECONDS = 3.0


def routes(runtime: Runtime) -> Blueprint:
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)

    @route("GET", "/stored")
    def get_stored(request: Request) -> Response:
        request.runtime.database["ad.site"].find_one({"_id": "x"})
        return reply({})

    @route("GET", "/remembered")
    def get_remembered(_request: Request) -> Response:
        return no_content()

    return blueprint


@pytest.fixture
def gone(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """A runtime whose database nobody answers for, and whose first request waits a short while."""
    monkeypatch.setattr(deadlines, "REQUEST_SECONDS", FIRST_SECONDS)
    client: MongoClient[Document] = MongoClient(
        "127.0.0.1",
        free_port(),
        heartbeatFrequencyMS=500,
        connect=False,
        replicaSet="rs0",
    )
    with client:
        yield dataclasses.replace(runtime, database=open_database(client, "plaza-test"))


def seconds(call: Callable[[], object]) -> float:
    began = time.monotonic()
    call()
    return time.monotonic() - began


def test_an_outage_holds_a_container_once_and_then_a_second_each(
    gone: Runtime, token: Callable[..., str]
) -> None:
    api = Client(app_with(gone, routes), token)

    first = seconds(lambda: api.get("/stored"))
    later = [seconds(lambda: api.get("/stored")) for _ in range(3)]

    assert first > FIRST_SECONDS - 0.5
    assert max(later) < SHORT_SECONDS + 1.5 < FIRST_SECONDS
    reply = api.get("/stored")
    assert (reply.status, reply.code) == (503, "unavailable")
    assert reply.headers["Retry-After"]


def test_what_needs_no_database_is_answered_in_an_outage(
    gone: Runtime, token: Callable[..., str]
) -> None:
    api = Client(app_with(gone, routes), token)
    api.get("/stored")

    assert seconds(lambda: api.get("/remembered")) < SHORT_SECONDS
    assert api.get("/remembered").status == 204


def test_a_database_that_is_there_again_is_found_at_once(runtime: Runtime) -> None:
    outage = Outage(runtime.database.client)
    assert outage.patience() == deadlines.REQUEST_SECONDS

    outage.suspect()

    assert outage.patience() == deadlines.REQUEST_SECONDS


def test_only_a_server_that_takes_writes_ends_an_outage(gone: Runtime) -> None:
    outage = Outage(gone.database.client)
    assert outage.patience() == deadlines.REQUEST_SECONDS

    outage.suspect()

    assert outage.patience() == SHORT_SECONDS


STEPPED_DOWN: Document = {"index": 0, "code": 189, "errmsg": "Not primary while writing"}
DUPLICATE: Document = {"index": 1, "code": 11_000, "errmsg": "duplicate key"}


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (WriteError("Not primary while writing", 189, STEPPED_DOWN), True),
        (WriteError("duplicate key", 11_000, DUPLICATE), False),
        (BulkWriteError({"writeErrors": [STEPPED_DOWN]}), True),
        (BulkWriteError({"writeErrors": [STEPPED_DOWN, DUPLICATE]}), False),
        (BulkWriteError({"writeErrors": []}), True),
    ],
    ids=["step-down", "duplicate", "bulk-step-down", "bulk-duplicate", "bulk-unconfirmed"],
)
def test_a_write_that_was_refused_for_a_step_down_is_an_outage(
    error: PyMongoError,
    is_one: bool,  # noqa: FBT001 - a row of the table
) -> None:
    assert is_outage(error) is is_one
