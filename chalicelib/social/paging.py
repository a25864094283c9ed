"""Positions in a listing, ranges of ids, and pages filled up after a permission check.

Public face: `id_range`, `pages`, `positions`.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Collection as Ids
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors
from chalicelib.instants import milliseconds, moment
from chalicelib.runtime import Runtime


class IdRange(NamedTuple):
    """The ids greater than `after` and up to `until`, at most `limit` of them."""

    after: str = ""
    until: str | None = None
    limit: int | None = None

    @property
    def bounds(self) -> Document:
        """Return the range as a condition of a query."""
        return {"$gt": self.after} | ({} if self.until is None else {"$lte": self.until})

    def cut(self, ids: Ids[str]) -> list[str]:
        """Return the ids that are in the range, in order."""
        until = self.until
        return sorted(i for i in ids if i > self.after and (until is None or i <= until))[
            : self.limit
        ]


# Positions and entries in a listing, newest first, and times in cursors.

# What is listed: a post, a comment or an action.
Listed = TypeVar("Listed", bound=Mapping[str, Any])
Listed_co = TypeVar("Listed_co", bound=Mapping[str, Any], covariant=True)


class Position(NamedTuple):
    """The place of a post in every view, or of an action in a feed or a listing."""

    ts: datetime
    post_id: str


class Entry(NamedTuple, Generic[Listed_co]):
    """A place in a listing; what was listed there may be gone."""

    position: Position
    post: Listed_co | None


def older_than(position: Position | None, ts: str, post_id: str) -> Document:
    """Return the filter for what follows a position, by the names of its two fields.

    The range on `ts` is a condition of its own, so that it bounds an index.
    """
    if position is None:
        return {}
    earlier, same = {ts: {"$lt": position.ts}}, {post_id: {"$lt": position.post_id}}
    return {ts: {"$lte": position.ts}, "$or": [earlier, same]}


def newer_than(position: Position, ts: str, post_id: str) -> Document:
    """Return the filter for what comes after a position, oldest first."""
    later, same = {ts: {"$gt": position.ts}}, {post_id: {"$gt": position.post_id}}
    return {ts: {"$gte": position.ts}, "$or": [later, same]}


def merge(count: int, *lists: Sequence[Entry[Listed]]) -> list[Entry[Listed]]:
    """Return the newest of several lists of entries, a post that is in two of them once."""
    entries: dict[Position, Entry[Listed]] = {}
    for entry in (entry for each in lists for entry in each):
        if entry.post or entry.position not in entries:
            entries[entry.position] = entry
    return sorted(entries.values(), key=lambda entry: entry.position, reverse=True)[:count]


def dated(position: Sequence[Any] | None) -> Position | None:
    """Return the position of a cursor that has its time as text (ISO 8601)."""
    return Position(datetime.fromisoformat(position[0]), position[1]) if position else None


# A page of posts, newest first, checked for the reader and filled up again.

# The form in which the API answers what is listed.
Shown = TypeVar("Shown")
Fetch = Callable[[Position | None, int], Sequence[Entry[Listed]]]
Show = Callable[[list[Listed]], Sequence[Listed | None]]


@dataclass(frozen=True)
class Listing(Generic[Listed, Shown]):
    """What a page is made of; cursors of one `scope` are not valid in another.

    `fetch(after, count)` returns the entries that follow a position, fewer than `count` only at
    the listing's end; `show(documents)` returns each as the reader sees it here, or None;
    `answer` returns a document as the API shows it.
    """

    scope: str
    fetch: Fetch[Listed]
    show: Show[Listed]
    answer: Callable[[Listed], Shown]


def checked(
    runtime: Runtime, query: PageQuery, view: Listing[Listed, Shown]
) -> tuple[list[Shown], str | None]:
    """Return what a page answers, and the cursor of the next one.

    A page ends early if the check has thinned out too many.
    """
    cursors = Cursors(view.scope, runtime.settings.signing_keys)
    position = cursors.position(query)
    after = _decode(position) if position else None
    shown, following = filled(runtime, query.limit, after, view.fetch, view.show)
    answers = [view.answer(document) for _position, document in shown]
    return answers, cursors.following(_encode(following) if following else None)


def filled(
    runtime: Runtime, limit: int, after: Position | None, fetch: Fetch[Listed], show: Show[Listed]
) -> tuple[list[tuple[Position, Listed]], Position | None]:
    """Return what a page shows after a position, and where the next one begins; None at the end.

    `fetch` and `show` are those of a `Listing`. A page that the check thins is filled up again,
    until `page_examined` documents were examined. The cursor then has the place of the last of
    them, which its reader may not see: its id and time, and no more.
    """
    bounds = runtime.bounds.social
    shown: list[tuple[Position, Listed]] = []
    count, examined, more = limit + 1, 0, True
    wanted = count
    while more and len(shown) < count and examined < bounds.page_examined:
        entries = fetch(after, wanted)
        shown += _shown(entries, show)
        examined += len(entries)
        more = len(entries) == wanted
        after = entries[-1].position if entries else after
        wanted = max(count, bounds.page_refill)
    if len(shown) >= count:
        return shown[:limit], shown[limit - 1][0]
    return shown, after if more else None


def _shown(entries: Sequence[Entry[Listed]], show: Show[Listed]) -> list[tuple[Position, Listed]]:
    there = [(entry.position, entry.post) for entry in entries if entry.post]
    posts = show([post for _position, post in there])
    return [(position, post) for (position, _), post in zip(there, posts, strict=True) if post]


def _encode(position: Position) -> list[Any]:
    return [milliseconds(position.ts), position.post_id]


def _decode(position: Sequence[Any]) -> Position:
    ts, post_id = position
    return Position(moment(ts), post_id)
