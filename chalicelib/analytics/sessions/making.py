"""Making a day's sessions from the log: hits of a visitor without a pause of 30 minutes.

Hits come late and out of order, so a session is not kept while it is counted: a day is made whole
again, by `$setWindowFields`, and what is no session any more is deleted.
"""

from datetime import datetime, timedelta

from pymongo.database import Database

from chalicelib.analytics.log import Log, Span
from chalicelib.analytics.sessions.periods import SESSIONS
from chalicelib.database import Document

PAUSE = timedelta(minutes=30)


def make(database: Database[Document], log: Log, span: Span, making: str) -> None:
    """Make a site's sessions of a day from its hits in the span.

    Nobody else does so meanwhile; `making` is an id of its own.
    """
    day = span.start
    for _ in log.aggregate(span, _stages(span.site, day, making)):
        """A pipeline that ends in `$merge` gives nothing."""
    stale = {"site": span.site, "day": day, "making": {"$ne": making}}
    SESSIONS.of(database).delete_many(stale)


def _stages(site: str, day: datetime, making: str) -> list[Document]:
    # Two hits of one instant have an order too.
    order = {"ts": 1, "_id": 1}
    visitor = {"partitionBy": "$visitor", "sortBy": order}
    previous = {"$shift": {"output": "$ts", "by": -1}}
    pause = {"$subtract": ["$ts", "$previous"]}
    is_first = {"$or": [{"$eq": ["$previous", None]}, {"$gte": [pause, _milliseconds(PAUSE)]}]}
    so_far = {
        "$sum": {"$cond": [is_first, 1, 0]},
        "window": {"documents": ["unbounded", "current"]},
    }
    return [
        {"$match": {"kind": "view", "visitor": {"$exists": True}}},
        {"$setWindowFields": {**visitor, "output": {"previous": previous}}},
        {"$setWindowFields": {**visitor, "output": {"n": so_far}}},
        {
            "$group": {
                "_id": {"visitor": "$visitor", "n": "$n"},
                "started": {"$min": "$ts"},
                "ended": {"$max": "$ts"},
                "hits": {"$sum": 1},
                "entry": {"$top": {"output": "$path", "sortBy": order}},
                "exit": {"$bottom": {"output": "$path", "sortBy": order}},
                "user": {"$max": "$user"},
            }
        },
        {"$replaceWith": _session(site, day, making)},
        {"$merge": {"into": SESSIONS.name, "whenMatched": "replace"}},
    ]


def _session(site: str, day: datetime, making: str) -> Document:
    prefix = f"{site}:{day:%Y%m%d}:"
    name = {"$concat": [prefix, "$_id.visitor", ":", {"$toString": "$_id.n"}]}
    return {
        "_id": name,
        "site": site,
        "day": day,
        "started": "$started",
        "seconds": {"$divide": [{"$subtract": ["$ended", "$started"]}, 1_000]},
        "hits": "$hits",
        "entry": "$entry",
        "exit": "$exit",
        "bounce": {"$eq": ["$hits", 1]},
        "user": {"$ifNull": ["$user", "$$REMOVE"]},
        "making": making,
    }


def _milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)
