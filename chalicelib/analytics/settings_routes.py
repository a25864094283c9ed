"""The interface to a site's settings of analytics."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, NotRequired, get_args

from pydantic import AfterValidator, ConfigDict, Field
from typing_extensions import TypedDict

from chalicelib.analytics import permissions, settings
from chalicelib.analytics.errors import LogCannotForget, MoveInProgress, UnknownSite
from chalicelib.analytics.logs import moving as logs_moving
from chalicelib.analytics.logs.choosing import every_log
from chalicelib.analytics.logs.log import LogUsage
from chalicelib.analytics.reports import moving as reports_moving
from chalicelib.analytics.settings import (
    MAX_KEEP_DAYS,
    MAX_ORIGINS,
    MIN_KEEP_DAYS,
    LayoutName,
    LogName,
    SiteAnalytics,
)
from chalicelib.http import Accepted, Input, Ok, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.limits import INVENTORY
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher
from chalicelib.time_zones import Zone

# The form of a browser's Origin header: no path, and no default port.
_ORIGIN = re.compile(r"https?://[a-z0-9.-]{1,253}(:[0-9]{1,5})?")


def _origin(text: str) -> str:
    if not _ORIGIN.fullmatch(text):
        raise ValueError("an origin is a scheme and a host, such as https://harbour.example")
    return text


Origin = Annotated[str, AfterValidator(_origin), Field(examples=["https://harbour.example"])]


class NewAnalytics(Input):
    """A site's settings of analytics; another log or layout than before begins a move to it."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"origins": ["https://harbour.example"], "public": False}]}
    )

    origins: Annotated[
        tuple[Origin, ...],
        Field(max_length=MAX_ORIGINS, description="Whose pages' hits count; none for any."),
    ] = ()
    keep_days: int = Field(
        90,
        ge=MIN_KEEP_DAYS,
        le=MAX_KEEP_DAYS,
        description="How long raw hits and single sessions are kept; reports stay.",
    )
    log: LogName = "expiring"
    layout: LayoutName = "hierarchical"
    user_reports: bool = Field(
        default=False,
        description="Whether a hit keeps the user whose token the page sends with it.",
    )
    public: bool = Field(
        default=False, description="Whether everybody may read the reports on hits."
    )
    time_zone: Zone = Field(
        "UTC", description="The time zone of reports on hits that name no other (IANA)."
    )


class NewLog(Input):
    """The log that a site's hits are moved to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"log": "rotating"}]})

    log: LogName


class NewLayout(Input):
    """The layout that a site's reports are kept in."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"layout": "hierarchical"}]})

    layout: LayoutName


class LogSize(TypedDict):
    """The size of a site's part of a log, without compression."""

    hits: Annotated[
        int,
        Field(
            description="A million stands for at least so many; the `rotating` log counts by day."
        ),
    ]
    bytes: int
    index_bytes: int
    oldest_at: Annotated[datetime | None, Field(description="The time of the oldest hit.")]


class MoveAnswer(TypedDict):
    """A move to another log."""

    from_log: LogName
    to_log: LogName
    announced_at: datetime
    switched_at: NotRequired[
        Annotated[datetime, Field(description="Since when new hits go to the new log.")]
    ]
    copied_until: NotRequired[
        Annotated[datetime, Field(description="Up to what day the old hits are in it.")]
    ]


class AnalyticsAnswer(TypedDict):
    """A site's settings of analytics, and what its hits take up in each log."""

    site: SiteId
    origins: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=MAX_ORIGINS)]
    keep_days: int
    log: LogName
    layout: LayoutName
    user_reports: bool
    public: bool
    time_zone: Zone
    moving: Annotated[MoveAnswer | None, Field(description="The move under way, if there is one.")]
    size: Annotated[
        dict[LogName, LogSize],
        Field(
            max_length=len(get_args(LogName)),
            description="By the name of each log that has hits of the site.",
        ),
    ]


def analytics_answer(site: SiteAnalytics, sizes: Mapping[LogName, LogUsage]) -> AnalyticsAnswer:
    """Return the API's form of a site's settings."""
    return {
        "site": site["_id"],
        "origins": site["origins"],
        "keep_days": site["keep_days"],
        "log": site["log"],
        "layout": site["layout"],
        "user_reports": site["user_reports"],
        "public": site["public"],
        "time_zone": settings.zone_of(site),
        "moving": _move(site),
        "size": {name: _size(size) for name, size in sizes.items() if size["hits"]},
    }


