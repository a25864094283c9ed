"""Positions in a listing, ranges of ids, and pages that refill after a permission check."""

import itertools
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
    """Ids greater than `after` and up to `until`, at most `limit`. None: no bound."""

    after: str = ""
    until: str | None = None
    limit: int | None = None

    @property
    def bounds(self) -> Document:
        """Return the range as a condition of a query."""
        return {"$gt": self.after} | ({} if self.until is None else {"$lte": self.until})

    def cut(self, ids: Ids[str]) -> list[str]:
        """Return the ids within the range, in order."""
        until = self.until
        return sorted(i for i in ids if i > self.after and (until is None or i <= until))[
            : self.limit
        ]


# Positions and entries in a listing, newest first, and times in cursors.

# A document of a listing: a post, a comment or an action.
Listed = TypeVar("Listed", bound=Mapping[str, Any])
Listed_co = TypeVar("Listed_co", bound=Mapping[str, Any], covariant=True)


class ListPosition(NamedTuple):
    """A place in a listing: the time and the id of a post, a comment or an action."""

    ts: datetime
    post_id: str


class ListEntry(NamedTuple, Generic[Listed_co]):
    """A place in a listing, and its document. None: the document is gone."""

    position: ListPosition
    post: Listed_co | None


def older_than(position: ListPosition | None, ts: str, post_id: str) -> Document:
    """Return the filter for documents after a position, newest first.

    `position` None: all documents. `ts` and `post_id` name the two fields. The separate range on
    `ts` bounds the scan of an index.
    """
    if position is None:
        return {}
    earlier, same = {ts: {"$lt": position.ts}}, {post_id: {"$lt": position.post_id}}
    return {ts: {"$lte": position.ts}, "$or": [earlier, same]}


def newer_than(position: ListPosition, post_id: str) -> Document:
    """Return the filter for documents after a position, oldest first, by `ts` and `post_id`."""
    later, same = {"ts": {"$gt": position.ts}}, {post_id: {"$gt": position.post_id}}
    return {"ts": {"$gte": position.ts}, "$or": [later, same]}


def merge(count: int, *lists: Sequence[ListEntry[Listed]]) -> list[ListEntry[Listed]]:
    """Return the `count` newest entries of several lists, each position once."""
    entries: dict[ListPosition, ListEntry[Listed]] = {}
    for entry in (entry for each in lists for entry in each):
        if entry.post or entry.position not in entries:
            entries[entry.position] = entry
    return sorted(entries.values(), key=lambda entry: entry.position, reverse=True)[:count]


def parse_position(position: Sequence[Any] | None) -> ListPosition | None:
    """Return the position in a cursor whose time is a text (ISO 8601). None: no cursor."""
    return ListPosition(datetime.fromisoformat(position[0]), position[1]) if position else None


# A page of documents, newest first, checked for the reader and refilled.

# The API's form of a document.
Shown = TypeVar("Shown")
Fetch = Callable[[ListPosition | None, int], Sequence[ListEntry[Listed]]]
Show = Callable[[list[Listed]], Sequence[Listed | None]]


@dataclass(frozen=True)
class PageSource(Generic[Listed, Shown]):
    """The parts of a page; a cursor is valid in its own `scope` alone.

    `fetch(after, count)` returns the entries after a position, fewer than `count` only at the
    listing's end. `show(documents)` returns each document as the reader sees it. None: the reader
    may not see the document. `answer` converts a document to the API's form.
    """

    scope: str
    fetch: Fetch[Listed]
    show: Show[Listed]
    answer: Callable[[Listed], Shown]


def read_page(
    runtime: Runtime, query: PageQuery, view: PageSource[Listed, Shown]
) -> tuple[list[Shown], str | None]:
    """Return the answers of a page, and the cursor of the next page. None: no next page.

    If the check removes too many documents, the page ends early. Raises InvalidCursor.
    """
    return read_page_after(runtime, position_of(runtime, query, view.scope), query.limit, view)


def read_page_after(
    runtime: Runtime, after: ListPosition | None, limit: int, view: PageSource[Listed, Shown]
) -> tuple[list[Shown], str | None]:
    """Return the same as `read_page`, after a position that the caller has decoded."""
    shown, following = fill_page(runtime, limit, after, view.fetch, view.show)
    answers = [view.answer(document) for _position, document in shown]
    cursors = Cursors(view.scope, runtime.settings.signing_keys)
    return answers, cursors.following(_encode(following) if following else None)


def position_of(runtime: Runtime, query: PageQuery, scope: str) -> ListPosition | None:
    """Return the position before a page; raises InvalidCursor. None: the first page."""
    position = Cursors(scope, runtime.settings.signing_keys).position(query)
    return _decode(position) if position else None


def first_count(limit: int) -> int:
    """Return the number of entries that a page of up to `limit` documents fetches first."""
    return limit + 1


def fetch_in_turn(first: Fetch[Listed], times: int, then: Fetch[Listed]) -> Fetch[Listed]:
    """Return a fetch that calls `first` for its first `times` calls, and `then` afterwards.

    The fetch counts its calls, so it serves one page alone.
    """
    calls = itertools.count()

    def fetch(after: ListPosition | None, count: int) -> Sequence[ListEntry[Listed]]:
        return (first if next(calls) < times else then)(after, count)

    return fetch


def fill_page(
    runtime: Runtime,
    limit: int,
    after: ListPosition | None,
    fetch: Fetch[Listed],
    show: Show[Listed],
) -> tuple[list[tuple[ListPosition, Listed]], ListPosition | None]:
    """Return a page's documents with their positions, and the position before the next page.

    None: there is no next page. `fetch` and `show` are as in `PageSource`. If the check removes
    documents, the page refills until it is full, or has examined `page_examined` documents. In the
    second case the page ends at the last examined document: the position has its id and time, even
    if the reader may not see it.
    """
    bounds = runtime.bounds.social
    shown: list[tuple[ListPosition, Listed]] = []
    count, examined, more = first_count(limit), 0, True
    wanted = count
    while more and len(shown) < count and examined < bounds.page_examined:
        entries = fetch(after, wanted)
        shown += _show_entries(entries, show)
        examined += len(entries)
        more = len(entries) == wanted
        after = entries[-1].position if entries else after
        wanted = max(count, bounds.page_refill)
    if len(shown) >= count:
        return shown[:limit], shown[limit - 1][0]
    return shown, after if more else None


def _show_entries(
    entries: Sequence[ListEntry[Listed]], show: Show[Listed]
) -> list[tuple[ListPosition, Listed]]:
    there = [(entry.position, entry.post) for entry in entries if entry.post]
    posts = show([post for _position, post in there])
    return [(position, post) for (position, _), post in zip(there, posts, strict=True) if post]


def _encode(position: ListPosition) -> list[Any]:
    return [milliseconds(position.ts), position.post_id]


def _decode(position: Sequence[Any]) -> ListPosition:
    ts, post_id = position
    return ListPosition(moment(ts), post_id)
