"""The outside world of every function, as one frozen argument."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pymongo.database import Database

from chalicelib.bounds import BOUNDS, Bounds
from chalicelib.database import Document, connect
from chalicelib.memory import Memory
from chalicelib.messaging import Queues
from chalicelib.settings import Settings

# The longest run of a Lambda function: a call that began this long ago is over.
LONGEST_RUN = timedelta(minutes=15)


@dataclass(frozen=True)
class Runtime:
    """The database, the queues, the clock and the randomness of an app.

    `now` returns aware UTC with BSON's millisecond precision. No other code in Plaza reads the wall
    clock or draws a random number, so a test that pins both is deterministic. In each attempt of a
    call with an Idempotency-Key, `now` returns the time of the first attempt and `clock` the
    present time; other calls have no `clock`. `memory` lasts as long as the container.
    """

    database: Database[Document]
    queues: Queues
    now: Callable[[], datetime]
    random: random.Random
    settings: Settings
    bounds: Bounds = BOUNDS
    memory: Memory = field(default_factory=Memory, compare=False, repr=False)
    clock: Callable[[], datetime] | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Runtime":
        """Build the runtime of a Lambda container; connects to nothing yet."""
        settings = Settings.from_environment(environment)
        return cls(
            database=connect(settings),
            queues=Queues(settings.queue_prefix),
            now=utc_now,
            random=random.SystemRandom(),
            settings=settings,
        )


def utc_now() -> datetime:
    """Return the time in UTC, cut to the millisecond as BSON stores it."""
    return datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1_000, UTC)
