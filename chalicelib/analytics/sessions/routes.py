"""The interface to reports on sessions."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, Self

from pydantic import Field, model_validator
from typing_extensions import TypedDict

from chalicelib.analytics import permissions
from chalicelib.analytics.errors import NoUserReports, UnknownSite
from chalicelib.analytics.sessions import periods as sessions_periods
from chalicelib.analytics.sessions.periods import (
    MAX_PAGES,
    Level,
    PageCount,
    SessionReport,
    StoredPeriod,
)
from chalicelib.analytics.visitors.paths import MAX_BYTES as MAX_PATH_BYTES
from chalicelib.http import MAX_PAGE, Ok, PageQuery, Request, Route, spans
from chalicelib.http.callers import Publisher
from chalicelib.http.paging import Cursors, Next
from chalicelib.instants import Bound
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher
from chalicelib.time_zones import instant


class SessionsQuery(PageQuery):
    """A span of time in periods (UTC)."""

    start: Bound = Field(
        alias="from",
        description="The first period starts at this instant or after it; a date is its midnight "
        "in UTC.",
    )
    end: Bound = Field(
        alias="to",
        description="The last period starts before this. A report by hour spans up to 62 days, by "
        "day 800, by week or month 3,700, by year 37,000.",
    )
    by: Level = Field("day", description="How long a period is, in UTC.")
    group: Literal["user"] | None = Field(
        None, description="A row for each user, on sites with reports by user."
    )

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        spans.check(self.start, self.end, self.by)
        return self

    def report(self, site: str) -> SessionReport:
        """Return the report that the query names, for a site."""
        span = instant(self.start, "UTC"), instant(self.end, "UTC")
        return SessionReport(site, *span, self.by, by_user=self.group is not None)


ShownPath = Annotated[str, Field(max_length=MAX_PATH_BYTES)]


class PageSessions(TypedDict):
    """How many sessions began or ended on a page."""

    path: ShownPath
    sessions: int


class SessionsRow(TypedDict):
    """A period (UTC) in which sessions began."""

    period: Annotated[datetime, Field(description="When the period starts.")]
    user_id: NotRequired[UserId]
    sessions: int
    hits: int
    seconds_mean: Annotated[
        float, Field(description="From the first hit of a session to its last; 0 for one hit.")
    ]
    bounce_rate: Annotated[float, Field(description="The share of sessions of one hit.")]
    entries: Annotated[
        list[PageSessions],
        Field(max_length=MAX_PAGES, description="The pages that most sessions began on."),
    ]
    exits: Annotated[
        list[PageSessions],
        Field(max_length=MAX_PAGES, description="The pages that most sessions ended on."),
    ]


class SessionsPage(TypedDict):
    """A page of a report on sessions, in the order of period and user."""

    rows: Annotated[list[SessionsRow], Field(max_length=MAX_PAGE)]
    next: Next


def sessions_row(period: StoredPeriod) -> SessionsRow:
    """Return the API's form of a period."""
    row: SessionsRow = {
        "period": period["period"],
        "sessions": period["sessions"],
        "hits": period["hits"],
        "seconds_mean": period["seconds"] / period["sessions"],
        "bounce_rate": period["bounces"] / period["sessions"],
        "entries": [_page(each) for each in period["entries"]],
        "exits": [_page(each) for each in period["exits"]],
    }
    if "user" in period:
        row["user_id"] = period["user"]
    return row


def _page(pages: PageCount) -> PageSessions:
    return {"path": pages["path"], "sessions": pages["sessions"]}


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
        periods, position = sessions_periods.read(
            database, report, cursors.position(query), query.limit
        )
        rows = [sessions_row(each) for each in periods]
        return Ok({"rows": rows, "next": cursors.following(position)})
