"""Who is on a site now, and on which pages."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pymongo.database import Database

from chalicelib.analytics.hits import OTHER, day_of
from chalicelib.analytics.log import Log, Span
from chalicelib.analytics.logs import together
from chalicelib.analytics.reports import people
from chalicelib.analytics.reports.days import DAYS
from chalicelib.database import Document

LATELY = timedelta(minutes=5)
MAX_PATHS = 50
_LOOKED_AT = 1_000


class Now(NamedTuple):
    """The visitors of the last five minutes, and the views of each path, the most viewed first."""

    visitors: int
    paths: list[tuple[str, int]]


def look(database: Database[Document], logs: Sequence[Log], site: str, now: datetime) -> Now:
    """Return what has happened on a site in the last five minutes."""
    since = now - LATELY
    # Until a millisecond from now: a hit of this one is there.
    span = Span(site, since, now + timedelta(milliseconds=1))
    hits = _named(database, span, _hits(logs, span))
    most = sorted(hits.items(), key=lambda item: (-item[1], item[0]))[:MAX_PATHS]
    return Now(people.present(database, site, since), most)


def _named(database: Database[Document], span: Span, hits: Counter[str]) -> Counter[str]:
    """Return the views of the most viewed paths that reports name, and of all others as `*other*`.

    Or a stranger's made-up paths would take the place of pages.
    """
    most = [path for path, _ in hits.most_common(_LOOKED_AT)]
    days = sorted({day_of(span.start), day_of(span.end)})
    rows: Any = DAYS.of(database)
    where = {"site": span.site, "day": {"$in": days}, "path": {"$in": most}}
    named = {row["path"] for row in rows.find(where, {"_id": 0, "path": 1})}
    found: Counter[str] = Counter()
    for path, number in hits.items():
        found[path if path in named else OTHER] += number
    return found


def _hits(logs: Sequence[Log], span: Span) -> Counter[str]:
    """Return the views of each path; those of a site that is being moved are gone through."""
    if len(logs) > 1:
        return Counter(hit["path"] for hit in together.each(logs, span) if hit["kind"] == "view")
    hits: Counter[str] = Counter()
    stages: list[Document] = [
        {"$match": {"kind": "view"}},
        {"$group": {"_id": "$path", "hits": {"$sum": 1}}},
    ]
    for row in logs[0].aggregate(span, stages):
        hits[row["_id"]] += row["hits"]
    return hits
