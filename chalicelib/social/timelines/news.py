"""News of a reader, and posts sent to a reader: pushed at posting, or pulled at each read.

A stored design stores candidates, and each page checks whether its reader may see them. Pages pull
posts with an audience above `PLAZA_PULL_AUDIENCE`, and merge these into the stored posts. While a
reader's stored news are stale, pages pull all posts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, NotRequired, TypedDict, TypeVar, cast

from pymongo import ReturnDocument
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social import paging
from chalicelib.social.graph import following, users
from chalicelib.social.graph.audience import CompleteSince, Reader
from chalicelib.social.graph.following import Follows
from chalicelib.social.messages import Rebuild, Trim
from chalicelib.social.paging import ListEntry, ListPosition, merge
from chalicelib.social.posts import audiences, comments, reactions, votes
from chalicelib.social.posts.answers import PostsAnswer, post_answer
from chalicelib.social.posts.shapes import AddressedPost, ShownPost
from chalicelib.social.posts.visibility import may_see, was_sent
from chalicelib.social.timelines import pull
from chalicelib.social.timelines.copies import MonthCopies, month_collection, month_of
from chalicelib.social.timelines.pull import PulledNews
from chalicelib.social.timelines.references import NewsItems
from chalicelib.social.timelines.view import NewsView, Part, StoredNews

NEWS = month_collection("social.news")
# Fan-outs skip readers after this time without a visit.
AWAY = timedelta(days=30)
_SEEN_AT_MOST_EVERY = timedelta(days=1)
# The most fetches of stored news for a page, before it pulls; an ordinary page needs one.
_STORED_FETCHES = 2

_PRESENCE: Document = {"last_seen": 1, "stale": 1, "trimmed": 1, "complete_since": 1}
_OWN: Document = {"own": {name: f"${name}" for name in following.FOLLOWING}}
PARTS: tuple[Part, ...] = ("news", "sent")


class Presence(TypedDict):
    """The fields `_PRESENCE` of a reader; `begun`: the first rows of the reader's stored news."""

    last_seen: datetime
    stale: bool
    trimmed: NotRequired[bool]
    complete_since: NotRequired[CompleteSince]
    own: NotRequired[Follows]
    begun: list[Document]


class _Start(NamedTuple):
    """The start of a page: the position before it, and the number of entries to fetch first."""

    after: ListPosition | None
    entries: int


Result = TypeVar("Result")


class _Trimmed(Exception):
    """A trim has deleted stored news since the page began."""


def design(runtime: Runtime) -> NewsView:
    """Return the deployment's design of the news."""
    return stored_design(runtime) or PulledNews(runtime.database)


def stored_design(runtime: Runtime) -> StoredNews | None:
    """Return the stored design of the deployment's news; None: the deployment pulls news."""
    match runtime.settings.news:
        case "copies":
            return MonthCopies(runtime.database, NEWS, since=month_of(runtime.now()))
        case "references":
            return NewsItems(runtime.database)
        case _:
            return None


def read(runtime: Runtime, reader_id: str, query: PageQuery) -> PostsAnswer:
    """Return a page of the posts by followed users that the reader may see, newest first."""
    start = _start_of(runtime, query, "news", reader_id)
    page = partial(_page, runtime, start.after, query.limit)
    return _from_source(runtime, reader_id, "news", start, page)


def read_incoming(runtime: Runtime, reader_id: str, query: PageQuery) -> PostsAnswer:
    """Return a page of others' posts to the reader's wall, or to circles with the reader.

    Newest first.
    """
    start = _start_of(runtime, query, "sent", reader_id)
    page = partial(_page, runtime, start.after, query.limit)
    return _from_source(runtime, reader_id, "sent", start, page)


def newest_id(runtime: Runtime, reader_id: str) -> str | None:
    """Return the id of the newest post that `read` shows; None: it shows none."""
    start = _Start(None, paging.first_count(1))
    return _from_source(runtime, reader_id, "news", start, partial(_newest_id, runtime))


_Fetch = paging.Fetch[ShownPost]
_Entries = Sequence[ListEntry[ShownPost]]
_SCOPES: dict[Part, str] = {"news": "news", "sent": "incoming"}


def _scope_of(part: Part, reader_id: str) -> str:
    return f"{_SCOPES[part]}:{reader_id}"


def _start_of(runtime: Runtime, query: PageQuery, part: Part, reader_id: str) -> _Start:
    """Return the start of a page; raises InvalidCursor."""
    after = paging.position_of(runtime, query, _scope_of(part, reader_id))
    return _Start(after, paging.first_count(query.limit))


@dataclass(frozen=True)
class _Source:
    """The source of a part of a reader's news.

    `since`: the instant from which the stored part is complete. None: the source is pulled.
    """

    reader_id: str
    part: Part
    fetch: paging.Fetch[ShownPost]
    since: datetime | None = None


