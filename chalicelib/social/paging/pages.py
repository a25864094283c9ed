"""A page of posts, newest first, checked for the reader and filled up again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.database import Document
from chalicelib.http import PageQuery, payloads
from chalicelib.http.pages import Cursors
from chalicelib.runtime import Runtime
from chalicelib.social.paging.positions import Entry, Position, milliseconds, moment

# A page ends early, with a cursor, when the check has thinned so much. That cursor bears the place
# of the last document examined, which its reader may not see: the id and the time, and no more.
MAX_EXAMINED = 2_000
# Fetched at least, when the check has thinned a page: a short page takes no more queries.
MIN_REFILL = 100


Fetch = Callable[[Position | None, int], list[Entry]]
Show = Callable[[list[Document]], list[Document | None]]


@dataclass(frozen=True)
class Listing:
    """What a page is made of; cursors of one `scope` are no good in another.

    `fetch(after, count)` gives the entries that follow a position, fewer than `count` at the
    view's end alone; `show(documents)` gives each as the reader sees it here, or None; `answer`
    gives the form in which such a document goes out.
    """

    scope: str
    fetch: Fetch
    show: Show
    answer: Callable[[Document], Document]


def page(runtime: Runtime, query: PageQuery, view: Listing) -> dict[str, Any]:
    """Return `{posts, next}` of a view, as `checked` has it."""
    posts, following = checked(runtime, query, view)
    return {"posts": posts, "next": following}


def checked(runtime: Runtime, query: PageQuery, view: Listing) -> tuple[list[Document], str | None]:
    """Return what a page answers, and the cursor of the next one; it may end early.

    It does when the check has thinned too many, or where an answer can bear no more.
    """
    cursors = Cursors(view.scope, runtime.settings.signing_keys)
    position = cursors.position(query)
    after = _decode(position) if position else None
    shown, following = filled(query.limit, after, view.fetch, view.show)
    answers = [view.answer(document) for _position, document in shown]
    fitting = payloads.fitting(answers)
    if fitting < len(answers):
        following = shown[fitting - 1][0]
    return answers[:fitting], cursors.following(_encode(following) if following else None)


def filled(
    limit: int, after: Position | None, fetch: Fetch, show: Show
) -> tuple[list[tuple[Position, Document]], Position | None]:
    """Return what a page shows after a position, and where the next one goes on; None at the end.

    `fetch` and `show` are those of a `View`. Where the check thins a page, it is filled up again.
    """
    shown: list[tuple[Position, Document]] = []
    count, examined, more = limit + 1, 0, True
    wanted = count
    while more and len(shown) < count and examined < MAX_EXAMINED:
        entries = fetch(after, wanted)
        shown += _shown(entries, show)
        examined += len(entries)
        more = len(entries) == wanted
        after = entries[-1].position if entries else after
        wanted = max(count, MIN_REFILL)
    if len(shown) >= count:
        return shown[:limit], shown[limit - 1][0]
    return shown, after if more else None


def _shown(entries: list[Entry], show: Show) -> list[tuple[Position, Document]]:
    there = [(entry.position, entry.post) for entry in entries if entry.post]
    posts = show([post for _position, post in there])
    return [(position, post) for (position, _), post in zip(there, posts, strict=True) if post]


def _encode(position: Position) -> list[Any]:
    return [milliseconds(position.ts), position.post_id]


def _decode(position: Sequence[Any]) -> Position:
    ts, post_id = position
    return Position(moment(ts), post_id)
