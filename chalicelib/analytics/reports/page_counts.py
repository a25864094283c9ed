"""How often pages were read, in one round trip: what a page or a listing shows of itself."""

from collections.abc import Sequence
from typing import Any

from pymongo.database import Database

from chalicelib.analytics.reports.days import DAYS
from chalicelib.database import Document


def page_counts(database: Database[Document], site: str, paths: Sequence[str]) -> dict[str, int]:
    """Return the hits of each of a site's paths since it was first read; 0 for an unread one."""
    pipeline = [
        {"$match": {"site": site, "path": {"$in": list(paths)}}},
        {"$group": {"_id": "$path", "hits": {"$sum": "$hits"}}},
    ]
    rows: Any = DAYS.of(database)
    found = {row["_id"]: row["hits"] for row in rows.aggregate(pipeline)}
    return {path: found.get(path, 0) for path in paths}
