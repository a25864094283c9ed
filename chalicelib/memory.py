"""A container's memory between its calls, for values that may be a few seconds old."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

Value = TypeVar("Value")
# With more values, the one read longest ago is forgotten: it is the next to end.
MOST_REMEMBERED = 1_000


class Memory:
    """Values by key, each with a lifetime; two runtimes share nothing."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[datetime, datetime, Any]] = {}

    def recall(
        self, key: str, now: datetime, lifetime: timedelta, read: Callable[[], Value]
    ) -> Value:
        """Return the value of a key, read again after its `lifetime`."""
        held = self._held.get(key)
        # After the clock went back, a value of the future would live too long.
        if held is not None and held[0] <= now < held[1]:
            value: Value = held[2]
            return value
        value = read()
        self._held.pop(key, None)
        if len(self._held) >= MOST_REMEMBERED:
            del self._held[next(iter(self._held))]
        self._held[key] = (now, now + lifetime, value)
        return value

    def forget(self, key: str) -> None:
        """Forget a value that this container has changed."""
        self._held.pop(key, None)
