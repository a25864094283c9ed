"""The forms in which the API answers about a site's analytics."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, NotRequired, get_args

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.analytics.log import Size
from chalicelib.analytics.settings import MAX_ORIGINS, LayoutName, LogName, SiteAnalytics
from chalicelib.sites.ids import SiteId


class LogSize(TypedDict):
    """What a site has in a log, as it is stored without compression."""

    hits: int
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
    moving: Annotated[MoveAnswer | None, Field(description="The move under way, if there is one.")]
    size: Annotated[
        dict[LogName, LogSize],
        Field(
            max_length=len(get_args(LogName)),
            description="By the name of each log that has hits of the site.",
        ),
    ]


def analytics_answer(site: SiteAnalytics, sizes: Mapping[LogName, Size]) -> AnalyticsAnswer:
    """Return a site's settings as the API shows them."""
    return {
        "site": site["_id"],
        "origins": site["origins"],
        "keep_days": site["keep_days"],
        "log": site["log"],
        "layout": site["layout"],
        "user_reports": site["user_reports"],
        "public": site["public"],
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


def _size(size: Size) -> LogSize:
    return {
        "hits": size["hits"],
        "bytes": size["bytes"],
        "index_bytes": size["index_bytes"],
        "oldest_at": size["oldest"],
    }
