"""The most discussed nodes of a site in the last days, counted every hour.

One document for each site lists the nodes with the most visible comments. `read` looks up their
titles, and omits deleted, moved, closed and non-public nodes. Numbers lag by about an hour at most.
"""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pydantic import Field
from typing_extensions import TypedDict as AnswerDict

from chalicelib import deadlines
from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import ENTRIES, VISIBLE
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.permissions import writable_filter
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.jobs.schedules import skip_failing
from chalicelib.runtime import Runtime
from chalicelib.texts import ShownLine, ShownUrl

Days = Literal[1, 7, 30]
DAYS: tuple[Days, ...] = (1, 7, 30)
MOST_NODES = 100
FRESH = timedelta(hours=1)
# The nodes that a count considers, more than it stores: some may be closed or not public.
_MOST_CONSIDERED = 300
# A count reads at most this many comments of a site, the newest: about a second's work.
_MOST_COMMENTS = 200_000
_TIMES = {"counted": 1, "tried": 1}
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class CountedNode(TypedDict):
    """A node with the number of its comments in some days."""

    node: str
    comments: int


class MostDiscussed(TypedDict):
    """The most discussed nodes of the site `_id` in the last 1, 7 and 30 days, most comments first.

    `counted`: the time of the last successful count, or of the first attempt. `tried`: the time of
    the last attempt.
    """

    _id: str
    counted: datetime
    tried: NotRequired[datetime]
    d1: Annotated[list[CountedNode], AtMost(MOST_NODES)]
    d7: Annotated[list[CountedNode], AtMost(MOST_NODES)]
    d30: Annotated[list[CountedNode], AtMost(MOST_NODES)]


DISCUSSED = Collection("comments.discussed", MostDiscussed, shard_key={"_id": "hashed"})


class DiscussedNodeAnswer(AnswerDict):
    """A discussion, and the number of its visible comments in the last days."""

    id: NodeId
    title: ShownLine
    url: ShownUrl
    comments: Annotated[int, Field(ge=1, examples=[17])]


class DiscussedAnswer(AnswerDict):
    """The most discussed pages of a site, most comments first."""

    nodes: Annotated[list[DiscussedNodeAnswer], Field(max_length=MOST_NODES)]


def read(runtime: Runtime, site: str, days: Days, most: int) -> DiscussedAnswer:
    """Return the most discussed nodes of a site that readers may comment on, in one query."""
    shown: list[Document] = [
        {"$match": _visible_filter(runtime.now())},
        {"$project": {"title": 1, "url": 1}},
    ]
    node_of_each: Document = {
        "from": nodes.NODES.name,
        "localField": "each.node",
        "foreignField": "_id",
        "pipeline": shown,
        "as": "node",
    }
    stages: list[Document] = [
        {"$match": {"_id": site}},
        {"$project": {"each": f"$d{days}"}},
        {"$unwind": {"path": "$each", "includeArrayIndex": "place"}},
        {"$lookup": node_of_each},
        {"$unwind": "$node"},
        {"$sort": {"place": 1}},
        {"$limit": most},
    ]
    rows: Any = DISCUSSED.of(runtime.database).aggregate(stages)
    return {"nodes": [_answer(row) for row in rows]}


def _answer(row: Any) -> DiscussedNodeAnswer:
    node, number = row["node"], row["each"]["comments"]
    return {"id": node["_id"], "title": node["title"], "url": node["url"], "comments": number}


def _visible_filter(now: datetime) -> Document:
    """Return the filter of nodes that exist, are public, and take comments of readers."""
    return {**nodes.OCCUPIED, **writable_filter(now, frozenset())}


def count_due(runtime: Runtime) -> int:
    """Run `count` for each site without an attempt in the last hour; return how many succeeded.

    The longest waiting sites come first. The run ends after half of the remaining time, and the
    next run continues. Two runs at once are harmless.
    """
    has_time, done, now = deadlines.share(0.5), 0, runtime.now()
    rows = DISCUSSED.of(runtime.database)
    tried = {row["_id"]: row.get("tried", row["counted"]) for row in rows.find({}, _TIMES)}
    sites = ENTRIES.of(runtime.database).distinct("site")
    due = [each for each in sites if each not in tried or tried[each] <= now - FRESH]
    for site in sorted(due, key=lambda each: (tried.get(each, _NEVER), each)):
        with skip_failing("discussions not counted", site=site):
            # Before the count: a site with a failing count then waits behind the others.
            rows.update_one({"_id": site}, [{"$set": _fields_of_try(now)}], upsert=True)
            count(runtime, site)
            done += 1
        if not has_time():
            break
    return done


def _fields_of_try(now: datetime) -> Document:
    """Return the `$set` that notes an attempt, and gives a new site empty lists."""
    made = {"counted": now, **{f"d{days}": [] for days in DAYS}}
    kept = {name: {"$ifNull": [f"${name}", value]} for name, value in made.items()}
    return {**kept, "tried": now}


def count(runtime: Runtime, site: str) -> None:
    """Count the visible comments of a site's nodes in the last days."""
    now = runtime.now()
    found: Any = ENTRIES.of(runtime.database).aggregate(_stages(site, now))
    by_days: Document = next(found, {f"d{days}": [] for days in DAYS})
    ids = {each["node"] for days in DAYS for each in by_days[f"d{days}"]}
    where = {"_id": {"$in": sorted(ids)}, "site": site, **_visible_filter(now)}
    shown = {node["_id"] for node in nodes.NODES.of(runtime.database).find(where, {"_id": 1})}
    kept = {f"d{days}": _keep(by_days[f"d{days}"], shown) for days in DAYS}
    rows = DISCUSSED.of(runtime.database)
    rows.update_one({"_id": site}, {"$set": {"counted": now, **kept}}, upsert=True)


def _keep(counted: list[CountedNode], shown: set[str]) -> list[CountedNode]:
    """Return the first 100 counted nodes that are in `shown` and have a comment."""
    kept = [each for each in counted if each["node"] in shown and each["comments"]]
    return kept[:MOST_NODES]


def _stages(site: str, now: datetime) -> list[Document]:
    """Return the stages that give one document: the nodes with the most comments, by days."""
    begins = {days: now - timedelta(days=days) for days in DAYS}
    counts = {
        f"d{days}": {"$sum": {"$cond": [{"$gt": ["$posted", begin]}, 1, 0]}}
        for days, begin in begins.items()
    }
    most = {
        name: {
            "$topN": {
                "n": _MOST_CONSIDERED,
                "sortBy": {name: -1, "_id": 1},
                "output": {"node": "$_id", "comments": f"${name}"},
            }
        }
        for name in counts
    }
    recent = {"$gt": begins[30], "$lte": now}
    return [
        {"$match": {"site": site, **VISIBLE, "posted": recent}},
        {"$sort": {"posted": -1, "_id": 1}},
        {"$limit": _MOST_COMMENTS},
        {"$group": {"_id": "$node_id", **counts}},
        {"$group": {"_id": None, **most}},
    ]
