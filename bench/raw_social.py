"""The reads of a page, by the driver with nothing around them."""

from collections.abc import Callable, Mapping

from pymongo import DESCENDING

from bench.case import Work
from bench.people import READER
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.graph.users import USERS
from chalicelib.social.posts.posts import BODY, POSTS
from chalicelib.social.timelines.copies import month_of
from chalicelib.social.timelines.news import NEWS
from chalicelib.social.timelines.references import NEWS_ITEMS

_NEWEST = [("ts", DESCENDING), ("post_id", DESCENDING)]


def _read_person(runtime: Runtime) -> list[str]:
    """Read what permission asks of the reader: the circles, and so the followed."""
    fields = {"circles": 1, "blocked": 1, "blocked_by": 1, "last_seen": 1}
    reader = runtime.database[USERS.name].find_one({"_id": READER}, fields)
    return [each for circle in (reader or {})["circles"].values() for each in circle["members"]]


def _read_permissions(runtime: Runtime) -> list[str]:
    """Read what a reader is to the authors of a page; return the followed above the line."""
    followed = _read_person(runtime)
    where = {"pulled": True, "_id": {"$in": followed}}
    above = list(runtime.database[USERS.name].find(where, {"_id": 1}))
    page = followed[:25]
    fields = {f"followers.{author}.circles": 1 for author in page}
    runtime.database[USERS.name].find_one({"_id": READER}, {"circles": 1, "blocked": 1, **fields})
    return [user["_id"] for user in above]


def _references(runtime: Runtime, limit: int) -> Work:
    def work() -> object:
        above = _read_permissions(runtime)
        pulled = _posts_of(runtime, above, {"fan_out.pull": True}, limit) if above else []
        where = {"user_id": READER}
        items = runtime.database[NEWS_ITEMS.name].find(where).sort(_NEWEST).limit(limit + 1)
        ids = [item["post_id"] for item in items]
        return [*runtime.database[POSTS.name].find({"_id": {"$in": ids}}, BODY), *pulled]

    return work


def _copies(runtime: Runtime, limit: int) -> Work:
    def work() -> object:
        _read_permissions(runtime)
        stages: list[Document] = [
            {"$match": {"user_id": READER, "month": month_of(runtime.now())}},
            {"$unwind": "$posts"},
            {"$replaceRoot": {"newRoot": "$posts"}},
            {"$sort": {"ts": -1, "id": -1}},
            {"$limit": limit + 1},
        ]
        return list(runtime.database[NEWS.name].aggregate(stages))

    return work


def _pull(runtime: Runtime, limit: int) -> Work:
    def work() -> object:
        authors = _read_person(runtime)
        _read_person(runtime)
        return _posts_of(runtime, authors, {}, limit)

    return work


def _posts_of(runtime: Runtime, authors: list[str], also: Document, limit: int) -> list[Document]:
    """Read the newest posts of these authors."""
    where = {"by.id": {"$in": authors}, "deleted": False, **also}
    order = [("ts", DESCENDING), ("_id", DESCENDING)]
    return list(runtime.database[POSTS.name].find(where, BODY).sort(order).limit(limit + 1))


RAW_PAGES: Mapping[str, Callable[[Runtime, int], Work]] = {
    "references": _references,
    "copies": _copies,
    "pull": _pull,
}
