"""The queries of reports, the shapes of their rows, and rows as CSV."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, NotRequired, Self

from pydantic import Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from chalicelib.analytics.hits import DIMENSIONS, Device, Kind, StoredHit
from chalicelib.analytics.reports.people import MAX_PATHS as MAX_CURRENT_PATHS
from chalicelib.analytics.reports.people import Now
from chalicelib.analytics.reports.report import BY_DAYS, Group, Report, Row
from chalicelib.analytics.visitors.paths import MAX_BYTES as MAX_PATH_BYTES
from chalicelib.analytics.visitors.paths import Path, PathName
from chalicelib.analytics.visitors.sources import MAX_HOST_CHARACTERS
from chalicelib.http import MAX_PAGE, Input, PageQuery, Text, spans
from chalicelib.http.batches import batch_of
from chalicelib.http.paging import Next
from chalicelib.http.responses import MAX_BYTES
from chalicelib.instants import Bound, Instant
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownLine, ShownName
from chalicelib.time_zones import Period, Zone

MAX_PATHS = 100


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
    tz: Zone | None = Field(
        None,
        description="The time zone of the periods and of dates (IANA). Left out: the site's.",
    )

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        # Without `tz`, only the route knows the zone; its midnights are up to 14 hours from UTC's.
        spans.check(self.start, self.end, self.by, self.tz)
        return self


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
        """Return the given names by group."""
        found: dict[Group, str | None] = {"path": self.path}
        found |= {dimension: getattr(self, dimension) for dimension in DIMENSIONS}
        return {group: name for group, name in found.items() if name is not None}


class StatsQuery(SpanQuery, NameQuery):
    """The query of a report on hits: of a site, its pages or sources, or one page or source."""

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

    def report(self, site: str, time_zone: str) -> Report:
        """Return the report of the query; `time_zone` is the zone of a query without `tz`.

        Raises InvalidRequest for a span that is empty in the zone.
        """
        tz = self.tz or time_zone
        bounds = spans.span(self.start, self.end, tz)
        named = next((name for group, name in self.names.items() if group != "path"), None)
        group = self.group if named is None else next(iter(self.names))
        return Report(site, *bounds, self.by, tz, self.path, group, named)


class HitsQuery(PageQuery):
    """The query of raw hits."""

    path: PathName | None = Field(None, description="The one page that is asked for.")
    start: Instant | None = Field(None, alias="from", description="The first hit's time.")
    end: Instant | None = Field(None, alias="to", description="Before which the last one was.")


class RemovalQuery(NameQuery):
    """The query that names what leaves the reports."""

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if len(self.names) != 1:
            raise ValueError("name one page, or one source")
        return self


class PageCountsQuery(Input):
    """The query of counts that pages show."""

    site: SiteId
    paths: Annotated[tuple[Path, ...], batch_of(Path, MAX_PATHS, str)] = Field(
        description="Paths, 1 to 100, separated by commas; a comma in a path is `%2C`. The answer "
        "leaves out a path that no page can have.",
    )


_OF_DAYS: tuple[Period, ...] = ("day",)
ShownPath = Annotated[str, Field(max_length=MAX_PATH_BYTES)]
CountsByPath = Annotated[dict[ShownPath, int], Field(max_length=MAX_PATHS)]


class StatsCsv(Text):
    """200: a report as a file (RFC 4180)."""

    media_type = "text/csv"
    max_bytes = MAX_BYTES


class StatsRow(TypedDict):
    """The counts of a period; with a group, of one page or source in the period."""

    period: Annotated[datetime, Field(description="When the period starts.")]
    path: NotRequired[ShownPath]
    referrer: NotRequired[
        Annotated[
            str, Field(max_length=MAX_HOST_CHARACTERS, description="The host of the page before.")
        ]
    ]
    campaign: NotRequired[
        Annotated[ShownLine, Field(description="`source/medium/name`, of `utm_*`.")]
    ]
    device: NotRequired[ShownName]
    country: NotRequired[ShownName]
    hits: Annotated[int, Field(description="Views of people.")]
    visitors: NotRequired[
        Annotated[
            int,
            Field(
                description="Visitors of the day, by day of UTC: who came on two days counts twice "
                "in any longer time."
            ),
        ]
    ]
    visitor_days: NotRequired[
        Annotated[
            int,
            Field(
                description="The sum of each UTC day's visitors: nobody is known for longer. A day "
                "of another zone has parts of two."
            ),
        ]
    ]
    bots: Annotated[int, Field(description="Hits of bots; none of the other counts has them.")]
    feeds: Annotated[int, Field(description="Hits of feed readers, which people read by.")]


class StatsPage(TypedDict):
    """A page of a report, in the order of period and group."""

    rows: Annotated[list[StatsRow], Field(max_length=MAX_PAGE)]
    next: Next


class PathViews(TypedDict):
    """A page that is being read."""

    path: ShownPath
    hits: int


class NowAnswer(TypedDict):
    """The last five minutes of a site."""

    visitors: int
    paths: Annotated[list[PathViews], Field(max_length=MAX_CURRENT_PATHS)]


class HitAnswer(TypedDict):
    """A raw hit; what was not known of it is left out."""

    id: Annotated[str, Field(max_length=64)]
    at: datetime
    path: ShownPath
    kind: Kind
    referrer: NotRequired[Annotated[str, Field(max_length=MAX_HOST_CHARACTERS)]]
    campaign: NotRequired[ShownLine]
    visitor: NotRequired[
        Annotated[
            ShownName, Field(description="Good for one day, and made of nothing that is kept.")
        ]
    ]
    user_id: NotRequired[Annotated[str, Field(max_length=64)]]
    device: NotRequired[Device]
    country: NotRequired[ShownName]
    node: NotRequired[Annotated[str, Field(pattern=r"^[A-Za-z0-9._~:-]{1,256}$")]]
    title: NotRequired[ShownLine]


class HitsPage(TypedDict):
    """A page of raw hits, the earliest first."""

    hits: Annotated[list[HitAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def stats_row(row: Row, report: Report) -> StatsRow:
    """Return the API's form of a row."""
    shown: dict[str, Any] = {"period": row["period"]}
    if report.group is not None:
        shown[report.group] = row["key"]
    shown["hits"] = row["hits"]
    if name := _visitors(report):
        shown[name] = row["visitors"]
    answer: Any = {**shown, "bots": row["bots"], "feeds": row["feeds"]}
    return answer  # type: ignore[no-any-return]


