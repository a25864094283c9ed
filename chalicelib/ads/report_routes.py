"""The routes of the reports: a campaign's for its advertiser, a site's for its publisher."""

from http import HTTPStatus
from typing import Annotated, Any, Self

from chalice.app import Blueprint, Response
from pydantic import BeforeValidator, Field, model_validator

from chalicelib.ads import reports
from chalicelib.ads.models import CampaignId, PartId
from chalicelib.ads.reports import MAX_SPAN, Group, Money, Owner, Period, Report
from chalicelib.ads.rights import require_advertiser, require_publisher
from chalicelib.cursors import decode_cursor, encode_cursor
from chalicelib.errors import ReportTooLarge
from chalicelib.http import Input, Request, reply, router
from chalicelib.instants import Instant
from chalicelib.runtime import Runtime

# One CSV file holds at most so many rows: 3 MB, where Lambda answers with at most 6.
MAX_CSV_ROWS = 20_000
_DATE_CHARACTERS = len("2026-03-01")


def _midnight(text: Any) -> Any:
    """Take a date for its first instant in UTC."""
    is_date = isinstance(text, str) and len(text) == _DATE_CHARACTERS
    return f"{text}T00:00:00Z" if is_date else text


Bound = Annotated[Instant, BeforeValidator(_midnight)]


class ReportQuery(Input):
    """The query of a report: the periods that start from `from` on, and before `to`."""

    start: Bound = Field(alias="from")
    end: Bound = Field(alias="to")
    by: Period = "day"
    group: Group | None = None
    limit: int = Field(50, ge=1, le=200)
    cursor: str | None = Field(None, max_length=1_000)

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        if not self.start < self.end <= self.start + MAX_SPAN[self.by]:
            raise ValueError(f"a report by {self.by} spans up to {MAX_SPAN[self.by].days} days")
        return self


def routes(runtime: Runtime) -> Blueprint:
    """Return the reports' routes."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)

    @route("GET", "/reports/campaigns/{campaign}")
    def get_campaign_report(request: Request, campaign: CampaignId) -> Response:
        require_advertiser(request, campaign.partition(":")[0])
        return _answer(request, ("campaign_id", campaign), "spend_micros")

    @route("GET", "/reports/sites/{site}")
    def get_site_report(request: Request, site: PartId) -> Response:
        require_publisher(request, site)
        return _answer(request, ("site_id", site), "revenue_micros")

    return blueprint


def _answer(request: Request, owner: tuple[Owner, str], money: Money) -> Response:
    query = request.query(ReportQuery)
    report = Report(*owner, query.start, query.end, query.by, query.group, money)
    if "text/csv" in request.raw.headers.get("accept", ""):
        return _csv(request, report)
    keys = request.runtime.settings.signing_keys
    scope = f"report:{report.owner_id}:{report.by}:{report.group}"
    after = decode_cursor(query.cursor, scope, keys) if query.cursor else None
    rows, position = reports.read(request.runtime.database, report, after, query.limit)
    cursor = encode_cursor(position, scope, keys) if position else None
    return reply({"rows": rows, "next": cursor})


def _csv(request: Request, report: Report) -> Response:
    """Answer with the whole report as a file; raises ReportTooLarge."""
    rows, position = reports.read(request.runtime.database, report, None, MAX_CSV_ROWS)
    if position is not None:
        raise ReportTooLarge
    name = f"{report.owner_id.replace(':', '-')}-{report.by}.csv"
    headers: dict[str, str | list[str]] = {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    return Response(reports.as_csv(report, rows), headers, HTTPStatus.OK)
