"""Rewriting a site's days in its new layout; readers understand both layouts meanwhile."""

from typing import Any

from chalicelib.analytics.reports.days import DAYS, SOURCES
from chalicelib.analytics.reports.layouts import LAYOUTS
from chalicelib.analytics.settings import SITES, LayoutName, SiteAnalytics
from chalicelib.database import Document
from chalicelib.runtime import Runtime


def change(runtime: Runtime, site: SiteAnalytics, layout: LayoutName) -> None:
    """Set the layout of new counts; the schedule rewrites earlier days."""
    changed = {"layout": layout, "layout_changed": runtime.now()}
    SITES.of(runtime.database).update_one(
        {"_id": site["_id"], "layout": {"$ne": layout}}, {"$set": changed}
    )


def rewrite(runtime: Runtime) -> int:
    """Rewrite days of other layouts, up to a run's bound; return the number of rewritten days.

    An update is one write of one document, so a simultaneous hit comes before or after it, in
    either layout. The next run finds late counts of workers in the old layout.
    """
    room, rewritten = runtime.bounds.analytics.rewritten_in_a_run, 0
    for site in SITES.of(runtime.database).find({"layout_changed": {"$exists": True}}):
        done = 0
        for collection in (DAYS, SOURCES):
            done += _rewrite(collection.of(runtime.database), site, room - rewritten - done)
        rewritten += done
        if not done and room > rewritten:
            same = {"_id": site["_id"], "layout_changed": site["layout_changed"]}
            SITES.of(runtime.database).update_one(same, {"$unset": {"layout_changed": ""}})
    return rewritten


def _rewrite(rows: Any, site: SiteAnalytics, room: int) -> int:
    own = LAYOUTS[site["layout"]]
    others = [layout for name, layout in LAYOUTS.items() if name != own.name]
    fields = [field for other in others for field in other.fields()]
    where: Document = {"site": site["_id"], "$or": [{field: {"$exists": True}} for field in fields]}
    keys = dict.fromkeys(("site", "path", "dimension", "value", "day"), 1)
    done = 0
    for row in rows.find(where, keys).limit(max(room, 0)) if room > 0 else ():
        done += rows.update_one(row, _update(own.name)).modified_count
    return done


def _update(layout: LayoutName) -> list[Document]:
    """Return the update of a document that puts all minutes into one layout."""
    joined = {"$concatArrays": [each.cells(by_minute=True) for each in LAYOUTS.values()]}
    # A minute may be in both.
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
