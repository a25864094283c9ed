"""The interface to the reports of campaigns and sites."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple, NotRequired, Self

from pydantic import Field, model_validator
from pymongo.database import Database
from typing_extensions import TypedDict

from chalicelib.ads.ids import CampaignId, PartId, advertiser_of
from chalicelib.ads.permissions import check_advertiser
from chalicelib.ads.reports import queries
from chalicelib.ads.reports.queries import (
    Group,
    Money,
    Owner,
    ReportScope,
    SummedRow,
)
from chalicelib.database import Document
from chalicelib.errors import FieldError, ReportTooLarge
from chalicelib.http import Ok, PageQuery, Request, Route, Text, responses, spans
from chalicelib.http.callers import Advertiser, Publisher
from chalicelib.http.paging import Cursors, Next
from chalicelib.http.responses import MAX_BYTES
from chalicelib.instants import Bound
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher
from chalicelib.spreadsheets import as_csv
from chalicelib.time_zones import Period, Zone


class ReportQuery(PageQuery):
    """The query of a report of the periods that start at or after `from`, and before `to`."""

    start: Bound = Field(
        alias="from",
        description="The first period starts at this time or after it: an instant with its "
        "offset, or a date for its midnight in `tz`.",
    )
    end: Bound = Field(
        alias="to",
        description="The last period starts before this time. A report by minute spans up to 2 "
        "days, by hour 62, by day 800, by week or month 3,700, by year 37,000.",
    )
    by: Period = Field("day", description="How long a period is, in `tz`.")
    group: Group | None = Field(
        None, description="What each period has a row of its own for; left out, one row for all."
    )

    tz: Zone | None = Field(
        None,
        description="The time zone of the periods and of dates (IANA). Left out: a campaign's own, "
        "in which its budget has its days; UTC for a site.",
    )

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        # Without `tz`, the time zone is unknown here: `check` leaves a slack of up to 14 hours.
        # With the time zone, `_scope` checks that the report starts before its end.
        spans.check(self.start, self.end, self.by, self.tz)
        return self


# The normal distribution's 97.5th percentile: 95% of the values lie between -Z_95 and Z_95.
Z_95 = 1.959963984540054


class Interval(NamedTuple):
    """An interval of a rate: 0 <= low <= high <= 1."""

    low: float
    high: float


def wilson_interval(successes: int, trials: int) -> Interval | None:
    """Return the 95% score interval of a rate; None without trials.

    More successes than trials (clicks before their impressions) count as a rate of 1. Source:
    E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
    JASA 22 (1927).
    """
    if trials == 0:
        return None
    rate = min(successes / trials, 1.0)
    spread = Z_95**2 / trials
    centre = (rate + spread / 2) / (1 + spread)
    reach = math.sqrt(rate * (1 - rate) * spread + spread**2 / 4) / (1 + spread)
    return Interval(max(centre - reach, 0.0), min(centre + reach, 1.0))


# The largest `limit` of a page.
MAX_ROWS = 200


class Csv(Text):
    """200: a report as a file (RFC 4180)."""

    media_type = "text/csv"
    max_bytes = MAX_BYTES


class Groups(TypedDict):
    """The group of a row; a field is absent if the report does not group by it."""

    campaign_id: NotRequired[CampaignId]
    ad_unit_id: NotRequired[PartId]
    site_id: NotRequired[SiteId]
    zone_id: NotRequired[PartId]


class Events(TypedDict):
    """The counts of a row's events, and the click rate with its 95% interval."""

    impressions: int
    clicks: int
    conversions: int
    unbilled: Annotated[
        int, Field(description="Events that had a price which no budget covered: nobody pays.")
    ]
    bots: Annotated[int, Field(description="Events of bots; none of the other counts has them.")]
    ctr: Annotated[
        float | None,
        Field(description="Clicks for each impression; null without an impression."),
    ]
    ctr_low: Annotated[
        float | None,
        Field(description="The lower end of the interval that holds the true rate (95%)."),
    ]
    ctr_high: Annotated[float | None, Field(description="The upper end of that interval.")]


class ReportRow(Groups, Events):
    """A row of a report: a period and group with events."""

    period: Annotated[datetime, Field(description="When the period starts.")]


class CampaignReportRow(ReportRow):
    """A row of a campaign's report."""

    spend_micros: Annotated[
        int, Field(description="What was spent, in millionths of the currency.")
    ]
    value_micros: Annotated[
        int, Field(description="What the conversions were worth, as the advertiser signed it.")
    ]


class SiteReportRow(ReportRow):
    """A row of a site's report."""

    revenue_micros: Annotated[
        int, Field(description="What is due to the site, in millionths of the currency.")
    ]


class CampaignReport(TypedDict):
    """A page of a campaign's report, in the order of period and group."""

    rows: Annotated[list[CampaignReportRow], Field(max_length=MAX_ROWS)]
    next: Next


