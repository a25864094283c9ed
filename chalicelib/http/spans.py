"""Spans of reports, whose bounds are instants or dates."""

from datetime import date, datetime

from chalicelib import time_zones
from chalicelib.errors import FieldError, InvalidRequest


def span(start: datetime | date, end: datetime | date, time_zone: str) -> tuple[datetime, datetime]:
    """Return the bounds of a report as instants.

    Raises InvalidRequest unless it starts before it ends, which the zone decides where one bound is
    a date.
    """
    first, last = time_zones.instant(start, time_zone), time_zones.instant(end, time_zone)
    if first >= last:
        detail = f"in {time_zone} the report ends before it starts"
        raise InvalidRequest(errors=[FieldError("to", "before_from", detail)])
    return first, last
