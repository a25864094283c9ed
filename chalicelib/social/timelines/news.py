"""News, and what was sent to a user: delivered at posting, or read from the posts.

A design holds what may concern a reader. Posts above the threshold of `PLAZA_PULL_AUDIENCE`,
and all posts for a reader whose news are stale, are merged in from the posts themselves.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.graph import following, users
from chalicelib.social.graph.following import Follows
from chalicelib.social.graph.reader import Reader
from chalicelib.social.messages import Rebuild, Trim
from chalicelib.social.paging import pages
from chalicelib.social.paging.positions import Entry, Position, merge
from chalicelib.social.posts import audiences, hidden_comments, polls, reactions
from chalicelib.social.posts.answers import PostsAnswer, post_answer
from chalicelib.social.posts.shapes import AddressedPost, ShownPost
from chalicelib.social.posts.visibility import may_see, was_sent
from chalicelib.social.timelines import pull
from chalicelib.social.timelines.copies import MonthCopies, month_collection, month_of
from chalicelib.social.timelines.pull import PulledNews
from chalicelib.social.timelines.references import NewsItems
from chalicelib.social.timelines.view import NewsView, StoredNews

NEWS = month_collection("social.news")
# Readers who have not been seen for this long get no deliveries.
AWAY = timedelta(days=30)
_SEEN_AT_MOST_EVERY = timedelta(days=1)

_PRESENCE = {"last_seen": 1, "stale": 1, "trimmed": 1, **following.FOLLOWING}

Belongs = Callable[[Reader, ShownPost], bool]


class Presence(Follows):
    """A reader's document as `_PRESENCE` reads it."""

    last_seen: datetime
    stale: bool
    trimmed: bool


def design(runtime: Runtime) -> NewsView:
    """Return the design of the news that is set."""
    return stored(runtime) or PulledNews(runtime.database)


def stored(runtime: Runtime) -> StoredNews | None:
    """Return the design of the news that is set, if it stores documents."""
    match runtime.settings.news:
        case "copies":
            return MonthCopies(runtime.database, NEWS, since=month_of(runtime.now()))
        case "references":
            return NewsItems(runtime.database)
        case _:
            return None


def read(runtime: Runtime, reader_id: str, query: PageQuery) -> PostsAnswer:
    """Return a page of news: visible posts by the users that the reader follows."""
    database = runtime.database
    reader = note_visit(runtime, reader_id)
    view = view_for(runtime, reader)
    above: list[str] = []
    if not isinstance(view, PulledNews):
        above = pull.above_line(database, following.following(database, reader_id, reader))
    pulled = PulledNews(database, reader)
    fetch = _merged(
        partial(view.newest, reader_id),
        partial(pull.newest, database, above),
        partial(pulled.newest, reader_id) if reader and reader["trimmed"] else None,
    )
    show = partial(_show, database, reader_id, is_news)
    answer = partial(post_answer, reader_id=reader_id, base=runtime.settings.public_url)
    listing = pages.Listing(f"news:{reader_id}", fetch, show, answer)
    shown, further = pages.checked(runtime, query, listing)
    return {"posts": shown, "next": further}


def read_incoming(runtime: Runtime, reader_id: str, query: PageQuery) -> PostsAnswer:
    """Return a page of posts to the reader's wall, or to circles that the reader is in."""
    database = runtime.database
    reader = note_visit(runtime, reader_id)
    view, pulled = view_for(runtime, reader), PulledNews(database, reader)
    fetch = _merged(
        partial(view.sent, reader_id),
        partial(pull.sent, database, reader_id),
        partial(pulled.sent, reader_id) if reader and reader["trimmed"] else None,
    )
    show = partial(_show, database, reader_id, was_sent)
    answer = partial(post_answer, reader_id=reader_id, base=runtime.settings.public_url)
    listing = pages.Listing(f"incoming:{reader_id}", fetch, show, answer)
    shown, further = pages.checked(runtime, query, listing)
    return {"posts": shown, "next": further}


_Fetch = pages.Fetch[ShownPost]


def _merged(held: _Fetch, pulled: _Fetch, beyond: _Fetch | None) -> _Fetch:
    """Return what a view holds merged with what is pulled, and `beyond` after its end."""

    def fetch(after: Position | None, count: int) -> Sequence[Entry[ShownPost]]:
        found = held(after, count)
        if beyond and len(found) < count:
            return beyond(after, count)
        return merge(count, found, pulled(after, count))

    return fetch


def is_news(reader: Reader, post: AddressedPost) -> bool:
    """Return whether a post is by a user that the reader follows."""
    return post["by"]["id"] in reader.following


def _show(
    database: Database[Document], reader_id: str, belongs: Belongs, found: Sequence[ShownPost]
) -> list[ShownPost | None]:
    reader = audiences.reader_of(database, reader_id, found)
    mine = [post if belongs(reader, post) and may_see(reader, post) else None for post in found]
    shown = hidden_comments.without(database, reader, mine)
    counted = reactions.with_counts(database, reader_id, shown)
    return polls.with_results(database, reader_id, counted)


def note_visit(runtime: Runtime, reader_id: str) -> Presence | None:
    """Note that a reader was seen, and return the reader; None if there is no such user.

    The first visit of a day sends a job: it trims the news, or rebuilds those of a reader who
    comes back after fan-outs have left the reader out. Such news are `stale` until then.
    """
    people = users.USERS.of(runtime.database)
    reader = people.find_one({"_id": reader_id}, _PRESENCE)
    if reader is None:
        return None
    now, stale = runtime.now(), reader["stale"]
    absence = now - reader["last_seen"]
    if absence >= _SEEN_AT_MOST_EVERY:
        # A day early, so that no fan-out leaves out a reader who then counts as present.
        stale |= absence >= AWAY - _SEEN_AT_MOST_EVERY
        job: Rebuild | Trim = Rebuild(user_id=reader_id) if stale else Trim(user_id=reader_id)
        outbox.note(runtime, job)
        back = {"last_seen": now, "away": False, "stale": stale}
        people.update_one({"_id": reader_id}, {"$set": back})
        runtime.queues.send(job)
    reader["stale"] = stale
    return reader


def view_for(runtime: Runtime, reader: Presence | None) -> NewsView:
    """Return the view of a reader's news: stale ones are pulled."""
    if reader is None or reader["stale"]:
        return PulledNews(runtime.database, reader)
    return stored(runtime) or PulledNews(runtime.database, reader)


def mark_away(database: Database[Document], now: datetime) -> int:
    """Mark users who were not seen for long, for fan-outs to leave out; return how many."""
    gone = {"away": False, "last_seen": {"$lte": now - AWAY}}
    return users.USERS.of(database).update_many(gone, {"$set": {"away": True}}).modified_count


def present(database: Database[Document], user_ids: list[str]) -> list[str]:
    """Return the users among these who are not away."""
    # The query asks for those who are away, by an index of them alone: the fewer, the cheaper.
    where = {"_id": {"$in": user_ids}, "away": True}
    rows = users.USERS.of(database).find(where, {"_id": 1}).hint(users.BY_AWAY)
    away = {user["_id"] for user in rows}
    return [user_id for user_id in user_ids if user_id not in away]
