"""Time zones by their IANA names: Python's database alone, since others have other versions."""

from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, Field, StringConstraints


@lru_cache(maxsize=1)
def names() -> frozenset[str]:
    """Return the names of all zones whose meaning does not depend on the machine."""
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
    return datetime.combine(day, time(), ZoneInfo(time_zone)).astimezone(UTC)