def columns_of(report: Report) -> list[str]:
    """Return the fields of a report's rows, in order."""
    group = [report.group] if report.group else []
    visitors = [name] if (name := _visitors(report)) else []
    return ["period", *group, "hits", *visitors, "bots", "feeds"]


def _visitors(report: Report) -> str | None:
    """Return the field of a report's visitors, who count by UTC day; None by hour or minute."""
    if report.by in _OF_DAYS and report.has_utc_days:
        return "visitors"
    return "visitor_days" if report.by in BY_DAYS else None


def now_answer(now: Now) -> NowAnswer:
    """Return the API's form of the last five minutes."""
    return {
        "visitors": now.visitors,
        "paths": [{"path": path, "hits": hits} for path, hits in now.paths],
    }


def hit_answer(hit: StoredHit) -> HitAnswer:
    """Return the API's form of a raw hit."""
    names = {"ref": "referrer", "user": "user_id"}
    rest = ("ref", "campaign", "visitor", "user", "device", "country", "node", "title")
    fields: Mapping[str, Any] = hit
    known = {names.get(name, name): fields[name] for name in rest if name in fields}
    answer: Any = {
        "id": hit["_id"].partition(":")[2],
        "at": hit["ts"],
        "path": hit["path"],
        "kind": hit["kind"],
        **known,
    }
    return answer  # type: ignore[no-any-return]
