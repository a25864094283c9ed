"""The routes of a site's settings of analytics."""

from chalicelib.analytics import permissions, settings
from chalicelib.analytics.administration.answers import AnalyticsAnswer, analytics_answer
from chalicelib.analytics.administration.models import NewAnalytics, NewLayout, NewLog
from chalicelib.analytics.counting.remembered_sites import RememberedSites
from chalicelib.analytics.errors import LogCannotForget, MoveInProgress, UnknownSite
from chalicelib.analytics.logs.choosing import every_log
from chalicelib.analytics.moving import layouts, moves
from chalicelib.analytics.settings import SiteAnalytics
from chalicelib.http import Accepted, Ok, Request, Route
from chalicelib.limits import INVENTORY
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import Publisher, check_publisher


def declare(route: Route, remembered: RememberedSites) -> None:
    """Declare the routes of a site's settings; this container remembers no older ones."""

    @route("GET", "/sites/{site}/analytics", raises=(UnknownSite,))
    def get_analytics(request: Request, site: SiteId, publisher: Publisher) -> Ok[AnalyticsAnswer]:
        """Read a site's settings of analytics, and what its hits take up."""
        check_publisher(publisher, site)
        return Ok(_answer(request.runtime, permissions.of_site(request.runtime.database, site)))

    @route(
        "PUT",
        "/sites/{site}/analytics",
        limit=INVENTORY,
        raises=(LogCannotForget, MoveInProgress),
    )
    def put_analytics(
        request: Request, site: SiteId, publisher: Publisher, body: NewAnalytics
    ) -> Ok[AnalyticsAnswer]:
        """Switch a site's analytics on, or change their settings.

        Another log than before begins a move of the hits, another layout one of the reports.
        """
        check_publisher(publisher, site)
        changed = _put(request.runtime, site, body)
        remembered.forget(site)
        return Ok(_answer(request.runtime, changed))

    @route(
        "POST",
        "/sites/{site}/analytics/log",
        limit=INVENTORY,
        raises=(UnknownSite, LogCannotForget, MoveInProgress),
    )
    def move_hits(
        request: Request, site: SiteId, publisher: Publisher, body: NewLog
    ) -> Accepted[AnalyticsAnswer]:
        """Move a site's hits to another log, which a schedule does while hits come.

        New hits go to the new log some minutes later; old ones are copied day by day, and read from
        both logs until then.
        """
        check_publisher(publisher, site)
        moves.start(request.runtime, permissions.of_site(request.runtime.database, site), body.log)
        return Accepted(_current(request.runtime, site))

    @route("POST", "/sites/{site}/analytics/layout", limit=INVENTORY, raises=(UnknownSite,))
    def change_layout(
        request: Request, site: SiteId, publisher: Publisher, body: NewLayout
    ) -> Ok[AnalyticsAnswer]:
        """Keep a site's reports in another layout; the days of before are rewritten later."""
        check_publisher(publisher, site)
        found = permissions.of_site(request.runtime.database, site)
        layouts.change(request.runtime, found, body.layout)
        return Ok(_current(request.runtime, site))


def _put(runtime: Runtime, site: str, body: NewAnalytics) -> SiteAnalytics:
    """Store what was sent; raises LogCannotForget and MoveInProgress before anything is."""
    before = settings.find(runtime.database, site)
    moving = before.get("moving") if before else None
    logs = {body.log, *((moving["log_from"], moving["log_to"]) if moving else ())}
    if body.user_reports and "timeseries" in logs:
        raise LogCannotForget("user_reports")
    if before and moving and body.log != before["log"]:
        raise MoveInProgress
    stored = settings.put(
        runtime.database,
        site,
        {
            "origins": list(body.origins),
            "keep_days": body.keep_days,
            "user_reports": body.user_reports,
            "public": body.public,
        },
        body.log,
        body.layout,
    )
    if not moving:
        moves.start(runtime, stored, body.log)
    layouts.change(runtime, stored, body.layout)
    return permissions.of_site(runtime.database, site)


def _current(runtime: Runtime, site: str) -> AnalyticsAnswer:
    return _answer(runtime, permissions.of_site(runtime.database, site))


def _answer(runtime: Runtime, site: SiteAnalytics) -> AnalyticsAnswer:
    logs = every_log(runtime.database, {site["_id"]: site})
    return analytics_answer(site, {log.name: log.size(site["_id"]) for log in logs})
