"""The comments that blocks hide from a reader: left out of posts, and of their counts."""

from collections.abc import Sequence

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.social.graph import users
from chalicelib.social.graph.reader import Reader
from chalicelib.social.posts import posts
from chalicelib.social.posts.comments import OLDER_COMMENTS
from chalicelib.social.posts.models import COMMENTS_SHOWN
from chalicelib.social.posts.shapes import ShownPost
from chalicelib.social.posts.visibility import without_hidden

# Counts leave out the comments of at most this many blocks; the comments are hidden in any case.
MOST_BLOCKS = 10_000


def without(
    database: Database[Document], reader: Reader, found: Sequence[ShownPost | None]
) -> list[ShownPost | None]:
    """Return posts without the comments that blocks hide, which are not counted either.

    Costs one round trip if the reader has blocks and a post has more comments than are shown.
    """
    if not reader.blocks:
        return list(found)
    longer = [post["id"] for post in found if post and post["comment_count"] > COMMENTS_SHOWN]
    hidden = _count(database, reader.id, longer) if longer else {}
    return [_without(reader, post, hidden) if post else None for post in found]


def _without(reader: Reader, post: ShownPost, hidden: dict[str, int]) -> ShownPost:
    shown = without_hidden(reader, post)
    gone = hidden.get(post["id"], len(post["comments"]) - len(shown["comments"]))
    return {**shown, "comment_count": max(post["comment_count"] - gone, len(shown["comments"]))}


def _count(
    database: Database[Document], reader_id: str | None, post_ids: list[str]
) -> dict[str, int]:
    """Count the comments on posts, by the posts' ids, that blocks hide from a reader."""
    both = {"$slice": [users.BLOCKED_EITHER_WAY, MOST_BLOCKS]}
    held: list[Document] = [
        {"$match": {"_id": {"$in": post_ids}}},
        {"$project": {"by": "$comments.by.id", "who": _among("$comments.by.id")}},
        {"$project": {"count": {"$size": {"$filter": {"input": "$by", "cond": _IS_HIDDEN}}}}},
    ]
    older: list[Document] = [
        {"$match": {"post_id": {"$in": post_ids}, "$expr": {"$in": ["$by.id", "$$blocked"]}}},
        {"$group": {"_id": "$post_id", "count": {"$sum": 1}}},
    ]
    stages: list[Document] = [
        {"$match": {"_id": reader_id}},
        {"$project": {"blocked": both}},
        _lookup(posts.POSTS.name, held, "held"),
        _lookup(OLDER_COMMENTS.name, older, "older"),
        {"$project": {"counts": {"$concatArrays": ["$held", "$older"]}}},
    ]
    counts = dict.fromkeys(post_ids, 0)
    for row in database[users.USERS.name].aggregate(stages):
        for each in row["counts"]:
            counts[each["_id"]] += each["count"]
    return counts


# The few come first, as they are searched once for each comment.
_IS_HIDDEN = {"$in": ["$$this", "$who"]}


def _among(ids: str) -> Document:
    return {"$setIntersection": [ids, "$$blocked"]}


def _lookup(collection: str, pipeline: list[Document], name: str) -> Document:
    blocked = {"blocked": "$blocked"}
    return {"$lookup": {"from": collection, "let": blocked, "pipeline": pipeline, "as": name}}
