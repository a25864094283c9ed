"""Copies of posts, in documents of up to a hundred copies by user, month and number.

MongoDB Applied Design Patterns, ch. 8, "Dependent Collections". A copy has the fields of its post
that readers see, and the post's version: an older change never replaces a newer change.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, TypedDict, cast

from bson import ObjectId
from pymongo import ASCENDING, DESCENDING, IndexModel, UpdateOne
from pymongo.database import Database
from pymongo.errors import BulkWriteError, DuplicateKeyError, WriteError

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.people.features import ExportEntry, Trace, entry
from chalicelib.social.graph.audience import CompleteSince
from chalicelib.social.graph.users import EPOCH, By
from chalicelib.social.paging import ListEntry, ListPosition, older_than
from chalicelib.social.posts.forms import COMMENTS_SHOWN
from chalicelib.social.posts.shapes import PostBody, PostComment, ShownPost
from chalicelib.social.timelines.view import KEPT_WITH_STRANGERS, Part

POSTS_PER_DOCUMENT = 100
# Error codes of a document over 16 MB: by an update, by an insertion.
_TOO_LARGE = (17_419, 10_334)


class _Changing(TypedDict):
    """The fields of a copy that may change."""

    by: By
    wall: str
    detail: Document
    edited: datetime | None
    comment_count: int
    comments: list[PostComment]
    comments_shown: int
    version: int


class PostCopy(ShownPost):
    """A copy of a post with its last comments.

    `comments_shown`: the length of `comments`; its index finds copies with too many comments.
    """

    comments_shown: int
    version: int


class Month(TypedDict):
    """A document of a user's copies of posts of one month.

    - `seq`: the number of the document in its month, from 0
    - `appended`: the number of copies ever added, removed copies included. A document without room
      for another copy in 16 MB has `POSTS_PER_DOCUMENT`: no copy is added any more.
    """

    _id: ObjectId
    user_id: str
    month: str
    seq: int
    appended: int
    posts: Annotated[list[PostCopy], AtMost(POSTS_PER_DOCUMENT)]


def month_collection(name: str) -> Collection[Month]:
    """Return a collection of month documents with its indexes."""
    by_month = [("user_id", ASCENDING), ("month", ASCENDING), ("seq", ASCENDING)]
    return Collection(
        name,
        Month,
        indexes=(
            IndexModel(by_month, unique=True),
            IndexModel([("posts.id", ASCENDING)]),
            IndexModel([("posts.comments_shown", ASCENDING)]),
        ),
        shard_key={"user_id": 1},
    )


class LargeMonth(Exception):
    """A month has more documents than a page may read (`most_documents`)."""


class MonthCopies:
    """A view of copies in month documents.

    - `since`: the first query of a first page reads this month and later months. None: a query
      finds the user's last month first.
    - `most_documents`: a page of a month with more documents raises LargeMonth. None: unlimited.
    """

    def __init__(
        self,
        database: Database[Document],
        collection: Collection[Month],
        since: str | None = None,
        most_documents: int | None = None,
    ) -> None:
        self._documents = collection.of(database)
        self._rows = database[collection.name]
        self._since = since
        self._most_documents = most_documents

    def add(self, posts: Sequence[PostBody], user_ids: Sequence[str]) -> None:
        """Copy each post to each user who lacks it, or has an older copy."""
        for post in posts:
            self._add(post, list(user_ids))

    def _add(self, post: PostBody, user_ids: list[str]) -> None:
        """Copy a post to many users in one bulk write; retry refused users one by one."""
        month = {"user_id": {"$in": user_ids}, "month": month_of(post["ts"])}
        # Read before the search for copies: after this read, a concurrent worker can only copy into
        # the last document or a later document.
        last = {each["user_id"]: each["seq"] for each in self._find(month)}
        has = {each["user_id"] for each in self._find({**month, "posts.id": post["_id"]})}
        if has:
            # A worker that died between its copy and its repair may have left an older version.
            self._refresh({**month, "user_id": {"$in": sorted(has)}}, post)
        lacking = [user_id for user_id in user_ids if user_id not in has]
        writes = []
        for user_id in lacking:
            key = {"user_id": user_id, "month": month_of(post["ts"]), "seq": last.get(user_id, 0)}
            writes.append(UpdateOne({**key, **_room(post)}, _push(post), upsert=True))
        if not writes:
            return
        try:
            self._documents.bulk_write(writes, ordered=False)
        except BulkWriteError as error:
            for refused in error.details["writeErrors"]:
                self._append(lacking[refused["index"]], post)
            if error.details["writeConcernErrors"]:
                raise

    def _find(self, where: Document) -> list[Month]:
        fields = {"_id": 0, "user_id": 1, "seq": 1}
        return list(self._documents.find(where, fields).sort("seq", ASCENDING))

    def _append(self, user_id: str, post: PostBody) -> None:
        """Copy a post to the last document of a user's month, or to the next if that is full.

        `appended` never falls, so a document that was full for one worker is full for all: two
        workers cannot put the same post into two documents.
        """
        month = {"user_id": user_id, "month": month_of(post["ts"])}
        last = self._documents.find_one(month, {"seq": 1}, sort=[("seq", DESCENDING)])
        if self._documents.find_one({**month, "posts.id": post["_id"]}, {"_id": 1}):
            return
        seq = last["seq"] if last else 0
        while not self._append_to({**month, "seq": seq}, post):
            seq += 1

    def _append_to(self, key: Document, post: PostBody) -> bool:
        """Put a copy into one document, new if missing; return False if the document is full."""
        while True:
            try:
                self._documents.update_one({**key, **_room(post)}, _push(post), upsert=True)
            except DuplicateKeyError:
                # The document is full, has the copy, or is another worker's new document.
                if self._documents.find_one({**key, "posts.id": post["_id"]}, {"_id": 1}):
                    return True
                full = {**key, "appended": {"$gte": POSTS_PER_DOCUMENT}}
                if self._documents.find_one(full, {"_id": 1}):
                    return False
            except WriteError as error:
                if error.code not in _TOO_LARGE:
                    raise
                closed = {"$max": {"appended": POSTS_PER_DOCUMENT}}
                self._documents.update_one(key, closed)
            else:
                return True

    def refresh(self, post: PostBody) -> None:
        """Update the older copies of a post."""
        self._refresh({}, post)

    def _refresh(self, where: Document, post: PostBody) -> None:
        older = {"id": post["_id"], "version": {"$lt": post["spread"]["version"]}}
        self._documents.update_many(
            {**where, "posts": {"$elemMatch": older}},
            {
                "$set": {
                    f"posts.$[each].{name}": value
                    for name, value in _changeable_fields(post).items()
                }
            },
            array_filters=[{f"each.{name}": value for name, value in older.items()}],
        )

    def remove(self, post_id: str) -> None:
        """Remove the copies of a post from all documents."""
        self._pull({"posts.id": post_id}, [post_id])

    def take(self, post_ids: Sequence[str], user_id: str) -> None:
        """Remove the copies of some posts from the documents of a user."""
        self._pull({"user_id": user_id, "posts.id": {"$in": list(post_ids)}}, list(post_ids))

    def take_from_others(self, post_id: str, user_id: str) -> None:
        """Remove the copies of a post from the documents of all users except one."""
        self._pull({"posts.id": post_id, "user_id": {"$ne": user_id}}, [post_id])

    def _pull(self, where: Document, post_ids: list[str]) -> None:
        self._documents.update_many(where, {"$pull": {"posts": {"id": {"$in": post_ids}}}})

    def erase(self, user_id: str, until: datetime | None = None) -> None:
        """Delete the documents of a user; with `until`, only copies of posts up to then."""
        mine: Document = {"user_id": user_id}
        if until:
            old = {"$pull": {"posts": {"ts": {"$lte": until}}}}
            self._documents.update_many({**mine, "month": {"$lte": month_of(until)}}, old)
            mine["posts"] = []
        self._documents.delete_many(mine)

    def trace(self, user_id: str) -> Trace:
        """Return the trace that finds and exports a user's documents."""
        name = self._documents.name
        return Trace(name, self._documents, {"user_id": user_id}, partial(_copy_entries, name))

    def kept_since(self, user_id: str, keep: int, followed: Sequence[str]) -> CompleteSince:
        """Return the start of the latest month from which on `keep` posts are stored.

        Both parts get the same instant. EPOCH: all months are needed.
        """
        is_followed = {"$in": ["$$each.by.id", list(followed)]}
        news = {"$filter": {"input": "$posts", "as": "each", "cond": is_followed}}
        sums = {name: {"$sum": {"$size": of}} for name, of in (("all", "$posts"), ("news", news))}
        months: Document = {"$group": {"_id": "$month", **sums}}
        stages = [{"$match": {"user_id": user_id}}, months, {"$sort": {"_id": -1}}]
        held, held_news, since = 0, 0, EPOCH
        for month in self._rows.aggregate(stages):
            if held_news >= keep or held >= keep * KEPT_WITH_STRANGERS:
                return {"news": since, "sent": since}
            held, held_news = held + month["all"], held_news + month["news"]
            since = _first_of(month["_id"])
        return {"news": EPOCH, "sent": EPOCH}

    def discard(self, user_id: str, since: CompleteSince) -> None:
        """Delete a user's months that ended before both instants."""
        first = month_of(min(since["news"], since["sent"]))
        self._documents.delete_many({"user_id": user_id, "month": {"$lt": first}})

    def beginning(
        self,
        user_id: str,
        part: Part,  # noqa: ARG002 - copies of both parts lie together
        after: ListPosition | None,
        count: int,
    ) -> Document:
        """Return the `$lookup` of a user's first copies after a position."""
        months = month_of(after.ts) if after else {"$gte": self._since or ""}
        return {"from": self._documents.name, "pipeline": _copies(user_id, months, after, count)}

    def newest(
        self,
        user_id: str,
        after: ListPosition | None,
        count: int,
        begun: Sequence[Document] | None = None,
    ) -> list[ListEntry[PostCopy]]:
        """Return up to `count` copies of a user, newest first, across months.

        `begun`: the rows of `beginning`, if already read. Raises LargeMonth.
        """
        where: Document = {"user_id": user_id}
        found: list[PostCopy] = []
        first = month_of(after.ts) if after else self._since
        if first:
            if after and self._most_documents:
                self._last_month({**where, "month": first})
            months = first if after else {"$gte": first}
            if begun is None:
                begun = list(self._rows.aggregate(_copies(user_id, months, after, count)))
            found = _as_posts(begun)
            where["month"] = {"$lt": first}
        while len(found) < count:
            month = self._last_month(where)
            if month is None:
                break
            rows = self._rows.aggregate(_copies(user_id, month, None, count - len(found)))
            found += _as_posts(rows)
            where["month"] = {"$lt": month}
        return [ListEntry(ListPosition(copy["ts"], copy["id"]), copy) for copy in found]

    newest_sent = newest

    def _last_month(self, where: Document) -> str | None:
        """Return the last month of the documents that match; None: no document.

        The index alone answers the query. Raises LargeMonth.
        """
        order = [("month", DESCENDING), ("seq", DESCENDING)]
        last = self._documents.find_one(where, {"_id": 0, "month": 1, "seq": 1}, sort=order)
        if last is None:
            return None
        if self._most_documents and last["seq"] >= self._most_documents:
            raise LargeMonth
        return last["month"]

    def truncate_comments(self) -> int:
        """Cut every copy to its last `COMMENTS_SHOWN` comments; return the number of documents.

        Longer copies date from a release with a higher bound.
        """
        too_many = {"comments_shown": {"$gt": COMMENTS_SHOWN}}
        cut = {"$each": [], "$sort": {"ts": 1, "id": 1}, "$slice": -COMMENTS_SHOWN}
        return self._documents.update_many(
            {f"posts.{name}": value for name, value in too_many.items()},
            {
                "$push": {"posts.$[long].comments": cut},
                "$set": {"posts.$[long].comments_shown": COMMENTS_SHOWN},
            },
            array_filters=[{f"long.{name}": value for name, value in too_many.items()}],
        ).modified_count


