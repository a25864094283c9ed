import dataclasses
import time
from collections.abc import Iterator

import pytest
from pymongo import MongoClient

from app import create_app
from chalicelib import __version__
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from local.mongod import REPLICA_SET, free_port, prepare, start, stop, uri_of
from tests.support.http_client import Client


def test_health_tells_anybody_whether_plaza_works(client: Client) -> None:
    for caller in (client, client.as_("ann"), client.as_("max", roles=["moderator"])):
        reply = caller.get("/health")

        assert (reply.status, reply.json) == (200, {"status": "ok"})


def test_health_tells_an_admin_version_and_replica_set(client: Client) -> None:
    reply = client.as_("root", roles=["admin"]).get("/health")

    assert reply.status == 200
    assert reply.json == {
        "status": "ok",
        "version": __version__,
        "database": {"reachable": True, "replica_set": "primary", "readable": True},
    }


def test_health_is_503_when_no_database_answers(runtime: Runtime, client: Client) -> None:
    dead: MongoClient[Document] = MongoClient(
        "127.0.0.1", free_port(), serverSelectionTimeoutMS=50, connect=False
    )
    with dead:
        cut_off = dataclasses.replace(runtime, database=open_database(dead, "plaza"))
        app = Client(create_app(cut_off), client.token)
        reply = app.as_("root", roles=["admin"]).get("/health")
        told = app.get("/health")

    assert (told.status, told.json) == (503, {"status": "unavailable"})
    assert reply.status == 503
    assert reply.json["database"] == {"reachable": False, "replica_set": None, "readable": False}


@pytest.fixture(scope="module")
def guarded_mongod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that asks for a login."""
    folder = tmp_path_factory.mktemp("guarded")
    key = folder / "key"
    key.write_text("a key of the tests")
    key.chmod(0o600)
    data = folder / "data"
    port = prepare(data)
    process = start(data, port, "--auth", f"--keyFile={key}")
    try:
        begin_set(port)
        yield uri_of(port)
    finally:
        stop(process)


def begin_set(port: int) -> None:
    """Make a server a primary; it allows this without a login while it has no user."""
    members = [{"_id": 0, "host": f"127.0.0.1:{port}"}]
    with MongoClient[Document]("127.0.0.1", port, directConnection=True) as client:
        client.admin.command("replSetInitiate", {"_id": REPLICA_SET, "members": members})
        deadline = time.monotonic() + 30
        while not client.admin.command("hello").get("isWritablePrimary"):
            assert time.monotonic() < deadline


def test_health_is_503_when_the_database_refuses_reads(
    runtime: Runtime, client: Client, guarded_mongod: str
) -> None:
    """The first that a server says needs no login."""
    with MongoClient[Document](guarded_mongod) as refused:
        locked_out = dataclasses.replace(runtime, database=open_database(refused, "plaza"))
        app = Client(create_app(locked_out), client.token)
        reply = app.as_("root", roles=["admin"]).get("/health")
        told = app.get("/health")

    assert (told.status, told.json) == (503, {"status": "unavailable"})
    assert reply.status == 503
    assert reply.json["database"] == {
        "reachable": True,
        "replica_set": "primary",
        "readable": False,
    }
