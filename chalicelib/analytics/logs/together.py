"""The hits of a site that are on their way from one log to another: in both, each taken once."""

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence

from pymongo.database import Database

from chalicelib.analytics.hits import StoredHit
from chalicelib.analytics.logs.choosing import log_of
from chalicelib.analytics.logs.log import Log, Position, Span
from chalicelib.analytics.settings import SiteAnalytics
from chalicelib.database import Document

_AT_ONCE = 1_000


def logs_of(database: Database[Document], site: SiteAnalytics) -> list[Log]:
    """Return the logs that a site's hits are in: the one that it writes to first."""
    sites: Mapping[str, SiteAnalytics] = {site["_id"]: site}
    found = [log_of(database, site["log"], sites)]
    moving = site.get("moving")
    if moving and moving["log_from"] != site["log"]:
        found.append(log_of(database, moving["log_from"], sites))
    return found


def read(logs: Sequence[Log], span: Span, after: Position | None, limit: int) -> list[StoredHit]:
    """Return the first hits of a span after a position, of all logs, each once."""
    pages = [log.read(span, after, limit) for log in logs]
    merged = heapq.merge(*pages, key=lambda hit: (hit["ts"], hit["_id"]))
    once = (next(same) for _, same in itertools.groupby(merged, key=lambda hit: hit["_id"]))
    return list(itertools.islice(once, limit))


def each(logs: Sequence[Log], span: Span) -> Iterator[StoredHit]:
    """Give the hits of a span, of all logs, each once."""
    if len(logs) == 1:
        yield from logs[0].aggregate(span, [])
        return
    after: Position | None = None
    while found := read(logs, span, after, _AT_ONCE):
        yield from found
        after = Position(found[-1]["ts"], found[-1]["_id"])