def _from_source(
    runtime: Runtime,
    reader_id: str,
    part: Part,
    start: _Start,
    read_from: Callable[[_Source], Result],
) -> Result:
    """Return the result of `read_from` on stored news.

    Pulled news replace stored news if the design stores none, the reader is unknown or stale, or a
    trim runs during the read.
    """
    stored = stored_design(runtime)
    beginning = stored.beginning(reader_id, part, *start) if stored else None
    reader = note_visit(runtime, reader_id, beginning)
    own = reader.get("own") if reader else None
    pull_all = _fetch_of(PulledNews(runtime.database, own), part, reader_id)
    pulled = _Source(reader_id, part, pull_all)
    if stored is None or reader is None or reader["stale"]:
        return read_from(pulled)
    since = reader["complete_since"][part]
    held = _begin_with(_fetch_of(stored, part, reader_id), start, reader["begun"])
    fetch = _merge_fetches(held, _fetch_above(runtime, reader_id, part), pull_all, since)
    if part == "news":
        # Stored news also have strangers' posts to circles, and a page of news shows none of them:
        # pull after two fetches.
        fetch = paging.fetch_in_turn(fetch, _STORED_FETCHES, pull_all)
    try:
        return read_from(_Source(reader_id, part, fetch, since))
    except _Trimmed:
        return read_from(pulled)


def _fetch_of(view: NewsView, part: Part, reader_id: str) -> _Fetch:
    return partial(view.newest if part == "news" else view.newest_sent, reader_id)


def _begin_with(held: Callable[..., _Entries], start: _Start, begun: list[Document]) -> _Fetch:
    """Return a fetch that uses `begun`, the rows read with the reader, for the first fetch."""

    def fetch(after: ListPosition | None, count: int) -> _Entries:
        return held(after, count, begun if (after, count) == start else None)

    return fetch


def _fetch_above(runtime: Runtime, reader_id: str, part: Part) -> _Fetch | None:
    """Return a fetch of the posts above the pull threshold; None: no author has such posts."""
    database, marked = runtime.database, pull.marked_authors(runtime)
    if marked is not None and not marked:
        return None
    if part == "sent":
        return partial(pull.newest_sent, database, reader_id)
    followed = following.following(database, reader_id)
    if marked is None:
        return partial(pull.newest, database, pull.authors_with_pulled(database, followed))
    return partial(pull.newest, database, [each for each in followed if each in marked])


def _merge_fetches(held: _Fetch, above: _Fetch | None, pulled: _Fetch, since: datetime) -> _Fetch:
    """Return a fetch that merges stored posts since an instant with posts above the threshold.

    `above` None: no author has posts above the threshold. Before `since`, stored posts may be
    incomplete: a fetch that reaches it pulls.
    """

    def fetch(after: ListPosition | None, count: int) -> Sequence[ListEntry[ShownPost]]:
        if after and after.ts < since:
            return pulled(after, count)
        found = [entry for entry in held(after, count) if entry.position.ts >= since]
        if len(found) < count and since > users.EPOCH:
            return pulled(after, count)
        return merge(count, found, above(after, count) if above else [])

    return fetch


def _page(runtime: Runtime, after: ListPosition | None, limit: int, source: _Source) -> PostsAnswer:
    """Return a page; raises _Trimmed if a trim has raised `since` during the read."""
    reader_id = source.reader_id
    show = partial(_show, runtime.database, source)
    answer = partial(post_answer, reader_id=reader_id, base=runtime.settings.public_url)
    scope = _scope_of(source.part, reader_id)
    listing = paging.PageSource(scope, source.fetch, show, answer)
    shown, further = paging.read_page_after(runtime, after, limit, listing)
    return {"posts": shown, "next": further}


def _newest_id(runtime: Runtime, source: _Source) -> str | None:
    """Return the id of the newest visible post; raises _Trimmed as `_page`."""

    def show(found: Sequence[ShownPost]) -> list[ShownPost | None]:
        return _visible(runtime.database, source, found)[1]

    shown, _following = paging.fill_page(runtime, 1, None, source.fetch, show)
    return shown[0][1]["id"] if shown else None


def is_news(reader: Reader, post: AddressedPost) -> bool:
    """Return whether a post is by a user that the reader follows."""
    return post["by"]["id"] in reader.following


def is_part_of(part: Part, reader: Reader, post: AddressedPost) -> bool:
    """Return whether a post that the reader may see belongs to a part of the reader's news."""
    return is_news(reader, post) if part == "news" else was_sent(reader, post)


def _visible(
    database: Database[Document], source: _Source, found: Sequence[ShownPost]
) -> tuple[Reader, list[ShownPost | None]]:
    """Return the reader, and the posts; None in place of each post that the page may not show.

    Raises _Trimmed.
    """
    part, since = source.part, source.since
    reader = audiences.reader_of(database, source.reader_id, found)
    # The read of the reader follows the read of the posts: if the instant is the same, no trim
    # has deleted posts in between.
    if since and reader.complete_since and reader.complete_since[part] > since:
        raise _Trimmed
    return reader, [
        post if is_part_of(part, reader, post) and may_see(reader, post) else None for post in found
    ]


