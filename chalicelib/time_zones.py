"""Time zones by their IANA names, and the calendar periods in a zone.

Only Python computes with zones, because MongoDB may have another version of the zone database:
MongoDB groups by the start instants of the periods (`edges`).
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, Field, StringConstraints


@lru_cache(maxsize=1)
def names() -> frozenset[str]:
    """Return the names of all zones, without the names that depend on the machine."""
    return frozenset(available_timezones() - {"localtime", "Factory"})


def check(name: str) -> str:
    """Return the name of a zone; raises ValueError for an unknown zone."""
    if name not in names():
        raise ValueError("not a time zone of the IANA database")
    return name


Zone = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_+/-]{1,64}$"),
    AfterValidator(check),
    Field(description="A time zone's name (IANA).", examples=["Asia/Shanghai"]),
]


def midnight(day: date, time_zone: str) -> datetime:
    """Return a day's first instant in UTC, also where a clock jumps over midnight or repeats it."""
    return hour_of(day, 0, time_zone)


def hour_of(day: date, hour: int, time_zone: str) -> datetime:
    """Return the first instant, in UTC, of an hour of a day in a zone.

    An hour that the clock jumps over comes later by the length of the jump.
    """
    return datetime.combine(day, time(hour), ZoneInfo(time_zone)).astimezone(UTC)


def instant(bound: datetime | date, time_zone: str) -> datetime:
    """Return a bound of a report as an instant: a date is its midnight in a zone."""
    return bound if isinstance(bound, datetime) else midnight(bound, time_zone)


Period = Literal["minute", "hour", "day", "week", "month", "year"]
# Since 1972, the offset of every zone is a multiple of 15 minutes.
_QUARTER = timedelta(minutes=15)
_LONGEST: dict[Period, timedelta] = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=31),
    "year": timedelta(days=366),
}


def edges(by: Period, start: datetime, end: datetime, tz: str) -> list[datetime]:
    """Return the start of each period that overlaps a span, in UTC; the first may precede `start`.

    `by`: `hour` or longer. An hour also ends where the zone's offset changes within it.
    """
    found = _hours(start, end, tz) if by == "hour" else _days(by, start, end, tz)
    # Where a zone skipped a day to cross the date line, two days have the same start.
    return list(dict.fromkeys(found))


def _days(by: Period, start: datetime, end: datetime, tz: str) -> Iterator[datetime]:
    day = _first_day(by, start.astimezone(ZoneInfo(tz)).date())
    while (edge := midnight(day, tz)) < end:
        yield edge
        day = _first_day(by, day + _LONGEST[by])


def _first_day(by: Period, day: date) -> date:
    """Return the first day of the period that contains a day; weeks begin on Mondays (ISO 8601)."""
    match by:
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "year":
            return day.replace(month=1, day=1)
        case _:
            return day


def _hours(start: datetime, end: datetime, tz: str) -> Iterator[datetime]:
    zone = ZoneInfo(tz)

    def hour(at: datetime) -> Any:
        local = at.astimezone(zone)
        return local.date(), local.hour, local.utcoffset()

    edge = start.replace(minute=start.minute // 15 * 15, second=0, microsecond=0)
    while hour(edge - _QUARTER) == hour(edge):
        edge -= _QUARTER
    yield edge
    while (edge := edge + _QUARTER) < end:
        if hour(edge) != hour(edge - _QUARTER):
            yield edge


def end_of(by: Period, edge: datetime, tz: str) -> datetime:
    """Return the end of the period that starts at an edge."""
    return edges(by, edge, edge + 2 * _LONGEST[by], tz)[1]


def start_of(time: Any, edges: Sequence[datetime]) -> Any:
    """Return the aggregation expression of the last edge up to `time`: a binary search.

    `edges`: sorted, one or more. An earlier `time` gets the first edge.
    """
    if len(edges) == 1:
        return edges[0]
    middle = len(edges) // 2
    before, after = start_of(time, edges[:middle]), start_of(time, edges[middle:])
    return {"$cond": [{"$lt": [time, edges[middle]]}, before, after]}
