"""Who is on a site now, and on which pages."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pymongo.database import Database

from chalicelib.analytics.log import Log, Span
from chalicelib.analytics.logs import together
from chalicelib.analytics.reports import people
from chalicelib.database import Document

LATELY = timedelta(minutes=5)
MAX_PATHS = 50


class Now(NamedTuple):
    """The visitors of the last five minutes, and the views of each path, the most viewed first."""

    visitors: int
    paths: list[tuple[str, int]]


def look(database: Database[Document], logs: Sequence[Log], site: str, now: datetime) -> Now:
    """Return what has happened on a site in the last five minutes."""
    since = now - LATELY
    # Until a millisecond from now: a hit of this one is there.
    span = Span(site, since, now + timedelta(milliseconds=1))
    hits = _hits(logs, span)
    most = sorted(hits.items(), key=lambda item: (-item[1], item[0]))[:MAX_PATHS]
    return Now(people.present(database, site, since), most)


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
