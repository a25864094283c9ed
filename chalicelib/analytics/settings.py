"""A publisher's settings of its site's analytics."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.analytics.hits import day_of
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime

LogName = Literal["expiring", "rotating", "timeseries", "capped"]
LayoutName = Literal["flat", "hierarchical"]
MIN_KEEP_DAYS, MAX_KEEP_DAYS = 15, 3_650
MAX_ORIGINS = 20


class Position(TypedDict):
    """The last copied hit of a day that is copied in parts."""

    ts: datetime
    id: str


class Moving(TypedDict):
    """A move of a site's hits: announced, then switched, then copied day by day.

    The new log has the old log's hits before the day `copied`, and of this day up to `position`.
    """

    log_from: LogName
    log_to: LogName
    announced_at: datetime
    switched_at: NotRequired[datetime]
    copied: NotRequired[datetime]
    position: NotRequired[Position]


class Rewriting(TypedDict):
    """A walk over a site's days after a change of layout.

    `day`: the last finished day. `found`: whether the walk has rewritten any document.
    """

    day: datetime
    found: bool


class SiteAnalytics(TypedDict):
    """A site's settings; each switch to another log raises `generation`.

    Until `receipts_until`, receipts distinguish new hits from repeats in any log. The schedule acts
    on `keep_changed`, `layout_changed` and `moving`. Days before `held_since` may lack hits: a
    former, smaller `keep_days` or the old log of a move lost them, and no setting brings them back.
    """

    _id: str
    origins: Annotated[list[str], AtMost(MAX_ORIGINS)]
    keep_days: int
    log: LogName
    layout: LayoutName
    user_reports: bool
    public: bool
    time_zone: NotRequired[str]
    generation: int
    receipts_until: NotRequired[datetime]
    held_since: NotRequired[datetime]
    moving: NotRequired[Moving]
    keep_changed: NotRequired[bool]
    layout_changed: NotRequired[datetime]
    rewriting: NotRequired[Rewriting]


class Chosen(TypedDict):
    """The settings that a publisher chooses."""

    origins: list[str]
    keep_days: int
    user_reports: bool
    public: bool
    time_zone: str


SITES = Collection("hit.site", SiteAnalytics)


def find(database: Database[Document], site: str) -> SiteAnalytics | None:
    """Return a site's settings; None while analytics are off."""
    return SITES.of(database).find_one({"_id": site})


def find_all(
    database: Database[Document], sites: Iterable[str], session: ClientSession | None = None
) -> dict[str, SiteAnalytics]:
    """Return the existing settings of these sites, by site."""
    found = SITES.of(database).find({"_id": {"$in": sorted(sites)}}, session=session)
    return {each["_id"]: each for each in found}


def put(
    runtime: Runtime,
    before: SiteAnalytics | None,
    site: str,
    chosen: Chosen,
    design: tuple[LogName, LayoutName],
) -> SiteAnalytics:
    """Set a site's settings; `design`: the log and the layout of a new site.

    `before`: the settings as the caller read them. Raises Unavailable if the log, or a move of the
    hits to another log, has begun since then.
    """
    log, layout = design
    this: Document = {"_id": site, "log": log}
    if before is not None:
        moving = before.get("moving")
        this |= {"log": before["log"], "moving.log_to": moving["log_to"] if moving else None}
    changed = _update_of(chosen, {"log": log, "layout": layout, "generation": 1}, runtime.now())
    try:
        stored = SITES.of(runtime.database).find_one_and_update(
            this, changed, upsert=before is None, return_document=ReturnDocument.AFTER
        )
    except DuplicateKeyError:
        stored = None
    if stored is None:
        raise Unavailable("Another request changes the log")
    return stored


def _update_of(chosen: Chosen, once: Document, now: datetime) -> list[Document]:
    """Return the update of a site's settings; `once`: the values of a new site alone."""
    today, days = day_of(now), chosen["keep_days"]
    # A new site has no days to keep yet.
    is_more: Document = {"$and": [{"$gt": ["$keep_days", None]}, {"$lt": ["$keep_days", days]}]}
    kept: Document = {"$dateSubtract": {"startDate": today, "unit": "day", "amount": "$keep_days"}}
    held = {"$cond": [is_more, {"$max": ["$held_since", kept]}, "$held_since"]}
    # Another number of days changes the expiry of every row in the expiring log.
    same = {"$eq": ["$keep_days", chosen["keep_days"]]}
    fields = {
        **{name: {"$literal": value} for name, value in chosen.items()},
        **{name: {"$ifNull": [f"${name}", value]} for name, value in once.items()},
        "keep_changed": {"$cond": [same, "$keep_changed", True]},
        "held_since": held,
    }
    return [{"$set": fields}]


def zone_of(site: SiteAnalytics) -> str:
    """Return the time zone of a site's reports; UTC for a row of an earlier release."""
    return site.get("time_zone", "UTC")


def kept_since(site: SiteAnalytics, now: datetime) -> datetime:
    """Return the first day of the raw hits that a site stores; older hits expire."""
    return day_of(now) - timedelta(days=site["keep_days"])


def first_day_held(site: SiteAnalytics, now: datetime) -> datetime:
    """Return the first day that may have all its hits in a site's log."""
    since = kept_since(site, now)
    return max(since, site.get("held_since", since))


def kept_for(days: int) -> timedelta:
    """Return the lifetime of a hit in a log with expiry: a day longer than `days`.

    Sessions need all hits of a day.
    """
    return timedelta(days=days + 1)
