"""How often pages were read, in one round trip: what a page or a listing shows of itself."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from pymongo.database import Database

from chalicelib.analytics.reports.days import DAYS
from chalicelib.database import Document


def page_counts(database: Database[Document], site: str, paths: Sequence[str]) -> dict[str, int]:
    """Return the hits of each of a site's paths since it was first read; 0 for an unread one."""
    # Up to 0.3.0, `%`, `?` and `#` were stored decoded.
    names = {unquote(path): path for path in paths} | {path: path for path in paths}
    pipeline = [
        {"$match": {"site": site, "path": {"$in": list(names)}}},
        {"$group": {"_id": "$path", "hits": {"$sum": "$hits"}}},
    ]
    rows: Any = DAYS.of(database)
    found = dict.fromkeys(paths, 0)
    for row in rows.aggregate(pipeline):
        found[names[row["_id"]]] += row["hits"]
    return found
