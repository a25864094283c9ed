"""A container's record of an outage of SQS."""

import threading
import time
from collections.abc import Callable

# Long enough that an outage costs a container little time; short enough to resume soon.
PAUSE_SECONDS = 5.0


class QueueOutage:
    """Pauses between sends while SQS does not answer.

    After a failure the container sends nothing for PAUSE_SECONDS. Then one call tries again, while
    all others send nothing. Otherwise each call would wait for its time-out during an outage.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._over_at: float | None = None
        self._lock = threading.Lock()

    def may_try(self) -> bool:
        """Return whether to send now: after a pause, only the first call may."""
        if self._over_at is None:
            return True
        with self._lock:
            now = self._clock()
            if self._over_at is not None:
                if now < self._over_at:
                    return False
                self._over_at = now + PAUSE_SECONDS
            return True

    def suspect(self) -> None:
        """Begin a pause: SQS did not answer, or is overloaded."""
        self._over_at = self._clock() + PAUSE_SECONDS

    def end(self) -> None:
        """Record that SQS answered."""
        self._over_at = None