def _move(site: SiteAnalytics) -> MoveAnswer | None:
    moving = site.get("moving")
    if moving is None:
        return None
    answer: MoveAnswer = {
        "from_log": moving["log_from"],
        "to_log": moving["log_to"],
        "announced_at": moving["announced_at"],
    }
    if "switched_at" in moving:
        answer["switched_at"] = moving["switched_at"]
    if "copied" in moving:
        answer["copied_until"] = moving["copied"]
    return answer


def _size(size: LogUsage) -> LogSize:
    return {
        "hits": size["hits"],
        "bytes": size["bytes"],
        "index_bytes": size["index_bytes"],
        "oldest_at": size["oldest"],
    }


def declare(route: Route) -> None:
    """Declare the routes of a site's settings."""
    _declare_settings(route)
    _declare_moves(route)


def _declare_settings(route: Route) -> None:
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

        A new log begins a move of the hits; a new layout begins a move of the reports.
        """
        check_publisher(publisher, site)
        changed = _put(request.runtime, site, body)
        permissions.recall.forget(request.runtime, site)
        return Ok(_answer(request.runtime, changed))


def _declare_moves(route: Route) -> None:
    @route(
        "POST",
        "/sites/{site}/analytics/log",
        limit=INVENTORY,
        raises=(UnknownSite, LogCannotForget, MoveInProgress),
    )
    def move_hits(
        request: Request, site: SiteId, publisher: Publisher, body: NewLog
    ) -> Accepted[AnalyticsAnswer]:
        """Start a move of a site's hits to another log, while hits come.

        Some minutes later new hits go to the new log. A schedule then copies old hits, a day at a
        time; until the end of the move, reports read both logs.
        """
        check_publisher(publisher, site)
        logs_moving.start(
            request.runtime, permissions.of_site(request.runtime.database, site), body.log
        )
        return Accepted(_current(request.runtime, site))

    @route("POST", "/sites/{site}/analytics/layout", limit=INVENTORY, raises=(UnknownSite,))
    def change_layout(
        request: Request, site: SiteId, publisher: Publisher, body: NewLayout
    ) -> Ok[AnalyticsAnswer]:
        """Store a site's reports in another layout; a schedule rewrites earlier days."""
        check_publisher(publisher, site)
        found = permissions.of_site(request.runtime.database, site)
        reports_moving.change(request.runtime, found, body.layout)
        return Ok(_current(request.runtime, site))


def _put(runtime: Runtime, site: str, body: NewAnalytics) -> SiteAnalytics:
    """Store new settings; raises LogCannotForget and MoveInProgress before any write.

    Raises Unavailable if the log changes meanwhile.
    """
    before = settings.find(runtime.database, site)
    moving = before.get("moving") if before else None
    logs = {body.log, *((moving["log_from"], moving["log_to"]) if moving else ())}
    if before:
        # Workers write to the former log until they read the new settings.
        logs.add(before["log"])
    if body.user_reports and "timeseries" in logs:
        raise LogCannotForget("user_reports")
    if before and moving and body.log != before["log"]:
        raise MoveInProgress
    stored = settings.put(
        runtime,
        before,
        site,
        {
            "origins": list(body.origins),
            "keep_days": body.keep_days,
            "user_reports": body.user_reports,
            "public": body.public,
            "time_zone": body.time_zone,
        },
        (body.log, body.layout),
    )
    if not moving:
        logs_moving.start(runtime, stored, body.log)
    reports_moving.change(runtime, stored, body.layout)
    return permissions.of_site(runtime.database, site)


def _current(runtime: Runtime, site: str) -> AnalyticsAnswer:
    return _answer(runtime, permissions.of_site(runtime.database, site))


def _answer(runtime: Runtime, site: SiteAnalytics) -> AnalyticsAnswer:
    logs = every_log(runtime.database, {site["_id"]: site})
    return analytics_answer(site, {log.name: log.size(site["_id"]) for log in logs})
