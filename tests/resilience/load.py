"""Callers at work while the primary is killed, and what they were answered."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from local.queues import Poller
from tests.local.stack import wait_until
from tests.resilience.replica_set import ReplicaSet
from tests.support.http_client import Reply

CALLERS = 4
# How long the load goes on before and after the kill, in calls of each caller.
CALLS = int(os.environ.get("PLAZA_TEST_CALLS", "10"))
# Nothing is done for so long: all wait for a majority.
WAIT_SECONDS = 1.0
STEP_DOWN_SECONDS = 30
# A call that was under way when the new primary came may take so much longer.
SLACK_SECONDS = 2.0


@dataclass(frozen=True)
class Call:
    """One call: when it began and ended by the monotonic clock, and its answer's status."""

    name: str
    began: float
    ended: float
    status: int

    @property
    def is_acknowledged(self) -> bool:
        return self.status < 300

    @property
    def caller(self) -> str:
        return self.name.partition("-")[0]


class Workers(Poller):
    """The poller of a queue, which counts the messages that were handled."""

    handled = 0

    def poll_once(self, wait_seconds: int = 0) -> int:
        received = super().poll_once(wait_seconds)
        self.handled += received
        return received


@dataclass
class Load:
    """The calls so far, of several threads."""

    call: Callable[[str], Reply]
    workers: Workers | None = None
    calls: list[Call] = field(default_factory=list)
    failure: BaseException | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    def acknowledged(self) -> list[str]:
        return [call.name for call in self.calls if call.is_acknowledged]

    def refused(self) -> list[Call]:
        return [call for call in self.calls if not call.is_acknowledged]

    def run(self, caller: int) -> None:
        number = 0
        try:
            while not self._stop.is_set():
                name, began = f"{caller}-{number}", time.monotonic()
                status = self.call(name).status
                self.calls.append(Call(name, began, time.monotonic(), status))
                number += 1
        except BaseException as failure:
            self.failure = failure
            raise

    def wait_for_more(self, count: int) -> None:
        wanted = len(self.acknowledged()) + count

        def enough() -> bool:
            assert self.failure is None, self.failure
            return len(self.acknowledged()) >= wanted

        wait_until(enough, f"{count} calls more are answered well")

    def wait_alone(self) -> None:
        """Return when all wait for a majority, now that there is none.

        Were there no such waiting, work would go on and on: then too it is time to kill the
        primary, since what was done alone is lost with it.
        """
        first = last = self.progress()
        changed = time.monotonic()

        def waits_or_goes_on() -> bool:
            nonlocal last, changed
            if (done := self.progress()) != last:
                last, changed = done, time.monotonic()
            return last > first + 5 * CALLERS or time.monotonic() - changed > WAIT_SECONDS

        wait_until(waits_or_goes_on, "all wait for a majority")

    def progress(self) -> int:
        """Return how much has been done: by the workers where there are any, else for callers."""
        return len(self.calls) if self.workers is None else self.workers.handled

    @contextmanager
    def running(self) -> Iterator[None]:
        threads = [threading.Thread(target=self.run, args=(each,)) for each in range(CALLERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()


@dataclass(frozen=True)
class Outage:
    """From when on no majority followed the primary, and when there was another primary."""

    began: float
    ended: float


def kill_during(load: Load, replica_set: ReplicaSet) -> Outage:
    """Kill the primary under the load, between `CALLS` of each caller; return the outage."""
    with load.running():
        load.wait_for_more(CALLERS * CALLS)
        began = time.monotonic()
        dead = replica_set.kill_primary(load.wait_alone)
        replica_set.primary()
        outage = Outage(began, time.monotonic())
        load.wait_for_more(CALLERS * CALLS)
    assert dead.process is None
    replica_set.whole()
    return outage


def assert_bounded_by(outage: Outage, load: Load) -> None:
    """No call failed that did not meet the outage, and none took much longer than it."""
    length = outage.ended - outage.began
    for call in load.calls:
        took = call.ended - call.began
        assert took <= length + SLACK_SECONDS, call
        if not call.is_acknowledged:
            assert call.status == 503, call
            assert call.ended >= outage.began, call
            assert call.began <= outage.ended + SLACK_SECONDS, call


def step_down_during(load: Load, replica_set: ReplicaSet) -> None:
    """Have the primary hand over under the load, as in maintenance."""
    with load.running():
        load.wait_for_more(CALLERS * CALLS)
        before = replica_set.primary()
        before.ask({"replSetStepDown": STEP_DOWN_SECONDS})
        wait_until(lambda: replica_set.primary() is not before, "another member is the primary")
        load.wait_for_more(CALLERS * CALLS)
