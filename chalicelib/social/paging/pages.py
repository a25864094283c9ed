"""A page of posts, newest first, checked for the reader and filled up again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors
from chalicelib.instants import milliseconds, moment
from chalicelib.runtime import Runtime
from chalicelib.social.paging.positions import Entry, Listed, Position

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
