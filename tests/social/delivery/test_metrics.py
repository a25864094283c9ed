"""What CloudWatch counts of a fan-out: how many readers it reached, and that it failed."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.database import NotInserted
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import DELIVERIES, FAN_OUTS_FAILED, Metrics
from chalicelib.social.jobs import handle
from chalicelib.social.messages import Deliver
from chalicelib.social.timelines.references import NewsItems
from tests.social.support.bounds import CHUNKS_OF_TWO
from tests.social.support.drivers import Town

pytestmark = CHUNKS_OF_TWO


class Recorder(logging.Handler):
    """Keeps the records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def counted(self, metrics: Metrics) -> list[float]:
        """Return what was counted by metrics of one name."""
        (name,) = metrics.units
        return [
            each.fields[name] for each in self.records if getattr(each, "metrics", None) is metrics
        ]


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    handler = Recorder()
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)


def test_every_chunk_says_how_many_readers_it_reached(
    town: Town, readers: list[str], recorder: Recorder
) -> None:
    town.publish()
    town.workers.drain()

    assert sum(recorder.counted(DELIVERIES)) == len(readers)
    assert not recorder.counted(FAN_OUTS_FAILED)


@pytest.mark.parametrize(
    "chunk_readers",
    [
        pytest.param(number, marks=pytest.mark.bounds(social={"chunk_readers": number}))
        for number in (2, 5)
    ],
)
def test_readers_that_two_workers_reached_are_counted_once(
    town: Town,
    readers: list[str],
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    chunk_readers: int,
) -> None:
    runtime, courier = town.with_courier()
    message: Any = Deliver(post_id=town.publish())
    if chunk_readers < len(readers):
        handle(runtime, message)
        message = courier.take()[0]
    add = NewsItems.add

    def overtaken(*args: Any) -> None:
        monkeypatch.setattr(NewsItems, "add", add)
        town.let_lease_expire()
        handle(runtime, message)
        add(*args)

    monkeypatch.setattr(NewsItems, "add", overtaken)
    handle(runtime, message)

    assert recorder.counted(DELIVERIES) == [chunk_readers]


def test_a_failed_fan_out_is_counted_once(
    town: Town, readers: list[str], recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise NotInserted("2 refused, code 121")

    assert readers
    monkeypatch.setattr(NewsItems, "add", broken)
    town.publish()
    town.workers.drain()
    for _ in range(6):
        town.sweep_expired()

    assert recorder.counted(FAN_OUTS_FAILED) == [1]
    assert not recorder.counted(DELIVERIES)
