"""News without a collection: each page merges the posts of followed users."""

import itertools
from collections.abc import Iterable

from pymongo import DESCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.memory import remember
from chalicelib.runtime import Runtime
from chalicelib.social.errors import UnknownUser
from chalicelib.social.graph import following, users
from chalicelib.social.graph.audience import PUBLIC
from chalicelib.social.graph.following import Follows
from chalicelib.social.graph.stores.edges import EdgeGraph
from chalicelib.social.paging import ListEntry, ListPosition, merge, older_than
from chalicelib.social.posts import audiences, posts
from chalicelib.social.posts.shapes import ReadPost

# MongoDB merges up to 200 sorted streams (2.5 ms); from 201 on, it sorts all rows (170 ms).
AUTHORS_PER_QUERY = 200
# With more authors marked `pulled`, each page queries the marked authors among followed users.
_MOST_MARKED = 1_000
_NEWEST_FIRST = [("ts", DESCENDING), ("_id", DESCENDING)]
_PULLED = {"fan_out.pull": True}


class PulledNews:
    """The news of a reader, read from the posts: posting costs nothing, each page costs more.

    `own`: the reader's fields `following.FOLLOWING`; None: a read fetches them.
    """

    def __init__(self, database: Database[Document], own: Follows | None = None) -> None:
        self._database = database
        self._own = own

    def newest(
        self, user_id: str, after: ListPosition | None, count: int
    ) -> list[ListEntry[ReadPost]]:
        """Return the posts of the users that a user follows, newest first."""
        authors = following.following(self._database, user_id, self._own)
        return _by_authors(self._database, authors, {}, after, count)

    def newest_sent(
        self, user_id: str, after: ListPosition | None, count: int
    ) -> list[ListEntry[ReadPost]]:
        """Return up to `count` posts that are perhaps sent to a user, newest first."""
        authors = _followers(self._database, user_id)
        to_circles = {"circles": {"$ne": PUBLIC}}
        return merge(
            count,
            _by_authors(self._database, authors, to_circles, after, count),
            _to_wall(self._database, user_id, after, count),
            _recorded_posts(self._database, user_id, after, count),
        )


def newest(
    database: Database[Document], authors: list[str], after: ListPosition | None, count: int
) -> list[ListEntry[ReadPost]]:
    """Return the authors' posts above the pull threshold; every design pulls them."""
    return _by_authors(database, authors, _PULLED, after, count)


def newest_sent(
    database: Database[Document], user_id: str, after: ListPosition | None, count: int
) -> list[ListEntry[ReadPost]]:
    """Return the posts above the pull threshold that are perhaps to circles with the user."""
    authors = _followers_with_pulled(database, user_id)
    pulled = _by_authors(database, authors, {**_PULLED, "circles": {"$ne": PUBLIC}}, after, count)
    return merge(count, pulled, _recorded_posts(database, user_id, after, count, only_pulled=True))


def _followers(database: Database[Document], user_id: str) -> list[str]:
    try:
        pages = list(following.all_followers(database, user_id))
    except UnknownUser:
        return []
    return [each.id for page in pages for each in page]


def _followers_with_pulled(database: Database[Document], user_id: str) -> list[str]:
    """Return the authors of pulled posts among a user's followers."""
    people = users.USERS.of(database)
    own = people.find_one({"_id": user_id}, {"graph_store": 1, "followers": 1})
    if own is None:
        return []
    if own["graph_store"] == "embedded":
        return authors_with_pulled(database, list(own["followers"]))
    # Start from the marked users: a user may have a million followers, but few users are marked.
    above = [each["_id"] for each in people.find({"pulled": True}, {"_id": 1})]
    return EdgeGraph(database).owners_among(user_id, above)


@remember(seconds=5)
def marked_authors(runtime: Runtime) -> frozenset[str] | None:
    """Return all authors of pulled posts, as of up to five seconds ago; None: over `_MOST_MARKED`.

    Most deployments have none, so their pages skip the query for pulled posts.
    """
    rows = users.USERS.of(runtime.database).find({"pulled": True}, {"_id": 1})
    found = [user["_id"] for user in rows.limit(_MOST_MARKED + 1)]
    return frozenset(found) if len(found) <= _MOST_MARKED else None


def authors_with_pulled(database: Database[Document], user_ids: list[str]) -> list[str]:
    """Return the authors of pulled posts among some users."""
    if not user_ids:
        return []
    where = {"pulled": True, "_id": {"$in": user_ids}}
    return [user["_id"] for user in users.USERS.of(database).find(where, {"_id": 1})]


def _by_authors(
    database: Database[Document],
    authors: Iterable[str],
    also: Document,
    after: ListPosition | None,
    count: int,
) -> list[ListEntry[ReadPost]]:
    where = {"deleted": False, **also, **older_than(after, "ts", "_id")}
    found: list[ListEntry[ReadPost]] = []
    # Merge batch by batch: the posts of all batches may exceed the memory.
    for some in _batches(sorted(authors)):
        found = merge(count, found, _entries(database, {"by.id": {"$in": some}, **where}, count))
    return found


def _to_wall(
    database: Database[Document], user_id: str, after: ListPosition | None, count: int
) -> list[ListEntry[ReadPost]]:
    where = {"wall": user_id, "by.id": {"$ne": user_id}, "deleted": False}
    return _entries(database, {**where, **older_than(after, "ts", "_id")}, count)


def _recorded_posts(
    database: Database[Document],
    user_id: str,
    after: ListPosition | None,
    count: int,
    *,
    only_pulled: bool = False,
) -> list[ListEntry[ReadPost]]:
    """Return the posts whose audience, recorded at posting, has the user.

    A deleted or filtered post leaves an entry without a post, so that the page continues after it.
    """
    rows = audiences.AUDIENCES.of(database).find(
        {"members": user_id, **older_than(after, "ts", "post_id")}, {"ts": 1, "post_id": 1}
    )
    found = list(rows.sort([("ts", DESCENDING), ("post_id", DESCENDING)]).limit(count))
    also = _PULLED if only_pulled else {}
    bodies = posts.find_all(database, [row["post_id"] for row in found], also)
    return [
        ListEntry(ListPosition(row["ts"], row["post_id"]), bodies.get(row["post_id"]))
        for row in found
    ]


def _entries(
    database: Database[Document], where: Document, count: int
) -> list[ListEntry[ReadPost]]:
    rows = posts.POSTS.of(database).find(where, posts.BODY).sort(_NEWEST_FIRST).limit(count)
    return [ListEntry(ListPosition(row["ts"], row["_id"]), posts.to_read_post(row)) for row in rows]


def _batches(authors: list[str]) -> Iterable[list[str]]:
    for start in itertools.count(0, AUTHORS_PER_QUERY):
        some = authors[start : start + AUTHORS_PER_QUERY]
        if not some:
            return
        yield some


def find_existing(database: Database[Document], post_ids: Iterable[str]) -> list[ReadPost]:
    """Return the existing posts among some ids, deleted posts excluded."""
    return list(posts.find_all(database, post_ids).values())


def newest_of(
    database: Database[Document], author_id: str, also: Document, count: int
) -> list[ReadPost]:
    """Return an author's newest pushed posts that match the filter `also`."""
    where = {"by.id": author_id, "deleted": False, "fan_out.pull": False, **also}
    return [entry.post for entry in _entries(database, where, count) if entry.post]
