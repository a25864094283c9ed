"""Rewriting a site's days in its new layout; meanwhile queries read both layouts."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from chalicelib import deadlines
from chalicelib.analytics.hits import DIMENSIONS
from chalicelib.analytics.reports.days import DAYS, SOURCES
from chalicelib.analytics.reports.layouts import LAYOUTS
from chalicelib.analytics.settings import SITES, LayoutName, Rewriting, SiteAnalytics
from chalicelib.database import Document
from chalicelib.runtime import Runtime

_FIRST = datetime(1, 1, 2, tzinfo=UTC)


def change(runtime: Runtime, site: SiteAnalytics, layout: LayoutName) -> None:
    """Set the layout of new counts; the schedule rewrites earlier days."""
    changed = {"layout": layout, "layout_changed": runtime.now()}
    SITES.of(runtime.database).update_one(
        {"_id": site["_id"], "layout": {"$ne": layout}},
        {"$set": changed, "$unset": {"rewriting": ""}},
    )


def rewrite(runtime: Runtime) -> int:
    """Rewrite days of other layouts, up to a run's bound; return the number of rewritten documents.

    An update changes one document atomically, so a simultaneous hit comes before or after it, in
    either layout. A walk that has rewritten something starts again from the first day: workers may
    have added late counts in the old layout.
    """
    room, has_time, rewritten = runtime.bounds.analytics.rewritten_in_a_run, deadlines.share(0.5), 0
    for site in list(SITES.of(runtime.database).find({"layout_changed": {"$exists": True}})):
        if rewritten == room or not has_time():
            break
        rewritten += _rewrite_site(runtime, site, room - rewritten, has_time)
    return rewritten


def _rewrite_site(
    runtime: Runtime, site: SiteAnalytics, room: int, has_time: Callable[[], bool]
) -> int:
    """Continue the walk over a site's days; return the number of rewritten documents."""
    days, done = DAYS.of(runtime.database), 0
    walk = site.get("rewriting") or Rewriting(day=_FIRST, found=False)
    while following := days.find_one(
        {"site": site["_id"], "day": {"$gt": walk["day"]}}, {"day": 1}, sort=[("day", 1)]
    ):
        if done == room or not has_time():
            return done
        day = following["day"]
        changed = _rewrite_day(runtime, site, day, room - done)
        done += changed
        # Without room left, the day may have more documents: the walk stays before it.
        walk = {"day": walk["day"] if done == room else day, "found": walk["found"] or changed > 0}
        _set(runtime, site, {"$set": {"rewriting": walk}})
    over = {} if walk["found"] else {"layout_changed": ""}
    _set(runtime, site, {"$unset": {"rewriting": "", **over}})
    return done


def _set(runtime: Runtime, site: SiteAnalytics, change: Document) -> None:
    """Change a site's settings, unless its layout has changed again meanwhile."""
    same = {"_id": site["_id"], "layout_changed": site["layout_changed"]}
    SITES.of(runtime.database).update_one(same, change)


def _rewrite_day(runtime: Runtime, site: SiteAnalytics, day: datetime, room: int) -> int:
    """Rewrite at most `room` documents of a day; return their number."""
    own, done = LAYOUTS[site["layout"]], 0
    fields = [
        each for name, other in LAYOUTS.items() if name != own.name for each in other.fields()
    ]
    where = {"site": site["_id"], "day": day, "$or": [{each: {"$exists": True}} for each in fields]}
    keys = dict.fromkeys(("site", "path", "dimension", "value", "day"), 1)
    # Each filter fits its collection's index: (site, day), or (site, dimension, day).
    for collection, index in ((DAYS, {}), (SOURCES, {"dimension": {"$in": list(DIMENSIONS)}})):
        rows: Any = collection.of(runtime.database)
        # The server reads a limit of 0 as no limit.
        found = rows.find({**where, **index}, keys).limit(room - done) if done < room else ()
        for row in found:
            done += rows.update_one(row, _update(own.name)).modified_count
    return done


def _update(layout: LayoutName) -> list[Document]:
    """Return the update of a document that puts all minutes into one layout."""
    joined = {"$concatArrays": [each.cells(by_minute=True) for each in LAYOUTS.values()]}
    # Both layouts may have hits of one minute.
    summed = {
        "$map": {
            "input": {"$setUnion": [{"$map": {"input": joined, "in": "$$this.at"}}]},
            "as": "at",
            "in": {
                "at": "$$at",
                "hits": {
                    "$sum": {
                        "$map": {
                            "input": {"$filter": {"input": joined, "cond": _IS_AT}},
                            "in": "$$this.hits",
                        }
                    }
                },
            },
        }
    }
    others = [field for name, each in LAYOUTS.items() if name != layout for field in each.fields()]
    return [
        {"$set": {"cells": summed}},
        {"$set": LAYOUTS[layout].rewritten()},
        {"$unset": ["cells", *others]},
    ]


_IS_AT = {"$eq": ["$$this.at", "$$at"]}
