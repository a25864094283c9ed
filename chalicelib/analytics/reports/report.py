"""The parameters of a report, and the shape of its rows."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, Literal, TypedDict

from chalicelib import time_zones
from chalicelib.analytics.hits import day_of
from chalicelib.time_zones import Period

Group = Literal["path", "referrer", "campaign", "device", "country"]
BY_DAYS: Final[tuple[Period, ...]] = ("day", "week", "month", "year")


class Row(TypedDict):
    """The counts of a period; `key` is the row's path or source, empty without a group."""

    period: datetime
    key: str
    hits: int
    visitors: int
    bots: int
    feeds: int


@dataclass(frozen=True)
class Report:
    """The parameters of a report: a site's rows from `start` on and before `end`, in a zone."""

    site: str
    start: datetime
    end: datetime
    by: Period
    tz: str = "UTC"
    path: str | None = None
    group: Group | None = None
    # The report's only source, a value of `group`; None: all sources. For one page, see `path`.
    value: str | None = None

    @property
    def is_by_days(self) -> bool:
        """Return whether whole UTC days make up all periods."""
        at_midnight = day_of(self.start) == self.start and day_of(self.end) == self.end
        return self.tz == "UTC" and self.by in BY_DAYS and at_midnight

    @property
    def is_of_one(self) -> bool:
        """Return whether all rows are about one path, or about the whole site."""
        return self.group is None or (self.group == "path" and self.path is not None)

    @cached_property
    def edges(self) -> list[datetime]:
        """Return the starts of the periods in UTC; only for periods of hours or longer."""
        return time_zones.edges(self.by, self.start, self.end, self.tz)

    @property
    def has_utc_days(self) -> bool:
        """Return whether all periods start at midnight in UTC; visitors count by the UTC day."""
        return all(edge == day_of(edge) for edge in self.edges)

    @property
    def needs_minutes(self) -> bool:
        """Return whether whole hours are too coarse for the periods of this zone."""
        if self.by == "minute":
            return True
        return any(edge.minute or edge.second for edge in (self.start, self.end, *self.edges))
