"""News and what was sent to a user: written when it is posted, or read from where it is.

A design holds what may concern a reader. Posts above the line of `PLAZA_PULL_AUDIENCE`, and
all posts for a reader whose news are stale, are merged in from the posts themselves.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.graph import following, users
from chalicelib.social.graph.reader import Reader
from chalicelib.social.messages import Job, Rebuild, Trim
from chalicelib.social.paging import pages
from chalicelib.social.paging.positions import Entry, Position, merge
from chalicelib.social.posts import audiences, hidden_comments
from chalicelib.social.posts.models import post_answer
from chalicelib.social.posts.visibility import may_see, was_sent
from chalicelib.social.timelines import pull
from chalicelib.social.timelines.copies import MonthCopies, month_collection, month_of
from chalicelib.social.timelines.pull import PulledNews
from chalicelib.social.timelines.references import NewsItems
from chalicelib.social.timelines.view import NewsView

NEWS = month_collection("social.news")
# Readers who have not been seen for so long get nothing written.
AWAY = timedelta(days=30)
_SEEN_AT_MOST_EVERY = timedelta(days=1)

_PRESENCE = {"last_seen": 1, "stale": 1, "trimmed": 1, **following.FOLLOWING}

Belongs = Callable[[Reader, Document], bool]


def design(runtime: Runtime, own: Document | None = None) -> NewsView:
    """Return the design of the news that is set; `own` is what PulledNews may know of a reader."""
    match runtime.settings.news:
        case "copies":
            return MonthCopies(runtime.database, NEWS, since=month_of(runtime.now()))
        case "pull":
            return PulledNews(runtime.database, own)
        case _:
            return NewsItems(runtime.database)


def read(runtime: Runtime, reader_id: str, query: PageQuery) -> dict[str, Any]:
    """Return a page of news: posts by those whom the reader follows, as far as visible."""
    database = runtime.database
    view, own = _view_of(runtime, reader_id)
    above: list[str] = []
    if not isinstance(view, PulledNews):
        above = pull.above_line(database, following.following(database, reader_id, own))
    fetch = _merged(
        partial(view.newest, reader_id),
        partial(pull.newest, database, above),
        partial(PulledNews(database, own).newest, reader_id) if own.get("trimmed") else None,
    )
    show = partial(_show, database, reader_id, is_news)
    answer = partial(post_answer, reader_id=reader_id)
    return pages.page(runtime, query, pages.Listing(f"news:{reader_id}", fetch, show, answer))


def read_incoming(runtime: Runtime, reader_id: str, query: PageQuery) -> dict[str, Any]:
    """Return a page of what was written to the reader's wall, or to circles they are in."""
    database = runtime.database
    view, own = _view_of(runtime, reader_id)
    fetch = _merged(
        partial(view.sent, reader_id),
        partial(pull.sent, database, reader_id),
        partial(PulledNews(database, own).sent, reader_id) if own.get("trimmed") else None,
    )
    show = partial(_show, database, reader_id, was_sent)
    answer = partial(post_answer, reader_id=reader_id)
    view_ = pages.Listing(f"incoming:{reader_id}", fetch, show, answer)
    return pages.page(runtime, query, view_)


def _merged(stored: pages.Fetch, pulled: pages.Fetch, beyond: pages.Fetch | None) -> pages.Fetch:
    """Return what is stored merged with what is pulled, and `beyond` where the stored ends."""

    def fetch(after: Position | None, count: int) -> list[Entry]:
        found = stored(after, count)
        if beyond and len(found) < count:
            return beyond(after, count)
        return merge(count, found, pulled(after, count))

    return fetch


def is_news(reader: Reader, post: Document) -> bool:
    """Tell whether a post is by somebody whom the reader follows."""
    return post["by"]["id"] in reader.following


def _show(
    database: Database[Document], reader_id: str, belongs: Belongs, found: list[Document]
) -> list[Document | None]:
    reader = audiences.reader_of(database, reader_id, found)
    mine = [post if belongs(reader, post) and may_see(reader, post) else None for post in found]
    return hidden_comments.without(database, reader, mine)


def _view_of(runtime: Runtime, reader_id: str) -> tuple[NewsView, Document]:
    """Note that a reader was seen; return the view of the reader's news, and the reader.

    One who comes back has been skipped by fan-outs: their news are made anew in the
    background, and are pulled until then.
    """
    people = users.collection(runtime.database)
    reader = people.find_one({"_id": reader_id}, _PRESENCE)
    if reader is None:
        return PulledNews(runtime.database), {}
    now, stale = runtime.now(), reader["stale"]
    absence = now - reader["last_seen"]
    if absence >= _SEEN_AT_MOST_EVERY:
        # A day early, so that nobody is skipped by a fan-out and then taken for present.
        stale |= absence >= AWAY - _SEEN_AT_MOST_EVERY
        errand: Job = Rebuild(user_id=reader_id) if stale else Trim(user_id=reader_id)
        outbox.note(runtime, errand)
        back = {"last_seen": now, "away": False, "stale": stale}
        people.update_one({"_id": reader_id}, {"$set": back})
        runtime.queues.send(errand)
    view = PulledNews(runtime.database, reader) if stale else design(runtime, reader)
    return view, reader


def mark_away(database: Database[Document], now: datetime) -> int:
    """Have fan-outs leave out those who were not seen for long; return how many more they are."""
    gone = {"away": False, "last_seen": {"$lte": now - AWAY}}
    return users.collection(database).update_many(gone, {"$set": {"away": True}}).modified_count


def present(database: Database[Document], user_ids: list[str]) -> list[str]:
    """Return those of the users who are not away."""
    # Those who are away are asked for, in an index of them alone: the fewer there are, the less
    # it costs.
    where = {"_id": {"$in": user_ids}, "away": True}
    rows = users.collection(database).find(where, {"_id": 1}).hint(users.BY_AWAY)
    away = {user["_id"] for user in rows}
    return [user_id for user_id in user_ids if user_id not in away]
