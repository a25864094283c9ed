"""How far each scheduled job over the reports has come."""

from datetime import datetime
from typing import TypedDict

from chalicelib.database import Collection


class Progress(TypedDict):
    """Until when a schedule has seen everything."""

    _id: str
    until: datetime


# How far each of the schedules that look at what is new has come.
PROGRESS = Collection("ad.progress", Progress)
