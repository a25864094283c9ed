"""The end of a process at a chosen step."""

from typing import Any

import pytest

from chalicelib.comments.stores import promotion


class Crash(BaseException):
    """The process ends here: nothing after it runs, not even what handles exceptions."""


def crash(*_: object, **__: object) -> Any:
    """End the process, in place of a step."""
    raise Crash


def crash_at(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """End the process at a step of a move."""
    monkeypatch.setattr(promotion, step, crash)
