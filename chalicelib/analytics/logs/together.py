"""The union of a site's two logs during a move; each hit comes once."""

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence

from pymongo.database import Database

from chalicelib.analytics.hits import StoredHit
from chalicelib.analytics.logs.choosing import log_of
from chalicelib.analytics.logs.log import HitPosition, Log, Span
from chalicelib.analytics.settings import SiteAnalytics
from chalicelib.database import Document

_AT_ONCE = 1_000


def logs_of(database: Database[Document], site: SiteAnalytics) -> list[Log]:
    """Return the site's current log and, from a move's switch to its end, the old log."""
    sites: Mapping[str, SiteAnalytics] = {site["_id"]: site}
    found = [log_of(database, site["log"], sites)]
    moving = site.get("moving")
    if moving and moving["log_from"] != site["log"]:
        found.append(log_of(database, moving["log_from"], sites))
    return found


def read(logs: Sequence[Log], span: Span, after: HitPosition | None, limit: int) -> list[StoredHit]:
    """Return up to `limit` hits of a span after a position, by time and id, each hit once."""
    pages = [log.read(span, after, limit) for log in logs]
    merged = heapq.merge(*pages, key=lambda hit: (hit["ts"], hit["_id"]))
    once = (next(same) for _, same in itertools.groupby(merged, key=lambda hit: hit["_id"]))
    return list(itertools.islice(once, limit))


def each(logs: Sequence[Log], span: Span) -> Iterator[StoredHit]:
    """Yield each hit of a span once, from all logs; with two logs, in the order of time and id."""
    if len(logs) == 1:
        yield from logs[0].aggregate(span, [])
        return
    after: HitPosition | None = None
    while found := read(logs, span, after, _AT_ONCE):
        yield from found
        after = HitPosition(found[-1]["ts"], found[-1]["_id"])
