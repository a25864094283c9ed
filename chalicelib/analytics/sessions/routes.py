"""The route of reports on sessions."""

from chalicelib.analytics import permissions
from chalicelib.analytics.errors import NoUserReports, UnknownSite
from chalicelib.analytics.sessions import queries
from chalicelib.analytics.sessions.answers import SessionsPage, sessions_row
from chalicelib.analytics.sessions.models import SessionsQuery
from chalicelib.http import Ok, Request, Route
from chalicelib.http.paging import Cursors
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import Publisher, check_publisher


def declare(route: Route) -> None:
    """Declare the route of sessions."""

    @route("GET", "/stats/{site}/sessions", raises=(UnknownSite, NoUserReports))
    def get_sessions(
        request: Request, site: SiteId, publisher: Publisher, query: SessionsQuery
    ) -> Ok[SessionsPage]:
        """Read a site's sessions by period: visits without a pause of 30 minutes, within a day.

        A session is in the period that it began in. The current hour is not there yet: hits come
        late.
        """
        check_publisher(publisher, site)
        database = request.runtime.database
        found = permissions.of_site(database, site)
        if query.group == "user" and not found["user_reports"]:
            raise NoUserReports
        report = query.report(site)
        scope = f"sessions:{site}:{report.by}:{query.group}"
        cursors = Cursors(scope, request.runtime.settings.signing_keys)
        periods, position = queries.read(database, report, cursors.position(query), query.limit)
        rows = [sessions_row(each) for each in periods]
        return Ok({"rows": rows, "next": cursors.following(position)})
