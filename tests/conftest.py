"""A real replica set for the session, and a Plaza of its own for each test."""

import dataclasses
import gc
import os
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
import hypothesis
import jwt
import pytest
from chalice.app import Chalice
from chalice.local import LocalChalice
from moto import mock_aws
from pydantic import SecretStr
from pymongo import MongoClient
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from app import create_app
from chalicelib.bounds import BOUNDS, Bounds
from chalicelib.database import Document, open_database
from chalicelib.database.migration import migrate
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.web.files import CONSOLE, EMBED
from chalicelib.wiring import schema
from deploy.openapi.files import KEPT, ship
from deploy.web import build, build_console
from local import recruiting as _recruiting  # noqa: F401 - registers the sample's types
from local.mongod import running_mongod
from tests.resilience.replica_set import ReplicaSet, running_replica_set
from tests.support.apps import share_signatures
from tests.support.clock import Clock
from tests.support.commands import Commands, listening
from tests.support.contract_check import ContractCheck
from tests.support.http_client import CONTRACT, Client
from tests.support.isolation import (
    QueueRoom,
    acknowledge_unjournaled,
    ask_the_clock_once,
    empty_collections,
)
from tests.support.memory import memory_folder, remove_abandoned, servers_folder
from tests.support.parallel import ProcessesFirst
from tests.support.sending import PATIENCE_SECONDS, SameThread, refuse_undeclared
from tests.support.shard_check import ShardCheck
from tests.support.shard_exceptions import SHARD_EXCEPTIONS
from tests.support.shard_listener import ShardListener
from tests.support.workers import Workers

if TYPE_CHECKING:
    from playwright.sync_api import Browser

JWT_SECRET = "a secret of the tests, long enough for HS256"
SIGNING_KEY = "a signing key of the tests, as long as it has to be"


def pytest_configure(config: pytest.Config) -> None:
    """Hear every client of this process, and let no busy machine fail an example."""
    if not hasattr(config, "workerinput"):
        remove_abandoned()
    _keep_folders_in_memory()
    hypothesis.settings.register_profile("plaza", deadline=None)
    hypothesis.settings.load_profile("plaza")
    listener = ShardListener({each.name: each for each in schema.COLLECTIONS}, SHARD_EXCEPTIONS)
    config.pluginmanager.register(ShardCheck(listener))
    config.pluginmanager.register(ContractCheck(CONTRACT))
    build(EMBED)
    build_console(CONSOLE)
    ship(KEPT.read_bytes())
    share_signatures()


def _keep_folders_in_memory() -> None:
    """Have `tmp_path` lie in memory: a server that is started there waits for no disk."""
    memory = memory_folder()
    if memory:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays for the whole run: it took a tenth of the time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Share the tests out, those that start processes in groups."""
    return ProcessesFirst(config, log)


@pytest.fixture(scope="session")
def mongodb_uri() -> Iterator[str]:
    """A real mongod, without the TTL monitor: a pinned clock would make it delete test data.

    PLAZA_TEST_MONGODB_URI names one that is running, for many runs that follow one another.
    """
    running = os.environ.get("PLAZA_TEST_MONGODB_URI")
    if running:
        yield running
        return
    with (
        servers_folder("test") as data,
        running_mongod(data, "--setParameter=ttlMonitorEnabled=false") as uri,
    ):
        acknowledge_unjournaled(uri)
        yield uri


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """A browser without a window: one for a process, which can drive one at a time."""
    from tests.web.support.browser import running_browser

    with running_browser() as started:
        yield started


@pytest.fixture(scope="session")
def replica_set() -> Iterator[ReplicaSet]:
    """Three real servers, started when the first test asks for them."""
    with servers_folder("set") as folder, running_replica_set(folder) as members:
        yield members


@pytest.fixture(scope="session")
def mongo_client(mongodb_uri: str) -> Iterator[MongoClient[Document]]:
    with MongoClient[Document](mongodb_uri) as client:
        migrate(open_database(client, "plaza-test"), schema.COLLECTIONS)
        yield client


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def settings(mongodb_uri: str) -> Settings:
    return Settings(
        mongodb_uri=SecretStr(mongodb_uri),
        database="plaza-test",
        jwt_secret=SecretStr(JWT_SECRET),
        signing_keys=(SecretStr(SIGNING_KEY),),
        # Tests write faster than people; those of the limits set their own.
        limits=None,
        # Campaigns run without funds; the tests of funds set their own.
        prepayment=False,
        queue_prefix="plaza-test-",
        payments="fake",
        mail_from="plaza@plaza.example",
    )


@pytest.fixture(scope="session")
def sqs() -> Iterator[Any]:
    """SQS by moto, in this process, with the functions' policies in force."""
    ask_the_clock_once()
    with mock_aws():
        client = boto3.client("sqs", region_name="eu-central-1")
        client.meta.events.register(
            "before-parameter-build.sqs.SendMessageBatch", refuse_undeclared
        )
        yield client


