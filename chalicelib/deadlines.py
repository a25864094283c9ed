"""The remaining time of an invocation, which bounds every call out of the process.

After a request failed for lack of the database, the container's next requests wait for the
database only briefly.
"""

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import pymongo
from pymongo import MongoClient

# The time left after a call out of the process: to store its outcome and to send the answer.
RESERVE_SECONDS = 2.0
# API Gateway stops waiting after 29 s, and a cold start may use some of them; an election usually
# ends within 12 s.
REQUEST_SECONDS = 20.0
# Long enough to find a server that has come back: the driver looks again after half a second.
SHORT_SECONDS = 1.0


@dataclass
class _Deadline:
    """An invocation's end on the monotonic clock; `aside`: seconds of deferrable work so far."""

    ends: float
    is_request: bool
    aside: float = 0.0


_current: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextlib.contextmanager
def bound(seconds: float, *, is_request: bool = False) -> Iterator[None]:
    """Bound the invocation by `seconds` from now."""
    token = _current.set(_Deadline(time.monotonic() + seconds, is_request))
    try:
        yield
    finally:
        _current.reset(token)


def remaining() -> float:
    """Return the invocation's remaining seconds, at least 0; infinite outside an invocation."""
    deadline = _current.get()
    return math.inf if deadline is None else max(0.0, deadline.ends - time.monotonic())


def patience(seconds: float) -> float:
    """Return a time-out: `seconds`, or less to end `RESERVE_SECONDS` before the invocation ends."""
    return max(0.0, min(seconds, remaining() - RESERVE_SECONDS))


def share(part: float) -> Callable[[], bool]:
    """Return a function that returns False once this part of the remaining time is over."""
    until = remaining() * (1 - part)
    return lambda: until == math.inf or remaining() > until


def within(part: float) -> contextlib.AbstractContextManager[None]:
    """Bound the database calls of a block by a part of the remaining time.

    Otherwise one slow query could use up the time of all later work of the invocation.
    """
    # The driver reads zero as no time-out.
    seconds = max(remaining() * part, 0.000_001)
    return contextlib.nullcontext() if seconds == math.inf else pymongo.timeout(seconds)


@contextlib.contextmanager
def aside(seconds: float) -> Iterator[float]:
    """Yield the time-out of deferrable work; all such work of a request shares `seconds`."""
    deadline = _current.get()
    if deadline is None or not deadline.is_request:
        yield patience(seconds)
        return
    began = time.monotonic()
    try:
        yield patience(max(0.0, seconds - deadline.aside))
    finally:
        deadline.aside += time.monotonic() - began


class Outage:
    """A container's record of an outage of its database.

    Before the outage is known, a request waits as long as an election takes. Once a request has
    waited in vain, each later request of the container waits for at most a second, until the
    driver finds a primary. Otherwise an outage would block every container all the time.
    """

    def __init__(self, client: MongoClient[Any]) -> None:
        self._client = client
        self._is_suspected = False

    def patience(self) -> float:
        """Return the seconds that the next request may use for the database."""
        if self._is_suspected and self._client.topology_description.has_writable_server():
            self._is_suspected = False
        return SHORT_SECONDS if self._is_suspected else REQUEST_SECONDS

    def suspect(self) -> None:
        """Record that a request failed with 503, perhaps for lack of the database."""
        self._is_suspected = True
