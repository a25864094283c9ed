"""A clock that moves only when a test says so."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Clock:
    """A clock that moves only when a test says so."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def advance(self, **units: float) -> None:
        self.time += timedelta(**units)
