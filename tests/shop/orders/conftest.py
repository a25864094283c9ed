"""Stripe's stand-in, and a shop's till with it."""

from collections.abc import Iterator

import pytest

from tests.shop.support.stripe_stand_in import Stripe, running
from tests.shop.support.till import Till, open_till
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


@pytest.fixture
def stripe() -> Iterator[Stripe]:
    with running() as stand_in:
        yield stand_in


@pytest.fixture
def unsold(client: Client, stripe: Stripe, workers: Workers, clock: Clock) -> Till:
    return open_till(client, stripe, workers, clock)


@pytest.fixture
def till(unsold: Till) -> Till:
    unsold.sell()
    return unsold
