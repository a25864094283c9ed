import dataclasses

from pymongo import MongoClient

from app import create_app
from chalicelib import __version__
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from local.mongod import free_port
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
        "database": {"reachable": True, "replica_set": "primary"},
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
    assert reply.json["database"] == {"reachable": False, "replica_set": None}
