"""A container's memory between its calls, for values that may be a few seconds old."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial, update_wrapper
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
# With more values, the value stored longest ago goes.
MOST_REMEMBERED = 1_000


class Memory:
    """Up to MOST_REMEMBERED values by key, each with a lifetime."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[datetime, datetime, Any]] = {}

    def recall(
        self, key: str, now: datetime, lifetime: timedelta, read: Callable[[], Value]
    ) -> Value:
        """Return the stored value of a key; without a current value, `read` and store one."""
        held = self._current(key, now)
        if held is not None:
            value: Value = held[2]
            return value
        return self.keep(key, now, lifetime, read())

    def look(self, key: str, now: datetime) -> Any:
        """Return the stored value of a key; None: no current value."""
        held = self._current(key, now)
        return None if held is None else held[2]

    def keep(self, key: str, now: datetime, lifetime: timedelta, value: Value) -> Value:
        """Store a value for `lifetime` in place of the last value, and return it."""
        self._held.pop(key, None)
        if len(self._held) >= MOST_REMEMBERED:
            # Another thread may forget the same one.
            self._held.pop(next(iter(self._held)), None)
        self._held[key] = (now, now + lifetime, value)
        return value

    def forget(self, key: str) -> None:
        """Remove the value of a key; call it after this container has changed the value."""
        self._held.pop(key, None)

    def _current(self, key: str, now: datetime) -> tuple[datetime, datetime, Any] | None:
        held = self._held.get(key)
        # If the clock went back, a value stored in the future would live too long.
        return held if held is not None and held[0] <= now < held[1] else None


class Remembered(Generic[Value]):
    """A function that reads a value; each container stores its results for `lifetime`, by `keys`.

    Its first argument is the runtime, with a `memory` and a clock `now`. The container that changes
    the value has to `forget` it. Other containers may return the old value for the lifetime.
    """

    def __init__(self, read: Callable[..., Value], lifetime: timedelta) -> None:
        self._read, self._lifetime = read, lifetime
        self._name = f"{read.__module__}.{read.__qualname__}"
        update_wrapper(self, read)

    def __call__(self, runtime: Any, *keys: str) -> Value:
        """Return the value of these keys, at most `lifetime` old."""
        memory: Memory = runtime.memory
        key, read = " ".join((self._name, *keys)), partial(self._read, runtime, *keys)
        return memory.recall(key, runtime.now(), self._lifetime, read)

    def forget(self, runtime: Any, *keys: str) -> None:
        """Forget the value of these keys."""
        runtime.memory.forget(" ".join((self._name, *keys)))


def remember(seconds: int) -> Callable[[Callable[..., Value]], Remembered[Value]]:
    """Return a decorator that makes a function a `Remembered` read for some seconds."""
    return lambda read: Remembered(read, timedelta(seconds=seconds))
