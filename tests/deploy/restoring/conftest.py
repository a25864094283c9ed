"""A restore, rehearsed: a database of before, a provider, a bucket and a log of after."""

import io
import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.observability.logs import JsonFormatter, log
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.assets.support.stores import BUCKET, make_bucket
from tests.deploy.support.restoring import World
from tests.shop.support.stripe_stand_in import Stripe, running
from tests.support.clock import START, Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


@pytest.fixture
def stripe() -> Iterator[Stripe]:
    with running() as stand_in:
        yield stand_in


@pytest.fixture
def settings(settings: Settings, stripe: Stripe, sqs: Any) -> Settings:
    del sqs  # of the same moto as the bucket
    make_bucket()
    return stripe.settings(settings).model_copy(update={"asset_bucket": BUCKET})


@pytest.fixture
def written() -> Iterator[Callable[[], list[str]]]:
    """Returns the lines of the log, as a deployment writes them."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    log.addHandler(handler)
    log.setLevel("INFO")
    yield lambda: stream.getvalue().splitlines()
    log.removeHandler(handler)


@pytest.fixture
def world(
    client: Client, runtime: Runtime, stripe: Stripe, clock: Clock, workers: Workers
) -> World:
    stripe.seconds = int((START - timedelta(days=1)).timestamp())
    made = World(client, runtime, stripe, clock)
    workers.drain()
    return made
