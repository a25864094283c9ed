"""The forms in which the API answers with reports: as JSON, page by page, or as a file."""

from datetime import datetime
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.ads.ids import CampaignId, PartId
from chalicelib.ads.reports.confidence import wilson_interval
from chalicelib.ads.reports.queries import Row
from chalicelib.http import Text
from chalicelib.http.paging import Next
from chalicelib.http.responses import MAX_BYTES
from chalicelib.sites.ids import SiteId

# What `limit` may ask for.
MAX_ROWS = 200


class Csv(Text):
    """200: a report as a file (RFC 4180)."""

    media_type = "text/csv"
    max_bytes = MAX_BYTES


class Groups(TypedDict):
    """What a row is about beside its period; absent where the report is not grouped by it."""

    campaign_id: NotRequired[CampaignId]
    ad_unit_id: NotRequired[PartId]
    site_id: NotRequired[SiteId]
    zone_id: NotRequired[PartId]


class Events(TypedDict):
    """What happened in a period, and how good the ads were at it."""

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
    """A period in which anything happened."""

    period: Annotated[datetime, Field(description="When the period starts.")]


class CampaignReportRow(ReportRow):
    """A period of a campaign."""

    spend_micros: Annotated[
        int, Field(description="What was spent, in millionths of the currency.")
    ]
    value_micros: Annotated[
        int, Field(description="What the conversions were worth, as the advertiser signed it.")
    ]


class SiteReportRow(ReportRow):
    """A period of a site."""

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


def campaign_row(row: Row) -> CampaignReportRow:
    """Return a row as a campaign's advertiser sees it."""
    return {
        **_shown(row),
        "spend_micros": row["spend_micros"],
        "value_micros": row["value_micros"],
    }


def site_row(row: Row) -> SiteReportRow:
    """Return a row as a site's publisher sees it: an order's worth is the advertiser's secret."""
    return {**_shown(row), "revenue_micros": row["revenue_micros"]}


def _shown(row: Row) -> ReportRow:
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
