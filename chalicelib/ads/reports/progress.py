"""The progress of the scheduled jobs over the reports, so that a run skips old days."""

from datetime import datetime
from typing import Annotated, NotRequired, TypedDict

from chalicelib.database import Collection
from chalicelib.database.validators import AtMost

# The weeks, months and years of a century.
MOST_AGAIN = 10_000


class Progress(TypedDict):
    """The time up to which a schedule has seen everything.

    again: days before it that the schedule has yet to see once more, with their counts since
    `again_since`.
    """

    _id: str
    until: datetime
    again: NotRequired[Annotated[list[datetime], AtMost(MOST_AGAIN)]]
    again_since: NotRequired[datetime]


# One document for each schedule that reads new days.
PROGRESS = Collection("ad.progress", Progress)