class SiteReport(TypedDict):
    """A page of a site's report, in the order of period and group."""

    rows: Annotated[list[SiteReportRow], Field(max_length=MAX_ROWS)]
    next: Next


def campaign_row(row: SummedRow) -> CampaignReportRow:
    """Return an advertiser's view of a row."""
    return {
        **_to_row(row),
        "spend_micros": row["spend_micros"],
        "value_micros": row["value_micros"],
    }


def site_row(row: SummedRow) -> SiteReportRow:
    """Return a publisher's view of a row; the value of orders is the advertiser's secret."""
    return {**_to_row(row), "revenue_micros": row["revenue_micros"]}


def _to_row(row: SummedRow) -> ReportRow:
    impressions, clicks = row["impressions"], row["clicks"]
    interval = wilson_interval(clicks, impressions)
    return {
        **row["_id"],
        "impressions": impressions,
        "clicks": clicks,
        "conversions": row["conversions"],
        "unbilled": row["unbilled"],
        "bots": row["bots"],
        "ctr": clicks / impressions if impressions else None,
        "ctr_low": interval.low if interval else None,
        "ctr_high": interval.high if interval else None,
    }


ZoneOf = Callable[[Database[Document], str], str]


def declare(route: Route, zone_of: ZoneOf) -> None:
    """Declare the routes of reports; `zone_of` returns a campaign's time zone."""

    @route("GET", "/reports/campaigns/{campaign}", raises=(ReportTooLarge,))
    def get_campaign_report(
        request: Request, campaign: CampaignId, caller: Advertiser, query: ReportQuery
    ) -> Ok[CampaignReport] | Csv:
        """Read the events of a campaign's ads, by period and group.

        Periods without an event have no row. With `Accept: text/csv` the whole report comes as a
        file of up to 20,000 rows, and `limit` and `cursor` have no effect.
        """
        check_advertiser(caller, advertiser_of(campaign))
        tz = query.tz or zone_of(request.runtime.database, campaign)
        report = _scope("campaign_id", campaign, query, "spend_micros", tz)
        if _wants_file(request):
            return _file(report, [campaign_row(row) for row in _all(request, report)])
        rows, following = _page(request, report, query)
        return Ok({"rows": [campaign_row(row) for row in rows], "next": following})

    @route("GET", "/reports/sites/{site}", raises=(ReportTooLarge,))
    def get_site_report(
        request: Request, site: SiteId, caller: Publisher, query: ReportQuery
    ) -> Ok[SiteReport] | Csv:
        """Read the events of the ads on a site, by period and group.

        Periods without an event have no row. With `Accept: text/csv` the whole report comes as a
        file of up to 20,000 rows, and `limit` and `cursor` have no effect.
        """
        check_publisher(caller, site)
        report = _scope("site_id", site, query, "revenue_micros", query.tz or "UTC")
        if _wants_file(request):
            return _file(report, [site_row(row) for row in _all(request, report)])
        rows, following = _page(request, report, query)
        return Ok({"rows": [site_row(row) for row in rows], "next": following})


def _scope(owner: Owner, owner_id: str, query: ReportQuery, money: Money, tz: str) -> ReportScope:
    bounds = spans.span(query.start, query.end, tz)
    return ReportScope(owner, owner_id, *bounds, query.by, query.group, money, tz)


def _wants_file(request: Request) -> bool:
    return "text/csv" in request.raw.headers.get("accept", "")


def _page(
    request: Request, report: ReportScope, query: ReportQuery
) -> tuple[list[SummedRow], str | None]:
    scope = f"report:{report.owner_id}:{report.by}:{report.group}"
    scope += "" if report.tz == "UTC" else f":{report.tz}"
    cursors = Cursors(scope, request.runtime.settings.signing_keys)
    after = cursors.position(query)
    rows, position = queries.read(request.runtime.database, report, after, query.limit)
    return rows, cursors.following(position)


def _all(request: Request, report: ReportScope) -> list[SummedRow]:
    """Return all rows of a report; raises ReportTooLarge."""
    runtime = request.runtime
    rows, position = queries.read(runtime.database, report, None, runtime.bounds.ads.csv_rows)
    if position is not None:
        raise _too_large()
    return rows


def _file(report: ReportScope, rows: Sequence[Mapping[str, Any]]) -> Csv:
    name = f"{report.owner_id.replace(':', '-')}-{report.by}.csv"
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    text = as_csv(rows, report.columns, report.tz)
    if not responses.fits(text):
        raise _too_large()
    return Csv(text, disposition)


def _too_large() -> ReportTooLarge:
    fault = FieldError("to", ReportTooLarge.code, "Choose an earlier time")
    return ReportTooLarge(errors=[fault])
