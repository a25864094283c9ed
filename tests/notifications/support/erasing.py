"""Erasures between the reads that an item follows from and its write."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from chalicelib.notifications import events
from chalicelib.runtime import Runtime
from tests.support.clock import Clock

Slow = Callable[[], list[datetime]]


@pytest.fixture
def slow(runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Slow:
    """From its call on, erasures end between the reads of events and their items, at its times."""
    agree, ends = events.agree, []

    def late(*given: Any) -> None:
        clock.advance(seconds=1)
        ends.append(runtime.now())
        clock.advance(seconds=1)
        agree(*given)

    def begin() -> list[datetime]:
        monkeypatch.setattr(events, "agree", late)
        return ends

    return begin