def _show(
    database: Database[Document], source: _Source, found: Sequence[ShownPost]
) -> list[ShownPost | None]:
    reader, mine = _visible(database, source, found)
    shown = comments.omit_blocked_comments(database, reader, mine)
    counted = reactions.with_counts(database, source.reader_id, shown)
    return votes.with_results(database, source.reader_id, counted)


def note_visit(runtime: Runtime, reader_id: str, beginning: Document | None) -> Presence | None:
    """Note a reader's visit, and return the reader; None for an unknown user.

    `beginning`: the `$lookup` of the first rows of the reader's stored news. None: the design pulls
    news, and the returned reader has the follows (`own`) instead.

    A visit a day or more after the last noted visit sends a job that trims the news. If fan-outs
    may have skipped the reader, or `_is_known` is False, the news become `stale`, and a job
    rebuilds them.
    """
    reader = _read_presence(runtime, reader_id, beginning)
    if reader is None:
        return None
    now, stale = runtime.now(), reader["stale"] or not _is_known(runtime, reader)
    absence = now - reader["last_seen"]
    if absence >= _SEEN_AT_MOST_EVERY or stale != reader["stale"]:
        # A day before `AWAY`: a concurrent `mark_away` may make fan-outs skip the reader.
        stale |= absence >= AWAY - _SEEN_AT_MOST_EVERY
        job: Rebuild | Trim = Rebuild(user_id=reader_id) if stale else Trim(user_id=reader_id)
        outbox.note(runtime, job)
        back = {"last_seen": now, "away": False, "stale": stale}
        users.USERS.of(runtime.database).update_one({"_id": reader_id}, {"$set": back})
        runtime.queues.send(job)
    reader["stale"] = stale
    return reader


def _read_presence(runtime: Runtime, reader_id: str, beginning: Document | None) -> Presence | None:
    """Return a reader with the first rows of `beginning`, in one round trip; None: unknown."""
    stages: list[Document] = [{"$match": {"_id": reader_id}}, {"$project": _PRESENCE}]
    if beginning is None:
        stages[1] = {"$project": {**_PRESENCE, **_OWN}}
    else:
        # A result row for each stored row: in one document, they could exceed 16 MB.
        each = {"path": "$begun", "preserveNullAndEmptyArrays": True}
        stages += [{"$lookup": {**beginning, "as": "begun"}}, {"$unwind": each}]
    rows = list(runtime.database[users.USERS.name].aggregate(stages))
    begun = [row["begun"] for row in rows if "begun" in row]
    # Each row repeats the reader with one `begun`; the type checker cannot infer it.
    return cast("Presence", {**rows[0], "begun": begun}) if rows else None


def _is_known(runtime: Runtime, reader: Presence) -> bool:
    """Return whether `complete_since` holds for a reader's stored news.

    It does not after a trim by an earlier release, nor after a change of the design.
    """
    since = reader.get("complete_since")
    if since is None or reader.get("trimmed"):
        return False
    return since.get("design", runtime.settings.news) == runtime.settings.news


def unknown_filter(runtime: Runtime) -> Document:
    """Return the filter of users whose stored news may be incomplete anywhere."""
    return {
        "$or": [
            {"complete_since": {"$exists": False}},
            {"complete_since.design": {"$nin": [None, runtime.settings.news]}},
            {"trimmed": True},
        ]
    }


def raise_since(runtime: Runtime, user_id: str, to: CompleteSince) -> CompleteSince | None:
    """Raise `complete_since` of a reader to at least `to`; return its present instants.

    Instants only rise, so concurrent jobs do not undo each other. None: an unknown user, or a
    document of an earlier release without instants.
    """
    later = {f"complete_since.{part}": to[part] for part in PARTS}
    user = users.USERS.of(runtime.database).find_one_and_update(
        {"_id": user_id, "complete_since": {"$exists": True}},
        {"$max": later},
        projection={"complete_since": 1},
        return_document=ReturnDocument.AFTER,
    )
    return user.get("complete_since") if user else None


def mark_away(database: Database[Document], now: datetime) -> int:
    """Mark users without a visit in `AWAY`, so that fan-outs skip them; return their number."""
    gone = {"away": False, "last_seen": {"$lte": now - AWAY}}
    return users.USERS.of(database).update_many(gone, {"$set": {"away": True}}).modified_count


def select_present(database: Database[Document], user_ids: list[str]) -> list[str]:
    """Return the users among these who are not away."""
    # A partial index has absent users alone, and they are fewer than present users.
    where = {"_id": {"$in": user_ids}, "away": True}
    rows = users.USERS.of(database).find(where, {"_id": 1}).hint(users.BY_AWAY)
    away = {user["_id"] for user in rows}
    return [user_id for user_id in user_ids if user_id not in away]
