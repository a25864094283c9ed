"""A town: its callers, its workers, its clock, and an author with a few readers."""

import dataclasses
from collections.abc import Iterator

import pytest
from chalice.local import LocalChalice
from pymongo import MongoClient

from app import create_app
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from tests.social.support.designs import DESIGNS, Design
from tests.social.support.drivers import Courier, Town, follow
from tests.social.support.interleaving import Meantime
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

READERS = [f"reader-{number}" for number in range(5)]


@pytest.fixture
def town(client: Client, workers: Workers, runtime: Runtime, clock: Clock) -> Town:
    return Town(client, workers, runtime, clock)


@pytest.fixture
def readers(client: Client, workers: Workers) -> list[str]:
    """Five who follow Ann."""
    for reader in READERS:
        follow(client, reader, "ann")
    workers.drain()
    return READERS


@pytest.fixture(params=[each.param() for each in DESIGNS])
def design(request: pytest.FixtureRequest) -> Design:
    """Each design in turn, for the suites that all of them have to pass."""
    chosen: Design = request.param
    return chosen


@pytest.fixture
def meantime() -> Iterator[Meantime]:
    meantime = Meantime()
    yield meantime
    assert not meantime.failures


@pytest.fixture
def watched(town: Town, mongodb_uri: str, meantime: Meantime) -> Iterator[Town]:
    """The town, whose every command `meantime` sees; its messages wait in its courier."""
    with MongoClient[Document](mongodb_uri, event_listeners=[meantime]) as mongo:
        database = open_database(mongo, town.runtime.settings.database)
        runtime = dataclasses.replace(town.runtime, database=database, queues=Courier())
        client = Client(create_app(runtime, LocalChalice), town.client.token)
        yield dataclasses.replace(town, client=client, runtime=runtime)
