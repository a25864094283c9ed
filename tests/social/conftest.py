"""A town: its callers, its workers, its clock, and an author with a few readers."""

import pytest

from chalicelib.runtime import Runtime
from chalicelib.social import fan_out
from tests.conftest import Clock, Workers
from tests.http_client import Client
from tests.social.designs import DESIGNS, Design
from tests.social.people import Town, follow

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


@pytest.fixture(params=DESIGNS, ids=str)
def design(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Design:
    """Each design in turn, for the suites that all of them have to pass."""
    chosen: Design = request.param
    chosen.apply(monkeypatch)
    return chosen


@pytest.fixture
def chunks_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks so small that a few readers make several."""
    monkeypatch.setattr(fan_out, "CHUNK_READERS", 2)
