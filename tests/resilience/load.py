"""Callers at work while the primary is killed, and what they were answered."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.http_client import Reply
from tests.local.stack import wait_until
from tests.resilience.replica_set import ReplicaSet

CALLERS = 4
# How long the load goes on before and after the kill, in calls of each caller.
CALLS = int(os.environ.get("PLAZA_TEST_CALLS", "10"))
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


@dataclass
class Load:
    """The calls so far, of several threads."""

    call: Callable[[str], Reply]
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
    """When the primary was killed, and when there was another one."""

    began: float
    ended: float


def kill_during(load: Load, replica_set: ReplicaSet) -> Outage:
    """Kill the primary under the load, between `CALLS` of each caller; return the outage.

    It dies when every caller has waited for a majority for a while, or, were there no such
    waiting, when each has been answered some more: then those answers are what is lost.
    """

    def is_ahead() -> bool:
        frozen = [call for call in load.calls[answered:] if call.is_acknowledged]
        is_waiting = time.monotonic() - (load.calls[-1].ended) > 0.2
        return len(frozen) > 2 * CALLERS or is_waiting

    with load.running():
        load.wait_for_more(CALLERS * CALLS)
        answered = len(load.calls) + CALLERS
        dead = replica_set.kill_primary(is_ahead)
        began = time.monotonic()
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
