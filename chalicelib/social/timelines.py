"""A page of posts, newest first, checked for the reader and filled up again."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from chalicelib.cursors import decode_cursor, encode_cursor
from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.runtime import Runtime
from chalicelib.social.models import post_answer

# A page ends early, with a cursor, when the check has thinned so much.
MAX_EXAMINED = 2_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Position(NamedTuple):
    """Where a post stands in every view."""

    ts: datetime
    post_id: str


class Entry(NamedTuple):
    """A place in a view; the post that stood there may be gone."""

    position: Position
    post: Document | None


Fetch = Callable[[Position | None, int], list[Entry]]
Check = Callable[[list[Document]], list[bool]]


def page(
    runtime: Runtime, query: PageQuery, scope: str, fetch: Fetch, check: Check
) -> dict[str, Any]:
    """Return `{posts, next}` of a view.

    `fetch(after, count)` gives the entries that follow a position, fewer than `count` at the
    view's end alone; `check(posts)` tells of each whether the reader may see it here.
    """
    keys = runtime.settings.signing_keys
    after = _decode(decode_cursor(query.cursor, scope, keys)) if query.cursor else None
    shown: list[Entry] = []
    count, examined, more = query.limit + 1, 0, True
    while more and len(shown) < count and examined < MAX_EXAMINED:
        entries = fetch(after, count)
        shown += _passed(entries, check)
        examined += len(entries)
        more = len(entries) == count
        after = entries[-1].position if entries else after
    if len(shown) >= count:
        shown, more = shown[: query.limit], True
        after = shown[-1].position
    return {
        "posts": [post_answer(entry.post) for entry in shown if entry.post],
        "next": encode_cursor(_encode(after), scope, keys) if more and after else None,
    }


def _passed(entries: list[Entry], check: Check) -> list[Entry]:
    there = [entry for entry in entries if entry.post]
    verdicts = check([entry.post for entry in there if entry.post])
    return [entry for entry, passes in zip(there, verdicts, strict=True) if passes]


def older_than(position: Position | None, ts: str, post_id: str) -> Document:
    """Return the filter for what follows a position, by the names of its two fields.

    The range on `ts` stands by itself, so that it bounds an index.
    """
    if position is None:
        return {}
    earlier, same = {ts: {"$lt": position.ts}}, {post_id: {"$lt": position.post_id}}
    return {ts: {"$lte": position.ts}, "$or": [earlier, same]}


def _encode(position: Position) -> list[Any]:
    return [(position.ts - _EPOCH) // _MILLISECOND, position.post_id]


def _decode(position: list[Any]) -> Position:
    milliseconds, post_id = position
    return Position(_EPOCH + milliseconds * _MILLISECOND, post_id)
