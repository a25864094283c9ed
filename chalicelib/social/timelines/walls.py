"""Walls: the posts by and to a user, from copies or from the posts themselves."""

from collections.abc import Sequence
from functools import partial

from pymongo import DESCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social import paging
from chalicelib.social.errors import UnknownPost
from chalicelib.social.graph import following
from chalicelib.social.messages import Propagate
from chalicelib.social.paging import ListEntry, ListPosition, older_than
from chalicelib.social.posts import audiences, comments, posts, reactions, votes
from chalicelib.social.posts.answers import PostsAnswer, post_answer
from chalicelib.social.posts.shapes import ReadPost, ShownPost
from chalicelib.social.posts.visibility import is_on_wall, may_see
from chalicelib.social.timelines.copies import LargeMonth, MonthCopies, month_collection
from chalicelib.social.timelines.view import StoredView, View

WALLS = month_collection("social.wall")
# Strangers may fill a wall, and a page reads all copies of a month. In a month with more documents
# than this, pages read the posts.
_MOST_DOCUMENTS = 20


class WallOfPosts:
    """Walls without a collection: a merge of two indexes of the posts."""

    def __init__(self, database: Database[Document]) -> None:
        self._posts = posts.POSTS.of(database)

    def newest(
        self, user_id: str, after: ListPosition | None, count: int
    ) -> list[ListEntry[ReadPost]]:
        """Return the posts by and to a user after a position, newest first."""
        where = {"deleted": False, **older_than(after, "ts", "_id")}
        order = [("ts", DESCENDING), ("_id", DESCENDING)]
        # Two queries: the position's filter has an `$or`. Inside a second `$or`, the server would
        # not merge the two indexes.
        found: dict[str, ReadPost] = {}
        for side in ("by.id", "wall"):
            rows = self._posts.find({side: user_id, **where}, posts.BODY).sort(order)
            found |= {row["_id"]: posts.to_read_post(row) for row in rows.limit(count)}
        entries = [ListEntry(ListPosition(post["ts"], post["id"]), post) for post in found.values()]
        return sorted(entries, key=lambda entry: entry.position, reverse=True)[:count]


def stored_design(runtime: Runtime) -> StoredView | None:
    """Return the stored design of the walls; None: pages read walls from the posts."""
    if runtime.settings.wall == "posts":
        return None
    return MonthCopies(runtime.database, WALLS, most_documents=_MOST_DOCUMENTS)


def _newest(
    runtime: Runtime, owner_id: str, after: ListPosition | None, count: int
) -> Sequence[ListEntry[ShownPost]]:
    """Return the entries of a wall, as `View.newest` does; after a LargeMonth, read the posts."""
    of_posts = WallOfPosts(runtime.database)
    view: View = stored_design(runtime) or of_posts
    try:
        return view.newest(owner_id, after, count)
    except LargeMonth:
        return of_posts.newest(owner_id, after, count)


def read(runtime: Runtime, owner_id: str, reader_id: str | None, query: PageQuery) -> PostsAnswer:
    """Return a page of a wall: posts by or to its owner that the reader may see.

    If the owner is not the author of a post, the owner and the author see it; all other readers see
    it only if the owner follows the author (docs/decisions/0092). A block between owner and author
    hides the post.
    """

    def show(found: list[ShownPost]) -> list[ShownPost | None]:
        database = runtime.database
        reader = audiences.reader_of(database, reader_id, found)
        owner = reader
        if reader_id != owner_id:
            owner = following.reader(database, owner_id, {post["by"]["id"] for post in found})
        there = [
            post if is_on_wall(owner, reader_id, post) and may_see(reader, post) else None
            for post in found
        ]
        shown = comments.omit_blocked_comments(database, reader, there)
        counted = reactions.with_counts(database, reader_id, shown)
        return votes.with_results(database, reader_id, counted)

    answer = partial(post_answer, reader_id=reader_id, base=runtime.settings.public_url)
    fetch = partial(_newest, runtime, owner_id)
    listing = paging.PageSource(f"wall:{owner_id}", fetch, show, answer)
    shown, further = paging.read_page(runtime, query, listing)
    return {"posts": shown, "next": further}


def take_off(runtime: Runtime, post_id: str, owner: Principal) -> None:
    """Take another user's post off the caller's wall; the post stays on its author's wall.

    A job updates the other copies. Raises UnknownPost if the post is not on the caller's wall.
    """
    rows = posts.POSTS.of(runtime.database)
    on_wall = {"_id": post_id, "wall": owner.id, "by.id": {"$ne": owner.id}, "deleted": False}
    post = rows.find_one(on_wall, {"by.id": 1})
    if post is None:
        raise UnknownPost
    off = posts.mark_behind(runtime, {"$set": {"wall": post["by"]["id"], "off_wall": True}})
    if not rows.update_one(on_wall, off).matched_count:
        raise UnknownPost
    MonthCopies(runtime.database, WALLS).take([post_id], owner.id)
    runtime.queues.send(Propagate(post_id=post_id))
