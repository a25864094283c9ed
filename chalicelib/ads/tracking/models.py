"""Path and query parameters of beacons, clicks and conversions."""

from typing import Annotated

from pydantic import StringConstraints

from chalicelib.ads.tracking.tokens import MAX_CHARACTERS

Token = Annotated[str, StringConstraints(max_length=MAX_CHARACTERS)]


# `sendBeacon` sends a text as text/plain, a form as one of the others.
BEACON_TYPES = (
    "text/plain",
    "application/json",
    "application/x-www-form-urlencoded",
    "application/octet-stream",
)
