"""The remaining time of an invocation, which bounds every call out of the process."""

import contextlib
import math
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

# The reserve after a call out of the process, to store its outcome and answer.
KEPT_SECONDS = 2.0


@dataclass
class _Deadline:
    """The end on the monotonic clock; `aside` counts a request's seconds of deferrable work."""

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
    """Return the time for a call out of the process: `seconds`, or less if less is left."""
    return max(0.0, min(seconds, remaining() - KEPT_SECONDS))


@contextlib.contextmanager
def aside(seconds: float) -> Iterator[float]:
    """Yield the patience for deferrable work; a request has `seconds` for all of it together."""
    deadline = _current.get()
    if deadline is None or not deadline.is_request:
        yield patience(seconds)
        return
    began = time.monotonic()
    try:
        yield patience(max(0.0, seconds - deadline.aside))
    finally:
        deadline.aside += time.monotonic() - began
