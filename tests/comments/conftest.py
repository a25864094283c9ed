from datetime import datetime

import pytest

from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, Discussion, Layout
from tests.support.clock import Clock
from tests.support.http_client import Client


@pytest.fixture(params=LAYOUTS, ids=str)
def layout(request: pytest.FixtureRequest) -> Layout:
    """Every store, flat and, where it can, threaded."""
    found: Layout = request.param
    return found


@pytest.fixture
def discussion(runtime: Runtime, layout: Layout) -> Discussion:
    return Discussion.make(runtime, layout)


@pytest.fixture
def passing_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a millisecond pass with each look at the clock: acts of one time have no order."""

    def look(clock: Clock) -> datetime:
        clock.advance(milliseconds=1)
        return clock.time

    monkeypatch.setattr(Clock, "__call__", look)


@pytest.fixture
def publisher(client: Client) -> Client:
    return client.as_("paula", roles=["publisher"])


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann")
