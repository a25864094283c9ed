"""News as references: an item per reader and post; the post is read, and checked, at reading."""

from collections.abc import Iterable
from typing import Any

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document, insert_missing
from chalicelib.http import PageQuery
from chalicelib.runtime import Runtime
from chalicelib.social import graph, posts, timelines
from chalicelib.social.timelines import Entry, Position, older_than
from chalicelib.social.visibility import may_see

NEWS_ITEMS = Collection(
    "social.news_item",
    indexes=(IndexModel([("user_id", ASCENDING), ("ts", ASCENDING), ("post_id", ASCENDING)]),),
    shard_key={"user_id": 1},
)


def add(database: Database[Document], post: Document, user_ids: Iterable[str]) -> None:
    """Give users an item for a post; those who have it keep the one that they have.

    Raises NotInserted, after writing all the others.
    """
    items = [
        {
            # Made of user and post, so that a second delivery is a duplicate.
            "_id": f"{user_id}:{post['_id']}",
            "user_id": user_id,
            "post_id": post["_id"],
            "author_id": post["by"]["id"],
            "ts": post["ts"],
        }
        for user_id in user_ids
    ]
    insert_missing(database[NEWS_ITEMS.name], items)


def read(runtime: Runtime, reader_id: str, query: PageQuery) -> dict[str, Any]:
    """Return a page of news: posts by those whom the reader follows, as far as visible."""
    items = runtime.database[NEWS_ITEMS.name]

    def fetch(after: Position | None, count: int) -> list[Entry]:
        where = {"user_id": reader_id, **older_than(after, "ts", "post_id")}
        order = [("ts", DESCENDING), ("post_id", DESCENDING)]
        found = list(items.find(where, {"ts": 1, "post_id": 1}).sort(order).limit(count))
        bodies = posts.find_all(runtime.database, [item["post_id"] for item in found])
        return [
            Entry(Position(item["ts"], item["post_id"]), bodies.get(item["post_id"]))
            for item in found
        ]

    def check(found: list[Document]) -> list[bool]:
        authors = {post["by"]["id"] for post in found}
        reader = graph.reader(runtime.database, reader_id, authors)
        return [post["by"]["id"] in reader.following and may_see(reader, post) for post in found]

    return timelines.page(runtime, query, f"news:{reader_id}", fetch, check)
