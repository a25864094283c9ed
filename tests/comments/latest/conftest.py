"""A discussion with feeds."""

import pytest

from tests.comments.support.discussion import LAYOUTS, Layout
from tests.comments.support.feeds import Blog
from tests.support.clock import Clock
from tests.support.http_client import Client


@pytest.fixture
def blog(client: Client, clock: Clock, layout: Layout) -> Blog:
    return Blog(client, clock, layout)


@pytest.fixture
def threaded(client: Client, clock: Clock) -> Blog:
    return Blog(client, clock, LAYOUTS[0])