def _copies(
    user_id: str, months: str | Document, after: ListPosition | None, count: int
) -> list[Document]:
    """Return the stages that find a user's newest copies after a position.

    They sort the copies of all documents of the months, because late deliveries are out of order.
    """
    return [
        {"$match": {"user_id": user_id, "month": months}},
        {"$unwind": "$posts"},
        {"$replaceRoot": {"newRoot": "$posts"}},
        {"$match": older_than(after, "ts", "id")},
        {"$sort": {"ts": -1, "id": -1}},
        {"$limit": count},
    ]


def _as_posts(rows: Iterable[Document]) -> list[PostCopy]:
    # The stages turn month documents into copies; the type checker cannot infer it.
    return cast("list[PostCopy]", list(rows))


def month_of(ts: datetime) -> str:
    """Return the month of a post in UTC, as documents have it: `202603`."""
    return f"{ts.year:04}{ts.month:02}"


def _first_of(month: str) -> datetime:
    """Return the first instant of a month (UTC), given as `YYYYMM`."""
    return datetime(int(month[:4]), int(month[4:]), 1, tzinfo=UTC)


def _room(post: PostBody) -> Document:
    return {"appended": {"$lt": POSTS_PER_DOCUMENT}, "posts.id": {"$ne": post["_id"]}}


def _push(post: PostBody) -> Document:
    copy = {
        "id": post["_id"],
        "circles": post["circles"],
        "audience": post["audience"],
        "type": post["type"],
        "ts": post["ts"],
        **_changeable_fields(post),
    }
    return {"$push": {"posts": copy}, "$inc": {"appended": 1}}


def _changeable_fields(post: PostBody) -> _Changing:
    comments = post["comments"][-COMMENTS_SHOWN:]
    return {
        "by": post["by"],
        "wall": post["wall"],
        "detail": post["detail"],
        "edited": post["edited"],
        "comment_count": post["comment_count"],
        "comments": comments,
        "comments_shown": len(comments),
        "version": post["spread"]["version"],
    }


def _copy_entries(name: str, month: Month) -> list[ExportEntry]:
    """Return the export entries of a document: the id and time of each copied post."""
    kind = f"{name.removeprefix('social.')}_item"
    return [entry(kind, post_id=post["id"], posted_at=post["ts"]) for post in month["posts"]]
