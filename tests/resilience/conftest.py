"""Plaza as a container runs it, over a replica set of three."""

import random
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest
from pydantic import SecretStr

from chalicelib.database import connect
from chalicelib.database.migration import migrate
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from chalicelib.wiring import schema
from tests.resilience.replica_set import ReplicaSet
from tests.support.isolation import empty_collections


@pytest.fixture
def settings(settings: Settings, replica_set: ReplicaSet) -> Settings:
    """The tests' settings, over the set, with a pool for the callers of one process."""
    changes = {
        "mongodb_uri": SecretStr(replica_set.uri),
        "max_pool_size": 32,
        "lease_ms": 500,
    }
    return settings.model_copy(update=changes)


@pytest.fixture
def clock() -> Callable[[], datetime]:
    """The real one: elections and leases take their time."""
    return utc_now


@pytest.fixture
def runtime(settings: Settings, sqs: Any) -> Iterator[Runtime]:
    """A runtime over empty collections, by the connection that a container makes."""
    database = connect(settings)
    with database.client:
        migrate(database, schema.COLLECTIONS)
        empty_collections(database)
        queues = Queues(settings.queue_prefix, client=sqs)
        yield Runtime(database, queues, utc_now, random.SystemRandom(), settings)
