"""Spans of reports, whose bounds are instants or dates."""

from datetime import date, datetime, timedelta
from typing import Final

from chalicelib import time_zones
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.time_zones import Period

# The longest span of a report, so that its read is bounded.
MAX_SPAN: Final[dict[Period, timedelta]] = {
    "minute": timedelta(days=2),
    "hour": timedelta(days=62),
    "day": timedelta(days=800),
    "week": timedelta(days=3_700),
    "month": timedelta(days=3_700),
    "year": timedelta(days=37_000),
}


# The most hours between midnight in a zone and midnight in UTC.
_MOST_OFFSET = timedelta(hours=14)


def check(
    start: datetime | date, end: datetime | date, by: Period, time_zone: str | None = "UTC"
) -> None:
    """Raise ValueError unless a report starts before it ends, and spans no more than `MAX_SPAN`.

    Between two dates it counts days, whatever hours a change of the clock adds. `time_zone` None:
    the zone is not known yet, so a date beside an instant has 14 hours of slack; `span` decides.
    """
    length, slack = _length(start, end, time_zone or "UTC"), timedelta()
    if time_zone is None and isinstance(start, datetime) != isinstance(end, datetime):
        slack = _MOST_OFFSET
    if not timedelta() < length + slack or length - slack > MAX_SPAN[by]:
        raise ValueError(
            f"a report by {by} must start before it ends and span at most {MAX_SPAN[by].days} days"
        )


def _length(start: datetime | date, end: datetime | date, time_zone: str) -> timedelta:
    if isinstance(start, datetime) or isinstance(end, datetime):
        return time_zones.instant(end, time_zone) - time_zones.instant(start, time_zone)
    return end - start


def span(start: datetime | date, end: datetime | date, time_zone: str) -> tuple[datetime, datetime]:
    """Return the bounds of a report as instants.

    Raises InvalidRequest unless the report starts before it ends in the zone.
    """
    first, last = time_zones.instant(start, time_zone), time_zones.instant(end, time_zone)
    if first >= last:
        detail = f"in {time_zone} the report ends before it starts"
        raise InvalidRequest(errors=[FieldError("to", "before_from", detail)])
    return first, last
