"""The progress of the scheduled jobs over the reports, so that a run skips old days."""

from datetime import datetime
from typing import Annotated, NotRequired, TypedDict

from chalicelib.database import Collection
from chalicelib.database.validators import AtMost

# The weeks, months and years of a century.
MOST_AGAIN = 10_000


class PlaceInDay(TypedDict):
    """The last campaign of a day, and site of the campaign, that the schedule has seen.

    changed: the day changed meanwhile; the schedule sees it once more after its end.
    """

    day: datetime
    campaign_id: str
    site_id: str
    changed: NotRequired[bool]


class Progress(TypedDict):
    """The time up to which a schedule has seen everything.

    again: days before it that the schedule has yet to see once more, with their counts since
    `again_since`. at: its place within the first of them.
    """

    _id: str
    until: datetime
    again: NotRequired[Annotated[list[datetime], AtMost(MOST_AGAIN)]]
    again_since: NotRequired[datetime]
    at: NotRequired[PlaceInDay]


# One document for each schedule that reads new days.
PROGRESS = Collection("ad.progress", Progress)
