"""A container's record of an outage of SQS."""

import threading
import time
from collections.abc import Callable

# Long enough that an outage costs a container little of its time, and short enough that a queue
# that is back is used soon.
PAUSE_SECONDS = 5.0


class QueueOutage:
    """Pauses between sends while SQS does not answer.

    After a failure the container sends nothing for a pause, then one call tries again, and the
    others go on without. Otherwise an outage would hold up every call for as long as it lasts.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._over_at: float | None = None
        self._lock = threading.Lock()

    def may_try(self) -> bool:
        """Return whether to send now; of the calls after a pause only the first may."""
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
        """Record that SQS has not answered, or that it has too much to do."""
        self._over_at = self._clock() + PAUSE_SECONDS

    def end(self) -> None:
        """Record that SQS has answered."""
        self._over_at = None
