"""The progress of scheduled jobs over the reports: each run reads only new and changed days."""

from datetime import datetime
from typing import Annotated, NotRequired, TypedDict

from chalicelib.database import Collection
from chalicelib.database.validators import AtMost

# The most days in `again`: 27 years of days.
MOST_AGAIN = 10_000


class PlaceInDay(TypedDict):
    """A schedule's position in a day: the last campaign and site that it has read.

    changed: the day has changed meanwhile; after the last campaign, the schedule reads the
    whole day once more.
    """

    day: datetime
    campaign_id: str
    site_id: str
    changed: NotRequired[bool]


class Progress(TypedDict):
    """The progress of a schedule: it has found every day that changed before `until`.

    again: the found days that the schedule has yet to finish.
    again_since: for the days in `again`, the schedule reads the changes from this time on.
    at: the schedule's position within the day in progress.
    """

    _id: str
    until: datetime
    again: NotRequired[Annotated[list[datetime], AtMost(MOST_AGAIN)]]
    again_since: NotRequired[datetime]
    at: NotRequired[PlaceInDay]


# One document for each schedule that reads new days.
PROGRESS = Collection("ad.progress", Progress)
