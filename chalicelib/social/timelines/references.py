"""News as references: one item per reader and post; a page reads the posts of its items."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document, insert_missing
from chalicelib.people.features import ExportEntry, Trace, entry
from chalicelib.social.graph.audience import PUBLIC, CompleteSince
from chalicelib.social.graph.users import EPOCH
from chalicelib.social.paging import ListEntry, ListPosition, older_than
from chalicelib.social.posts import posts
from chalicelib.social.posts.shapes import PostBody, ReadPost
from chalicelib.social.timelines.view import KEPT_WITH_STRANGERS, Part

_PLACE = {"ts": 1, "post_id": 1}
_BY_TIME = [("user_id", ASCENDING), ("ts", ASCENDING), ("post_id", ASCENDING)]


class NewsItem(TypedDict):
    """A post in a reader's news; `sent`: its author sent it to circles or to the reader's wall."""

    _id: str
    user_id: str
    post_id: str
    author_id: str
    ts: datetime
    sent: bool


NEWS_ITEMS = Collection(
    "social.news_item",
    NewsItem,
    indexes=(
        IndexModel(_BY_TIME),
        IndexModel([("post_id", ASCENDING)]),
        IndexModel(
            [("user_id", ASCENDING), ("sent", ASCENDING), *_BY_TIME[1:]],
            partialFilterExpression={"sent": True},
        ),
    ),
    shard_key={"user_id": 1},
)


class NewsItems:
    """A view of one small document for each reader and post."""

    def __init__(self, database: Database[Document]) -> None:
        self._database = database
        self._items = NEWS_ITEMS.of(database)

    def add(self, posts: Sequence[PostBody], user_ids: Sequence[str]) -> None:
        """Insert an item for each post and user; existing items stay."""
        items = [item for post in posts for item in items_of(post, user_ids)]
        insert_missing(self._items, items)

    def refresh(self, post: PostBody) -> None:
        """Do nothing: an item never changes."""

    def remove(self, post_id: str) -> None:
        """Delete every item of a post."""
        self._items.delete_many({"post_id": post_id})

    def take(self, post_ids: Sequence[str], user_id: str) -> None:
        """Delete a user's items of some posts."""
        ids = [f"{user_id}:{post_id}" for post_id in post_ids]
        self._items.delete_many({"_id": {"$in": ids}, "user_id": user_id})

    def erase(self, user_id: str, until: datetime | None = None) -> None:
        """Delete a user's items; with `until`, only items of posts up to that instant."""
        old: Document = {"ts": {"$lte": until}} if until else {}
        self._items.delete_many({"user_id": user_id, **old})

    def trace(self, user_id: str) -> Trace:
        """Return the trace that finds and exports a user's items."""
        return Trace("news items", self._items, {"user_id": user_id}, _item_entries)

    def kept_since(self, user_id: str, keep: int, followed: Sequence[str]) -> CompleteSince:
        """Return, for each part, the time of the oldest item to store, as in `StoredNews`.

        The parts differ, because a pull of sent posts is dear: it reads the posts of all followers.
        """
        mine = {"user_id": user_id}
        by_followed = self._last({**mine, "author_id": {"$in": list(followed)}}, keep)
        return {
            "news": max(by_followed, self._last(mine, keep * KEPT_WITH_STRANGERS)),
            "sent": self._last({**mine, "sent": True}, keep),
        }

    def _last(self, where: Document, keep: int) -> datetime:
        order = [("ts", DESCENDING), ("post_id", DESCENDING)]
        newest = self._items.find(where, {"_id": 0, "ts": 1}).sort(order)
        last = list(newest.skip(keep - 1).limit(2))
        return last[0]["ts"] if len(last) > 1 else EPOCH

    def discard(self, user_id: str, since: CompleteSince) -> None:
        """Delete a user's items before the instants of their parts.

        A sent item belongs to both parts, so it goes only if it is older than both instants.
        """
        mine, news = {"user_id": user_id}, {"ts": {"$lt": since["news"]}}
        self._items.delete_many({**mine, **news, "sent": False})
        if since["sent"] > EPOCH:
            both = {"ts": {"$lt": min(since["news"], since["sent"])}}
            self._items.delete_many({**mine, **both, "sent": True})

    def beginning(
        self, user_id: str, part: Part, after: ListPosition | None, count: int
    ) -> Document:
        """Return the `$lookup` of a user's first items after a position."""
        stages = [
            {"$match": _items_after(user_id, part, after)},
            {"$sort": {"ts": DESCENDING, "post_id": DESCENDING}},
            {"$limit": count},
            {"$project": _PLACE},
        ]
        return {"from": NEWS_ITEMS.name, "pipeline": stages}

    def newest(
        self,
        user_id: str,
        after: ListPosition | None,
        count: int,
        begun: Sequence[Document] | None = None,
    ) -> list[ListEntry[ReadPost]]:
        """Return up to `count` items of a user with their posts, newest first."""
        return self._page(_items_after(user_id, "news", after), count, begun)

    def newest_sent(
        self,
        user_id: str,
        after: ListPosition | None,
        count: int,
        begun: Sequence[Document] | None = None,
    ) -> list[ListEntry[ReadPost]]:
        """Return up to `count` `sent` items of a user with their posts, newest first."""
        return self._page(_items_after(user_id, "sent", after), count, begun)

    def _page(
        self, where: Document, count: int, begun: Sequence[Document] | None
    ) -> list[ListEntry[ReadPost]]:
        found: Sequence[Mapping[str, Any]] | None = begun
        if found is None:
            order = [("ts", DESCENDING), ("post_id", DESCENDING)]
            found = list(self._items.find(where, _PLACE).sort(order).limit(count))
        bodies = posts.find_all(self._database, [item["post_id"] for item in found])
        return [
            ListEntry(ListPosition(item["ts"], item["post_id"]), bodies.get(item["post_id"]))
            for item in found
        ]


def _items_after(user_id: str, part: Part, after: ListPosition | None) -> Document:
    """Return the filter of the items of a part of a user's news, after a position."""
    only: Document = {"sent": True} if part == "sent" else {}
    return {"user_id": user_id, **only, **older_than(after, "ts", "post_id")}


def items_of(post: PostBody, user_ids: Sequence[str]) -> list[NewsItem]:
    """Return the items of a post for some users."""
    post_id, to_circles = post["_id"], post["circles"] != [PUBLIC]
    return [
        {
            # User and post, so that a second delivery is a duplicate.
            "_id": f"{user_id}:{post_id}",
            "user_id": user_id,
            "post_id": post_id,
            "author_id": post["by"]["id"],
            "ts": post["ts"],
            "sent": to_circles or post["wall"] == user_id,
        }
        for user_id in user_ids
    ]


def _item_entries(item: NewsItem) -> list[ExportEntry]:
    """Return the export entry of an item: the id and time of its post."""
    return [entry("news_item", post_id=item["post_id"], posted_at=item["ts"])]
