"""News without a collection of their own: merged from the posts of the followed, at reading."""

import itertools
from collections.abc import Iterable, Sequence

from pymongo import DESCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.social.errors import UnknownUser
from chalicelib.social.graph import following, users
from chalicelib.social.graph.stores.edges import EdgeGraph
from chalicelib.social.paging.positions import Entry, Position, merge, older_than
from chalicelib.social.posts import audiences, posts
from chalicelib.social.posts.models import PUBLIC

# MongoDB merges so many sorted streams (2.5 ms); one more, and it sorts them all (170 ms).
AUTHORS_PER_QUERY = 200
_NEWEST_FIRST = [("ts", DESCENDING), ("_id", DESCENDING)]
_PULLED = {"fan_out.pull": True}


class PulledNews:
    """The news of a reader, found anew each time: nothing to write, much to read.

    `own` is the reader's document with `graph.FOLLOWING`, where it has been read already.
    """

    def __init__(self, database: Database[Document], own: Document | None = None) -> None:
        self._database = database
        self._own = own

    def add(self, posts: Sequence[Document], user_ids: Sequence[str]) -> None:
        """Do nothing, as in all that follows: the posts are the view."""

    def refresh(self, post: Document) -> None:
        """Do nothing."""

    def remove(self, post_id: str) -> None:
        """Do nothing."""

    def take(self, post_ids: Sequence[str], user_id: str) -> None:
        """Do nothing."""

    def erase(self, user_id: str) -> None:
        """Do nothing."""

    def count(self, user_id: str) -> int:  # noqa: ARG002 - nobody has anything here
        """Count nothing."""
        return 0

    def trim(self, user_id: str, keep: int) -> bool:  # noqa: ARG002 - nothing is kept
        """Drop nothing."""
        return False

    def newest(self, user_id: str, after: Position | None, count: int) -> list[Entry]:
        """Return the posts of those whom a user follows, newest first."""
        authors = following.following(self._database, user_id, self._own)
        return _by_authors(self._database, authors, {}, after, count)

    def sent(self, user_id: str, after: Position | None, count: int) -> list[Entry]:
        """Return what was sent to a user, newest first."""
        authors = _followers(self._database, user_id)
        to_circles = {"circles": {"$ne": PUBLIC}}
        return merge(
            count,
            _by_authors(self._database, authors, to_circles, after, count),
            _to_wall(self._database, user_id, after, count),
            _kept(self._database, user_id, after, count),
        )


def newest(
    database: Database[Document], authors: list[str], after: Position | None, count: int
) -> list[Entry]:
    """Return the posts that are pulled in any design, of these authors above the line."""
    return _by_authors(database, authors, _PULLED, after, count)


def sent(
    database: Database[Document], user_id: str, after: Position | None, count: int
) -> list[Entry]:
    """Return what authors above the line sent to circles that the user may be in."""
    authors = _above_line_around(database, user_id)
    pulled = _by_authors(database, authors, {**_PULLED, "circles": {"$ne": PUBLIC}}, after, count)
    return merge(count, pulled, _kept(database, user_id, after, count, only_pulled=True))


def _followers(database: Database[Document], user_id: str) -> list[str]:
    try:
        pages = list(following.all_followers(database, user_id))
    except UnknownUser:
        return []
    return [each.id for page in pages for each in page]


def _above_line_around(database: Database[Document], user_id: str) -> list[str]:
    """Return the users of whom some posts are pulled, and who have a user in their circles."""
    people = users.collection(database)
    own = people.find_one({"_id": user_id}, {"graph_store": 1, "followers": 1})
    if own is None:
        return []
    if own["graph_store"] == "embedded":
        return above_line(database, list(own["followers"]))
    # From the other side: followers may be a million, those above the line are few.
    above = [each["_id"] for each in people.find({"pulled": True}, {"_id": 1})]
    return EdgeGraph(database).owners_among(user_id, above)


def above_line(database: Database[Document], user_ids: list[str]) -> list[str]:
    """Return those of the users of whom some posts are pulled."""
    if not user_ids:
        return []
    where = {"pulled": True, "_id": {"$in": user_ids}}
    return [user["_id"] for user in users.collection(database).find(where, {"_id": 1})]


def _by_authors(
    database: Database[Document],
    authors: Iterable[str],
    also: Document,
    after: Position | None,
    count: int,
) -> list[Entry]:
    where = {"deleted": False, **also, **older_than(after, "ts", "_id")}
    lists = [
        _entries(database, {"by.id": {"$in": some}, **where}, count)
        for some in _batches(sorted(authors))
    ]
    return merge(count, *lists)


def _to_wall(
    database: Database[Document], user_id: str, after: Position | None, count: int
) -> list[Entry]:
    where = {"wall": user_id, "by.id": {"$ne": user_id}, "deleted": False}
    return _entries(database, {**where, **older_than(after, "ts", "_id")}, count)


def _kept(
    database: Database[Document],
    user_id: str,
    after: Position | None,
    count: int,
    *,
    only_pulled: bool = False,
) -> list[Entry]:
    """Return the posts that kept the user in their audience, whatever came of the circle.

    Those that the filter drops keep their entry, so that the page goes on behind them.
    """
    rows = database[audiences.AUDIENCES.name].find(
        {"members": user_id, **older_than(after, "ts", "post_id")}, {"ts": 1, "post_id": 1}
    )
    found = list(rows.sort([("ts", DESCENDING), ("post_id", DESCENDING)]).limit(count))
    also = _PULLED if only_pulled else {}
    bodies = posts.find_all(database, [row["post_id"] for row in found], also)
    return [Entry(Position(row["ts"], row["post_id"]), bodies.get(row["post_id"])) for row in found]


def _entries(database: Database[Document], where: Document, count: int) -> list[Entry]:
    rows = posts.collection(database).find(where, posts.BODY).sort(_NEWEST_FIRST).limit(count)
    return [Entry(Position(row["ts"], row["_id"]), posts.shown(row)) for row in rows]


def _batches(authors: list[str]) -> Iterable[list[str]]:
    for start in itertools.count(0, AUTHORS_PER_QUERY):
        some = authors[start : start + AUTHORS_PER_QUERY]
        if not some:
            return
        yield some


def alive(database: Database[Document], post_ids: Iterable[str]) -> list[Document]:
    """Return those of the posts that are there."""
    return list(posts.find_all(database, post_ids).values())


def newest_of(database: Database[Document], author_id: str, count: int) -> list[Document]:
    """Return an author's newest posts that are pushed."""
    where = {"by.id": author_id, "deleted": False, "fan_out.pull": False}
    return [entry.post for entry in _entries(database, where, count) if entry.post]
