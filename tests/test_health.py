import dataclasses

from pymongo import MongoClient

from app import create_app
from chalicelib import __version__
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from local.mongod import free_port
from tests.http_client import Client


def test_health_names_version_and_replica_set(client: Client) -> None:
    reply = client.get("/health")

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
        reply = Client(create_app(cut_off), client.token).get("/health")

    assert reply.status == 503
    assert reply.json["database"] == {"reachable": False, "replica_set": None}
