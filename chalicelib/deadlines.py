"""The time that an invocation has left: one owner, whom every call out of the process asks."""

import contextlib
import math
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

# Kept back from a call out of the process, so that its outcome can be stored and answered.
KEPT_SECONDS = 2.0


@dataclass
class _Deadline:
    """The end on the monotonic clock; `aside` counts a request's seconds on what can wait."""

    ends: float
    is_request: bool
    aside: float = 0.0


_current: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextlib.contextmanager
def bounded(seconds: float, *, is_request: bool = False) -> Iterator[None]:
    """Give an invocation so many seconds, counted from now."""
    token = _current.set(_Deadline(time.monotonic() + seconds, is_request))
    try:
        yield
    finally:
        _current.reset(token)


def remaining() -> float:
    """Return the invocation's seconds; infinite outside of one, and never negative."""
    deadline = _current.get()
    return math.inf if deadline is None else max(0.0, deadline.ends - time.monotonic())


def patience(seconds: float) -> float:
    """Return how long a call out of the process may take: its own limit, or the time left."""
    return max(0.0, min(seconds, remaining() - KEPT_SECONDS))


@contextlib.contextmanager
def aside(seconds: float) -> Iterator[float]:
    """Give the patience for work that can wait: a request has `seconds` for all of it together."""
    deadline = _current.get()
    if deadline is None or not deadline.is_request:
        yield patience(seconds)
        return
    began = time.monotonic()
    try:
        yield patience(max(0.0, seconds - deadline.aside))
    finally:
        deadline.aside += time.monotonic() - began
