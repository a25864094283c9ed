"""The queries of reports."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from chalicelib.analytics.hits import DIMENSIONS
from chalicelib.analytics.reports.loss_answers import MAX_DAYS
from chalicelib.analytics.reports.report import MAX_SPAN, Group, Period, Report
from chalicelib.analytics.visitors.paths import Path, PathName
from chalicelib.analytics.visitors.sources import MAX_HOST_CHARACTERS
from chalicelib.http import Input, PageQuery
from chalicelib.instants import Instant
from chalicelib.sites.ids import SiteId

MAX_PATHS = 100
# Of all together: the gateway takes 10 KB of path and query.
MAX_PATHS_CHARACTERS = 4_000
_YEARS = range(2000, 2101)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("no time zone has this name") from None
    return name


def _in_years(day: date) -> date:
    if day.year not in _YEARS:
        raise ValueError(f"the year must be between {_YEARS.start} and {_YEARS.stop - 1}")
    return day


Zone = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_+/-]{1,64}$"),
    AfterValidator(_zone),
    Field(description="A time zone's name (IANA).", examples=["Asia/Shanghai"]),
]
Day = Annotated[date, AfterValidator(_in_years)]
Bound = Annotated[Instant | Day, Field(union_mode="left_to_right")]


class SpanQuery(PageQuery):
    """A span of time in a time zone, in periods."""

    start: Bound = Field(
        alias="from",
        description="Where the report begins: an instant with its offset, or a date for its "
        "midnight in `tz`.",
    )
    end: Bound = Field(
        alias="to",
        description="Before what it ends. A report by minute spans up to 2 days, by hour 62, by "
        "day 800, by week or month 3,700, by year 37,000.",
    )
    by: Period = Field("day", description="How long a period is, in `tz`.")
    tz: Zone = "UTC"

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        start, end = self.instant(self.start), self.instant(self.end)
        if not start < end <= start + MAX_SPAN[self.by]:
            raise ValueError(
                f"a report by {self.by} must start before it ends and span at most "
                f"{MAX_SPAN[self.by].days} days"
            )
        return self

    def instant(self, bound: datetime | date) -> datetime:
        """Return a bound as an instant in UTC."""
        if isinstance(bound, datetime):
            return bound
        return datetime.combine(bound, time(), ZoneInfo(self.tz)).astimezone(UTC)


_Value = Annotated[str, StringConstraints(min_length=1, max_length=MAX_HOST_CHARACTERS)]


class NameQuery(Input):
    """One name of a report, exactly as a report shows it."""

    path: PathName | None = Field(None, description="A page's path.")
    referrer: _Value | None = Field(None, description="The host of the page before.")
    campaign: _Value | None = Field(None, description="`source/medium/name`.")
    device: _Value | None = Field(None, description="A kind of device.")
    country: _Value | None = Field(None, description="A country (ISO 3166).")

    @property
    def names(self) -> dict[Group, str]:
        """Return the names by their groups."""
        found: dict[Group, str | None] = {"path": self.path}
        found |= {dimension: getattr(self, dimension) for dimension in DIMENSIONS}
        return {group: name for group, name in found.items() if name is not None}


class StatsQuery(SpanQuery, NameQuery):
    """The query of a report on hits, of all pages or sources, or of one."""

    group: Group | None = Field(
        None, description="What each period has a row of its own for; left out, one row for all."
    )

    @model_validator(mode="after")
    def _check_group(self) -> Self:
        asked = {*self.names, *([self.group] if self.group else [])}
        if len(asked) > 1:
            raise ValueError(
                "sources are counted for a whole site: name one page or one source, or group by it"
            )
        return self

    def report(self, site: str) -> Report:
        """Return what is asked for of a site."""
        span = self.instant(self.start), self.instant(self.end)
        named = next((name for group, name in self.names.items() if group != "path"), None)
        group = self.group if named is None else next(iter(self.names))
        return Report(site, *span, self.by, self.tz, self.path, group, named)


class HitsQuery(PageQuery):
    """The query of raw hits."""

    path: PathName | None = Field(None, description="The one page that is asked for.")
    start: Instant | None = Field(None, alias="from", description="The first hit's time.")
    end: Instant | None = Field(None, alias="to", description="Before which the last one was.")


class LossesQuery(Input):
    """A span of days (UTC)."""

    start: Bound = Field(alias="from", description="The first day, or an instant of it.")
    end: Bound = Field(
        alias="to", description=f"Before what the span ends, at most {MAX_DAYS} days later."
    )

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        start, end = self.span
        if not start < end <= start + timedelta(days=MAX_DAYS):
            raise ValueError(f"a span must start before it ends and have at most {MAX_DAYS} days")
        return self

    @property
    def span(self) -> tuple[datetime, datetime]:
        """Return the span's instants."""
        start, end = (
            each if isinstance(each, datetime) else datetime.combine(each, time(), UTC)
            for each in (self.start, self.end)
        )
        return start, end


class RemovalQuery(NameQuery):
    """The query that names what leaves the reports."""

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if len(self.names) != 1:
            raise ValueError("name one page, or one source")
        return self


def _split(value: str) -> tuple[str, ...]:
    paths = tuple(each for each in value.split(",") if each)
    if len(value) > MAX_PATHS_CHARACTERS or not 1 <= len(paths) <= MAX_PATHS:
        raise ValueError(
            f"there are 1 to {MAX_PATHS} paths, of {MAX_PATHS_CHARACTERS:,} characters together"
        )
    return paths


class PageCountsQuery(Input):
    """The query of counts that pages show."""

    site: SiteId
    paths: Annotated[
        tuple[Path, ...],
        BeforeValidator(
            _split, json_schema_input_type=Annotated[str, Field(max_length=MAX_PATHS_CHARACTERS)]
        ),
    ] = Field(
        description="Paths, 1 to 100, separated by commas; a comma in a path is `%2C`.",
    )
