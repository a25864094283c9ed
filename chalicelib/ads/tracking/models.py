"""Path parameters of beacons and clicks."""

from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.ads.tracking.tokens import MAX_CHARACTERS

Token = Annotated[
    str,
    StringConstraints(max_length=MAX_CHARACTERS),
    Field(description="What an address of a served ad ends with; it is good for a day."),
]


# `sendBeacon` sends a text as text/plain, a form as one of the others.
BEACON_TYPES = (
    "text/plain",
    "application/json",
    "application/x-www-form-urlencoded",
    "application/octet-stream",
)
