"""The routes of the reports: a campaign's for its advertiser, a site's for its publisher."""

from http import HTTPStatus

from chalice.app import Response

from chalicelib.ads.errors import ReportTooLarge
from chalicelib.ads.ids import CampaignId, PartId, advertiser_of
from chalicelib.ads.permissions import require_advertiser, require_publisher
from chalicelib.ads.reports import queries
from chalicelib.ads.reports.models import ReportQuery
from chalicelib.ads.reports.queries import Money, Owner, Report
from chalicelib.http import Request, Route, reply
from chalicelib.http.pages import Cursors


def declare(route: Route) -> None:
    """Declare the routes of reports."""

    @route("GET", "/reports/campaigns/{campaign}")
    def get_campaign_report(request: Request, campaign: CampaignId) -> Response:
        require_advertiser(request, advertiser_of(campaign))
        return _answer(request, ("campaign_id", campaign), "spend_micros")

    @route("GET", "/reports/sites/{site}")
    def get_site_report(request: Request, site: PartId) -> Response:
        require_publisher(request, site)
        return _answer(request, ("site_id", site), "revenue_micros")


def _answer(request: Request, owner: tuple[Owner, str], money: Money) -> Response:
    query = request.query(ReportQuery)
    report = Report(*owner, query.start, query.end, query.by, query.group, money)
    if "text/csv" in request.raw.headers.get("accept", ""):
        return _csv(request, report)
    scope = f"report:{report.owner_id}:{report.by}:{report.group}"
    cursors = Cursors(scope, request.runtime.settings.signing_keys)
    after = cursors.position(query)
    rows, position = queries.read(request.runtime.database, report, after, query.limit)
    return reply({"rows": rows, "next": cursors.following(position)})


def _csv(request: Request, report: Report) -> Response:
    """Answer with the whole report as a file; raises ReportTooLarge."""
    runtime = request.runtime
    rows, position = queries.read(runtime.database, report, None, runtime.bounds.ads.csv_rows)
    if position is not None:
        raise ReportTooLarge
    name = f"{report.owner_id.replace(':', '-')}-{report.by}.csv"
    headers: dict[str, str | list[str]] = {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    return Response(queries.as_csv(report, rows), headers, HTTPStatus.OK)