@pytest.fixture(scope="session")
def queues(sqs: Any) -> Callable[[str], Queues]:
    """The queues by their prefix, which ask SQS for each address once, as a container does."""
    way = SameThread()
    return cache(lambda prefix: Queues(prefix, client=sqs, seconds=PATIENCE_SECONDS, way=way))


@pytest.fixture
def runtime(
    mongo_client: MongoClient[Document],
    settings: Settings,
    clock: Clock,
    queues: Callable[[str], Queues],
    request: pytest.FixtureRequest,
) -> Runtime:
    """A runtime over empty collections."""
    database = open_database(mongo_client, settings.database)
    empty_collections(database)
    # An outage that a test before played is over.
    queues(settings.queue_prefix)._outage.end()
    return Runtime(
        database=database,
        queues=queues(settings.queue_prefix),
        now=clock,
        random=random.Random(7),
        settings=settings,
        bounds=_bounds(request.node),
    )


@pytest.fixture
def commands() -> Commands:
    """The commands of `listened`; a test clears those that are not its matter."""
    return Commands()


@pytest.fixture
def listened(runtime: Runtime, commands: Commands) -> Iterator[Runtime]:
    """A runtime whose client remembers its commands."""
    with listening(runtime, commands) as heard:
        yield heard


def _bounds(test: pytest.Item) -> Bounds:
    """Return the bounds as a test's marks shrink them: `bounds(social={"chunk_readers": 2})`."""
    shrunk = BOUNDS
    for mark in reversed(list(test.iter_markers("bounds"))):
        for feature, values in mark.kwargs.items():
            changed = dataclasses.replace(getattr(shrunk, feature), **values)
            shrunk = dataclasses.replace(shrunk, **{feature: changed})
    return shrunk


@pytest.fixture
def app(runtime: Runtime) -> Chalice:
    return create_app(runtime, LocalChalice)


@pytest.fixture
def token(clock: Clock) -> Callable[..., str]:
    """Mint a token: `token("ann", roles=["publisher"], sites=["blog"])`."""

    def mint(sub: str, **claims: Any) -> str:
        expiry = clock() + timedelta(days=365)
        return jwt.encode(
            {"sub": sub, "name": sub.title(), "exp": expiry, **claims}, JWT_SECRET, "HS256"
        )

    return mint


@pytest.fixture
def client(app: Chalice, token: Callable[..., str]) -> Client:
    """An anonymous client; `client.as_("ann", roles=[...])` gives one with a token."""
    return Client(app, token)


@pytest.fixture(scope="session")
def queue_room(sqs: Any) -> QueueRoom:
    return QueueRoom(sqs)


@pytest.fixture
def workers(app: Chalice, queue_room: QueueRoom) -> Iterator["Workers"]:
    """Empty queues, and the workers that take messages from them when the test says so."""
    with queue_room.opened(app) as pollers:
        yield Workers(pollers, queue_room.has_messages)
