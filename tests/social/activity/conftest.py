"""An office with its people."""

from collections.abc import Callable, Iterator

import pytest
from pymongo.collection import Collection

from chalicelib.database import Document, insert_missing
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions.forms import NewAction
from chalicelib.social.activity.actions.types import DESCRIPTORS, Descriptor, register
from tests.social.activity.support.office import Interrupt, Office
from tests.social.activity.support.types import Register
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


@pytest.fixture
def office(client: Client, workers: Workers, runtime: Runtime, clock: Clock) -> Office:
    """Ann and Bob in one team, Cy in another of the same department, Dan in none of these."""
    office = Office(client, workers, runtime, clock)
    office.place("ann", "bob", team="hiring", department="people")
    office.place("cy", team="payroll", department="people")
    office.place("dan", team="web", department="product")
    workers.drain()
    return office


@pytest.fixture
def registered() -> Iterator[Register]:
    """Registers types of descriptors for one test."""
    before = dict(DESCRIPTORS)

    def registered(descriptor: type[Descriptor]) -> None:
        register(descriptor)
        NewAction.model_rebuild(force=True)

    yield registered
    DESCRIPTORS.clear()
    DESCRIPTORS.update(before)
    NewAction.model_rebuild(force=True)


@pytest.fixture(params=["before", "after"])
def interrupted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Interrupt:
    """Takes what is to happen once, right before the next items are written, or right after."""
    writes = "chalicelib.social.activity.feed.items.insert_missing"

    def once(interrupt: Callable[[], None]) -> None:
        def write(rows: Collection[Document], documents: list[Document]) -> None:
            monkeypatch.setattr(writes, insert_missing)
            if request.param == "before":
                interrupt()
            insert_missing(rows, documents)
            if request.param == "after":
                interrupt()

        monkeypatch.setattr(writes, write)

    return once
