"""Ids that Plaza makes: short, sortable by time, and safe in field paths and URLs."""

import base64
import random
from datetime import datetime

from pydantic import StringConstraints

ID_PATTERN = r"^[A-Za-z0-9_-]{16}$"
Id = StringConstraints(pattern=ID_PATTERN)


def new_id(now: datetime, rng: random.Random) -> str:
    """Return an ObjectId in 16 characters of base64url: 4 bytes of seconds, 8 of randomness.

    The alphabet is safe inside a MongoDB field path and inside a URL.
    """
    seconds = int(now.timestamp()).to_bytes(4, "big")
    return base64.urlsafe_b64encode(seconds + rng.randbytes(8)).decode("ascii")
