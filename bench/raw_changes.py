"""Floors of writes, by the driver alone: a post, a comment's propagation, a circling, a roll-up."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pymongo import WriteConcern
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.read_concern import ReadConcern

from bench.case import Work
from bench.people import AUTHOR, READER
from chalicelib.ads.reports.counters import COUNTED_FIELDS, DAYS, KEYS, MONTHS, WEEKS, YEARS
from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.jobs.outbox import JOBS
from chalicelib.runtime import Runtime
from chalicelib.social.graph.stores.edges import EDGES, edge_filter
from chalicelib.social.graph.users import USERS
from chalicelib.social.posts.forms import COMMENTS_SHOWN
from chalicelib.social.posts.posts import POSTS
from chalicelib.social.timelines.news import NEWS
from chalicelib.social.timelines.walls import WALLS

# What a copy has of its post that may change.
_COPIED = ("by", "wall", "detail", "edited", "comment_count", "comments")


def publish(runtime: Runtime, post_id: str) -> Work:
    """Return the insertion of another post like one that is stored."""
    like = runtime.database[POSTS.name].find_one({"_id": post_id}) or {}

    def work() -> None:
        runtime.database[POSTS.name].insert_one(
            {**like, "_id": new_id(runtime.now(), runtime.random)}
        )

    return work


def spread(runtime: Runtime, post_id: str) -> Work:
    """Return the read of a post and the update of its older copies."""
    database = runtime.database

    def work() -> None:
        newest = {"comments": {"$slice": -COMMENTS_SHOWN}}
        post = database[POSTS.name].find_one({"_id": post_id}, newest) or {}
        version = post["spread"]["version"]
        new = {name: post[name] for name in _COPIED}
        new |= {"comments_shown": len(post["comments"]), "version": version}
        older = {"id": post_id, "version": {"$lt": version}}
        for name in (WALLS.name, NEWS.name):
            database[name].update_many(
                {"posts": {"$elemMatch": older}},
                {"$set": {f"posts.$[each].{name}": value for name, value in new.items()}},
                array_filters=[{f"each.{name}": value for name, value in older.items()}],
            )
        database[POSTS.name].update_one(
            {"_id": post_id, "spread.version": version}, {"$unset": {"spread.due": ""}}
        )

    return work


def circle(runtime: Runtime, circle_id: str, store: str) -> Work:
    """Return the transaction that puts the author into the reader's circle, which reads nothing."""
    database = runtime.database
    people, edges = database[USERS.name], database[EDGES.name]
    joined = {f"circles.{circle_id}.members.{AUTHOR}": {"name": "Author"}}
    counted = {"counts.memberships": 1, "counts.following": 1}
    one_more = {"$inc": {"counts.followers": 1}}

    def write(session: ClientSession) -> None:
        people.update_one({"_id": READER}, {"$inc": counted}, session=session)
        people.update_one({"_id": READER}, {"$set": joined}, session=session)
        if store == "edges":
            names = {"owner": "Reader", "member": "Author"}
            set_, since = {"circles": [circle_id], "names": names}, {"since": runtime.now()}
            update = {"$set": set_, "$setOnInsert": since}
            edges.update_one(edge_filter(READER, AUTHOR), update, upsert=True, session=session)
        else:
            follower = {f"followers.{READER}": {"name": "Reader", "circles": [circle_id]}}
            people.update_one({"_id": AUTHOR}, {"$set": follower}, session=session)
            people.update_one({"_id": AUTHOR}, one_more, session=session)
        for name in ("raw-1", "raw-2"):
            noted = {"$set": _errand(runtime)}
            database[JOBS.name].update_one({"_id": name}, noted, upsert=True, session=session)

    def work() -> None:
        with database.client.start_session() as session:
            session.with_transaction(
                write,
                read_concern=ReadConcern("snapshot"),
                write_concern=WriteConcern("majority"),
            )
        if store == "edges":
            people.update_one({"_id": AUTHOR}, one_more)

    return work


def _errand(runtime: Runtime) -> Document:
    now = runtime.now()
    pair = {"type": "back-fill", "reader_id": READER, "author_id": AUTHOR, "version": 1}
    return {"errand": pair, "version": new_id(now, runtime.random), "noted": now, "due": now}


def roll_up(database: Database[Document], day: datetime) -> Work:
    """Return the three aggregations that rebuild a day's week, month and year."""
    monday, month = day - timedelta(days=day.weekday()), day.replace(day=1)
    year = month.replace(month=1)
    next_month = (month + timedelta(days=31)).replace(day=1)
    periods = (
        (DAYS.name, WEEKS.name, monday, monday + timedelta(days=7)),
        (DAYS.name, MONTHS.name, month, next_month),
        (MONTHS.name, YEARS.name, year, year.replace(year=year.year + 1)),
    )

    def work() -> None:
        for source, target, start, end in periods:
            database[source].aggregate(_sum(target, start, end))

    return work


def _sum(target: str, start: datetime, end: datetime) -> Sequence[Document]:
    name = [part for key in KEYS for part in (f"$_id.{key}", "/")]
    row = {"_id": {"$concat": [*name, f"{start:%Y%m%d}"]}, "period": start}
    sums = {each: {"$sum": f"${each}"} for each in COUNTED_FIELDS}
    return [
        {"$match": {"period": {"$gte": start, "$lt": end}}},
        {"$group": {"_id": {key: f"${key}" for key in KEYS}, **sums}},
        {
            "$replaceWith": {
                "$mergeObjects": ["$_id", {each: f"${each}" for each in COUNTED_FIELDS}, row]
            }
        },
        {"$merge": {"into": target, "whenMatched": "replace"}},
    ]
