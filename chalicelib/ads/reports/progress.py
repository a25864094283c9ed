"""The progress of the scheduled jobs over the reports, so that a run skips old days."""

from datetime import datetime
from typing import TypedDict

from chalicelib.database import Collection


class Progress(TypedDict):
    """The time up to which a schedule has seen everything."""

    _id: str
    until: datetime


# One document for each schedule that reads new days.
PROGRESS = Collection("ad.progress", Progress)
