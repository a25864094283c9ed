"""A real replica set for the session, and a Plaza of its own for each test."""

import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

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
from chalicelib import schema
from chalicelib.database import Document, open_database
from chalicelib.migration import migrate
from chalicelib.queues import Queues
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from local.mongod import running_mongod
from local.queues import Poller
from tests.http_client import Client
from tests.isolation import QueueRoom, acknowledge_unjournaled, empty_collections
from tests.listener import ShardListener
from tests.parallel import ProcessesTogether
from tests.resilience.replica_set import ReplicaSet, running_replica_set
from tests.sending import refuse_undeclared
from tests.shard_check import ShardCheck
from tests.shard_exceptions import SHARD_EXCEPTIONS

JWT_SECRET = "a secret of the tests, long enough for HS256"
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def pytest_configure(config: pytest.Config) -> None:
    """Hear every client of this process, and let no busy machine fail an example."""
    hypothesis.settings.register_profile("plaza", deadline=None)
    hypothesis.settings.load_profile("plaza")
    listener = ShardListener({each.name: each for each in schema.COLLECTIONS}, SHARD_EXCEPTIONS)
    config.pluginmanager.register(ShardCheck(listener))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Share the tests out, those that start processes to one worker."""
    return ProcessesTogether(config, log)


class Clock:
    """A clock that moves only when a test says so."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def advance(self, **units: float) -> None:
        self.time += timedelta(**units)


@pytest.fixture(scope="session")
def mongodb_uri() -> Iterator[str]:
    """A real mongod, without the TTL monitor: a pinned clock would make it delete test data."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder in memory, where there is one
    data = Path(tempfile.mkdtemp(prefix="plaza-test-", dir=memory if memory.is_dir() else None))
    try:
        with running_mongod(data, "--setParameter=ttlMonitorEnabled=false") as uri:
            acknowledge_unjournaled(uri)
            yield uri
    finally:
        shutil.rmtree(data)


@pytest.fixture(scope="session")
def replica_set() -> Iterator[ReplicaSet]:
    """Three real servers, started when the first test asks for them."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder in memory, where there is one
    folder = Path(tempfile.mkdtemp(prefix="plaza-set-", dir=memory if memory.is_dir() else None))
    try:
        with running_replica_set(folder) as members:
            yield members
    finally:
        shutil.rmtree(folder)


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
        signing_keys=(SecretStr("a signing key of the tests, as long as it has to be"),),
        queue_prefix="plaza-test-",
    )


@pytest.fixture(scope="session")
def sqs() -> Iterator[Any]:
    """SQS by moto, in this process, with the functions' policies in force."""
    with mock_aws():
        client = boto3.client("sqs", region_name="eu-central-1")
        client.meta.events.register(
            "before-parameter-build.sqs.SendMessageBatch", refuse_undeclared
        )
        yield client


@pytest.fixture
def runtime(
    mongo_client: MongoClient[Document], settings: Settings, clock: Clock, sqs: Any
) -> Runtime:
    """A runtime over empty collections."""
    database = open_database(mongo_client, settings.database)
    empty_collections(database)
    return Runtime(
        database=database,
        queues=Queues(settings.queue_prefix, client=sqs),
        now=clock,
        random=random.Random(7),
        settings=settings,
    )


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


class Workers:
    """The pollers of every queue, driven by hand."""

    def __init__(self, pollers: list[Poller], has_messages: Callable[[Poller], bool]) -> None:
        self.pollers = pollers
        self._has_messages = has_messages

    def drain(self) -> int:
        """Deliver batches until every queue is empty; return how many messages there were."""
        delivered = 0
        while received := sum(
            poller.poll_once() for poller in self.pollers if self._has_messages(poller)
        ):
            delivered += received
        return delivered
