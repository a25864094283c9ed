"""The routes of the reports: a campaign's for its advertiser, a site's for its publisher."""

from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.ads.ids import CampaignId, advertiser_of
from chalicelib.ads.permissions import Advertiser, check_advertiser
from chalicelib.ads.reports import queries
from chalicelib.ads.reports.answers import (
    CampaignReport,
    Csv,
    SiteReport,
    campaign_row,
    site_row,
)
from chalicelib.ads.reports.models import ReportQuery
from chalicelib.ads.reports.queries import Report, Row
from chalicelib.errors import FieldError, ReportTooLarge
from chalicelib.http import Ok, Request, Route, responses
from chalicelib.http.paging import Cursors
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import Publisher, check_publisher


def declare(route: Route) -> None:
    """Declare the routes of reports."""

    @route("GET", "/reports/campaigns/{campaign}", raises=(ReportTooLarge,))
    def get_campaign_report(
        request: Request, campaign: CampaignId, caller: Advertiser, query: ReportQuery
    ) -> Ok[CampaignReport] | Csv:
        """Read what a campaign's ads did, by period and group.

        Periods without an event have no row. With `Accept: text/csv` the whole report comes as a
        file of up to 20,000 rows; `limit` and `cursor` are not looked at then.
        """
        check_advertiser(caller, advertiser_of(campaign))
        given = query.start, query.end, query.by, query.group
        report = Report("campaign_id", campaign, *given, "spend_micros")
        if _wants_file(request):
            return _file(report, [campaign_row(row) for row in _all(request, report)])
        rows, following = _page(request, report, query)
        return Ok({"rows": [campaign_row(row) for row in rows], "next": following})

    @route("GET", "/reports/sites/{site}", raises=(ReportTooLarge,))
    def get_site_report(
        request: Request, site: SiteId, caller: Publisher, query: ReportQuery
    ) -> Ok[SiteReport] | Csv:
        """Read what the ads on a site did, by period and group.

        Periods without an event have no row. With `Accept: text/csv` the whole report comes as a
        file of up to 20,000 rows; `limit` and `cursor` are not looked at then.
        """
        check_publisher(caller, site)
        given = query.start, query.end, query.by, query.group
        report = Report("site_id", site, *given, "revenue_micros")
        if _wants_file(request):
            return _file(report, [site_row(row) for row in _all(request, report)])
        rows, following = _page(request, report, query)
        return Ok({"rows": [site_row(row) for row in rows], "next": following})


def _wants_file(request: Request) -> bool:
    return "text/csv" in request.raw.headers.get("accept", "")


def _page(request: Request, report: Report, query: ReportQuery) -> tuple[list[Row], str | None]:
    scope = f"report:{report.owner_id}:{report.by}:{report.group}"
    cursors = Cursors(scope, request.runtime.settings.signing_keys)
    after = cursors.position(query)
    rows, position = queries.read(request.runtime.database, report, after, query.limit)
    return rows, cursors.following(position)


def _all(request: Request, report: Report) -> list[Row]:
    """Return all rows of a report; raises ReportTooLarge."""
    runtime = request.runtime
    rows, position = queries.read(runtime.database, report, None, runtime.bounds.ads.csv_rows)
    if position is not None:
        raise _too_large()
    return rows


def _file(report: Report, rows: Sequence[Mapping[str, Any]]) -> Csv:
    name = f"{report.owner_id.replace(':', '-')}-{report.by}.csv"
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    text = queries.as_csv(report, rows)
    if not responses.fits(text):
        raise _too_large()
    return Csv(text, disposition)


def _too_large() -> ReportTooLarge:
    fault = FieldError("to", ReportTooLarge.code, "Choose an earlier time")
    return ReportTooLarge(errors=[fault])
