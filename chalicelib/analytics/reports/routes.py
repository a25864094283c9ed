"""The routes of reports on hits."""

from datetime import datetime
from typing import Any

from chalicelib.analytics import permissions
from chalicelib.analytics.errors import LogCannotForget, UnknownSite
from chalicelib.analytics.logs import together
from chalicelib.analytics.logs.log import HitPosition, Span
from chalicelib.analytics.reports import losses, people, queries, removal
from chalicelib.analytics.reports.forms import (
    CountsByPath,
    HitsPage,
    HitsQuery,
    NowAnswer,
    PageCountsQuery,
    RemovalQuery,
    StatsCsv,
    StatsPage,
    StatsQuery,
    columns_of,
    hit_answer,
    now_answer,
    stats_row,
)
from chalicelib.analytics.reports.loss_forms import Losses, LossesQuery, loss_row
from chalicelib.analytics.reports.queries import page_counts
from chalicelib.analytics.reports.report import Report, Row
from chalicelib.analytics.settings import kept_since, zone_of
from chalicelib.errors import FieldError, Forbidden, ReportTooLarge
from chalicelib.http import NoContent, Ok, Request, Route, responses
from chalicelib.http.callers import Publisher
from chalicelib.http.paging import Cursors, page_of
from chalicelib.identity import Principal
from chalicelib.instants import MAX_INSTANT
from chalicelib.limits import INVENTORY
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher
from chalicelib.spreadsheets import as_csv

_A_MINUTE = "public, max-age=60"


def declare(route: Route) -> None:
    """Declare the routes of reports."""
    _declare_counts(route)
    _declare_hits(route)
    _declare_removal(route)


def _declare_counts(route: Route) -> None:
    @route("GET", "/stats/{site}", raises=(UnknownSite, Forbidden, ReportTooLarge))
    def get_stats(
        request: Request, site: SiteId, caller: Principal | None, query: StatsQuery
    ) -> Ok[StatsPage] | StatsCsv:
        """Read how often a site's pages were read, by period and group, in any time zone.

        Without `tz`, the zone is the site's setting. Periods without a hit have no row.
        With `Accept: text/csv` the whole report comes as a file of up to 20,000 rows; `limit` and
        `cursor` then have no effect.
        """
        found = permissions.of_reader(request.runtime.database, site, caller)
        report = query.report(site, zone_of(found))
        if "text/csv" in request.raw.headers.get("accept", ""):
            return _file(request, report)
        cursors = _cursors(request, "stats", report)
        rows, position = _read(request, report, cursors.position(query), query.limit)
        shown = [stats_row(row, report) for row in rows]
        return Ok({"rows": shown, "next": cursors.following(position)})

    @route("GET", "/stats/{site}/now", raises=(UnknownSite, Forbidden))
    def get_now(request: Request, site: SiteId, caller: Principal | None) -> Ok[NowAnswer]:
        """Read who is on a site, and on which pages: the last five minutes."""
        database, now = request.runtime.database, request.runtime.now()
        found = permissions.of_reader(database, site, caller)
        return Ok(
            now_answer(people.look_now(database, together.logs_of(database, found), site, now))
        )

    @route("GET", "/page-counts", raises=(UnknownSite, Forbidden))
    def get_page_counts(
        request: Request, caller: Principal | None, query: PageCountsQuery
    ) -> Ok[CountsByPath]:
        """Read how often pages were read, for pages to show their own number: up to 100 at once."""
        database = request.runtime.database
        found = permissions.of_reader(database, query.site, caller)
        headers = {"Cache-Control": _A_MINUTE} if found["public"] else {}
        return Ok(page_counts(database, query.site, query.paths), headers)


def _declare_hits(route: Route) -> None:
    @route("GET", "/stats/{site}/hits", raises=(UnknownSite,))
    def list_hits(
        request: Request, site: SiteId, publisher: Publisher, query: HitsQuery
    ) -> Ok[HitsPage]:
        """Read raw hits, the earliest first, as long as they are kept."""
        check_publisher(publisher, site)
        database, now = request.runtime.database, request.runtime.now()
        found = permissions.of_site(database, site)
        oldest = kept_since(found, now)
        start = max(query.start or oldest, oldest)
        span = Span(site, start, query.end or MAX_INSTANT, query.path)
        cursors = Cursors(f"hits:{site}:{query.path}", request.runtime.settings.signing_keys)
        position = cursors.position(query)
        after = None if position is None else _position(position)
        rows = together.read(together.logs_of(database, found), span, after, query.limit + 1)
        shown, last = page_of(rows, query.limit)
        following = [last["ts"].isoformat(), last["_id"]] if last else None
        hits = [hit_answer(hit) for hit in shown]
        return Ok({"hits": hits, "next": cursors.following(following)})

    @route("GET", "/stats/{site}/losses", raises=(UnknownSite,))
    def get_losses(
        request: Request, site: SiteId, publisher: Publisher, query: LossesQuery
    ) -> Ok[Losses]:
        """Read what reports lack, by day (UTC): faults of beacons, and hits without a row.

        A hit without a valid path is dropped; a hit with another wrong detail loses this detail.
        """
        check_publisher(publisher, site)
        database = request.runtime.database
        permissions.of_site(database, site)
        return Ok({"rows": [loss_row(each) for each in losses.read(database, site, *query.span)]})


def _declare_removal(route: Route) -> None:
    @route("DELETE", "/stats/{site}", limit=INVENTORY, raises=(UnknownSite, LogCannotForget))
    def remove_path(
        request: Request, site: SiteId, publisher: Publisher, query: RemovalQuery
    ) -> NoContent:
        """Take a page or a source out of a site's reports and log, such as a spammer's.

        The name is taken as reports show it, and nothing else is removed. With a page go its hits;
        hits of a source stay, and forget where they came from.
        """
        check_publisher(publisher, site)
        database, now = request.runtime.database, request.runtime.now()
        found = permissions.of_site(database, site)
        ((group, name),) = query.names.items()
        logs = together.logs_of(database, found)
        if group == "path":
            removal.remove_path(database, logs, site, name, now)
        else:
            removal.remove_source(database, logs, site, group, name)
        return NoContent()


def _position(position: Any) -> HitPosition:
    return HitPosition(datetime.fromisoformat(position[0]), position[1])


def _cursors(request: Request, kind: str, report: Report) -> Cursors:
    scope = f"{kind}:{report.site}:{report.by}:{report.tz}:{report.path}:{report.group}"
    scope += "" if report.value is None else f":{report.value}"
    return Cursors(scope, request.runtime.settings.signing_keys)


def _read(
    request: Request, report: Report, after: Any, limit: int
) -> tuple[list[Row], list[Any] | None]:
    return queries.read(request.runtime.database, report, after, limit)


def _file(request: Request, report: Report) -> StatsCsv:
    """Return all rows of a report as a file; raises ReportTooLarge."""
    most = request.runtime.bounds.analytics.csv_rows
    rows, position = _read(request, report, None, most)
    shown = [stats_row(row, report) for row in rows]
    text = as_csv(shown, columns_of(report), report.tz)
    if position is not None or not responses.fits(text):
        fault = FieldError("to", ReportTooLarge.code, "Choose an earlier time")
        raise ReportTooLarge(errors=[fault])
    disposition = f'attachment; filename="{report.site}-{report.by}.csv"'
    return StatsCsv(text, {"Content-Disposition": disposition})
