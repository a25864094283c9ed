"""A container's record of an outage of SQS."""

import threading
import time
from collections.abc import Callable

# Long: an outage costs a container little time. Short: a recovered queue is soon in use.
PAUSE_SECONDS = 5.0


class QueueOutage:
    """Pauses between sends while SQS does not answer.

    After a failure the container sends nothing for a pause. Then one call tries again, while the
    others go on without sending. Otherwise an outage would hold up every call all the time.
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
        """Record that SQS did not answer, or is overloaded."""
        self._over_at = self._clock() + PAUSE_SECONDS

    def end(self) -> None:
        """Record that SQS answered."""
        self._over_at = None
