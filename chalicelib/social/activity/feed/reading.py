"""Pages of a feed: two to five queries a page, whatever the size of the feed.

The first query reads the reader, the reader's blocks, and items in the feed's order. The second
query reads the actions of these items. If the reader may no longer see some of
these, a third query reads the actions of the spare items, which the first query read beyond the
page. For a reader with more than `blocks_read` blocks, each query of actions needs another query:
for the blocks with the actors. docs/decisions/0053 defines a page under changes.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypedDict

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.http.paging import decode_cursor, encode_cursor
from chalicelib.instants import milliseconds, moment
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.shapes import ReadAction, fields_for
from chalicelib.social.activity.actions.visibility import may_see
from chalicelib.social.activity.feed import items
from chalicelib.social.activity.feed.answers import (
    MAX_NEWER,
    MAX_UNREAD,
    FeedAnswer,
    feed_action_answer,
)
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.places import Org
from chalicelib.social.graph import users
from chalicelib.social.paging import ListPosition

# Places beyond a page, in case some items are no longer the reader's and not yet removed.
SPARE = 5
# `risen` is set before its write commits. Items that rose in this window before the first page
# count as newer, to cover write latency and clock skew.
RISING = timedelta(seconds=5)

# The projection of the reader to the fields that decide the feed's content.
_READER = {"_id": 0, "team": 1, "department": 1, "muted": 1}


class _Place(NamedTuple):
    """The start of a page: the time of the feed's first page, and the position before this page."""

    snapshot: datetime
    after: ListPosition | None


class _Reader(TypedDict):
    """A reader as `_READER` reads the document."""

    team: str | None
    department: str | None
    muted: list[str]


_NEW_READER: _Reader = {"team": None, "department": None, "muted": []}


class _Found(NamedTuple):
    """The result of the first query; `newer` is the number of risen items.

    `blocked` are the users with a block with the reader. None: too many to read.
    """

    positions: list[ListPosition]
    reader: _Reader
    newer: int
    blocked: list[str] | None


def read(runtime: Runtime, reader_id: str, query: PageQuery) -> FeedAnswer:
    """Return a page of a feed by relevancy, the most relevant action first.

    `newer` counts, up to 1,000, items that came or rose since the first page; later pages omit
    them. It also counts items of the last seconds before the first page; pages may have them. A
    page may be short before the end; `next` is None at the end.
    """
    keys = runtime.settings.signing_keys
    place = _Place(runtime.now(), None)
    if query.cursor:
        place = _decode(decode_cursor(query.cursor, _scope(reader_id), keys))
    count = query.limit + SPARE
    found = _find(runtime, reader_id, place, count)
    bodies = _bodies(runtime.database, reader_id, found, query.limit + 1)
    shown = [each for each in found.positions if each.post_id in bodies]
    last = _end(found.positions, shown, query.limit, is_full=len(found.positions) == count)
    answers = [feed_action_answer(bodies[each.post_id], each.ts) for each in shown[: query.limit]]
    return {
        "actions": answers,
        "next": cursor_of(runtime, reader_id, place.snapshot, last) if last else None,
        "newer": found.newer,
    }


def _end(
    examined: list[ListPosition], shown: list[ListPosition], limit: int, *, is_full: bool
) -> ListPosition | None:
    """Return the position before the next page. None: there is no next page."""
    if len(shown) > limit:
        return shown[limit - 1]
    return examined[-1] if is_full else None


def _find(runtime: Runtime, reader_id: str, place: _Place, count: int) -> _Found:
    """Read the next `count` positions of a feed, its reader and the reader's blocks, in one query.

    On later pages, also count the items that rose since the first page.
    """
    mine: Document = {"user_id": reader_id, "hidden": False}
    me: Document = {"$match": {"_id": reader_id}}
    most = runtime.bounds.social.blocks_read
    across = {"_id": 0, "across": {"$slice": [users.BLOCKED_EITHER_WAY, most + 1]}}
    stages: list[Document] = [
        {"$match": _after_filter(mine, place)},
        {"$sort": {"relevancy": -1, "action_id": -1}},
        {"$limit": count},
        {"$project": {"_id": 0, "relevancy": 1, "action_id": 1}},
        {"$unionWith": {"coll": people.PEOPLE.name, "pipeline": [me, {"$project": _READER}]}},
        *users.union_of_blocks([me, {"$project": across}]),
    ]
    if place.after:
        stages.append({"$unionWith": {"coll": items.ITEMS.name, "pipeline": _newer(mine, place)}})
    rows = list(
        runtime.database[items.ITEMS.name].aggregate(
            stages,
            hint=dict(items.FEED_ORDER),
        )
    )
    blocked = sorted({each for row in rows for each in row.get("across", ())})
    return _Found(
        [ListPosition(row["relevancy"], row["action_id"]) for row in rows if "action_id" in row],
        next((_reader(row) for row in rows if "muted" in row), _NEW_READER),
        sum(row.get("newer", 0) for row in rows),
        blocked if len(blocked) <= most else None,
    )


def _reader(row: Document) -> _Reader:
    return {"team": row["team"], "department": row["department"], "muted": row["muted"]}


def _after_filter(mine: Document, place: _Place) -> Document:
    """Return the filter of items after a position: two whole ranges of the index.

    With the position as one condition among others, the server would fetch every item.
    """
    if place.after is None:
        return mine
    unrisen = mine | {"risen": {"$lte": place.snapshot}}
    relevancy, action_id = place.after
    same = {"relevancy": relevancy, "action_id": {"$lt": action_id}}
    return {"$or": [unrisen | same, unrisen | {"relevancy": {"$lt": relevancy}}]}


def _newer(mine: Document, place: _Place) -> list[Document]:
    return [
        {"$match": mine | {"risen": {"$gt": place.snapshot - RISING}}},
        # This order makes the server choose the index by `risen`, of two possible indexes.
        {"$sort": {"risen": -1}},
        {"$limit": MAX_NEWER},
        {"$count": "newer"},
    ]


def _bodies(
    database: Database[Document], reader_id: str, found: _Found, wanted: int
) -> dict[str, ReadAction]:
    """Return the actions that the reader may see today, by id.

    If some of the first `wanted` places are no longer the reader's, read the spare places too.
    """
    first, spare = found.positions[:wanted], found.positions[wanted:]
    bodies = _visible(database, reader_id, found, first)
    if spare and len(bodies) < wanted:
        bodies |= _visible(database, reader_id, found, spare)
    return bodies


def _visible(
    database: Database[Document], reader_id: str, found: _Found, positions: list[ListPosition]
) -> dict[str, ReadAction]:
    """Return the actions at these positions that the reader may see, by id.

    Omit actions of actors whom the reader mutes.
    """
    ids = [position.post_id for position in positions]
    where = {"_id": {"$in": ids}}
    rows = list(actions.ACTIONS.of(database).find(where, fields_for(reader_id)))
    blocked = frozenset(found.blocked or ())
    if found.blocked is None:
        actors = {action["actor"]["id"] for action in rows}
        blocked = people.viewpoint(database, reader_id, actors).blocked
    reader = found.reader
    today = Org(reader["team"], reader["department"])
    return {
        action["_id"]: action
        for action in rows
        if not action["hidden"]
        and action["actor"]["id"] not in reader["muted"]
        and may_see(action, reader_id, today, blocked)
    }


def count_unread(runtime: Runtime, reader_id: str) -> int:
    """Count items that came or rose in a feed since its reader last marked the feed as seen.

    Counts up to `MAX_UNREAD`, without items whose last rise is by the reader's own event.
    """
    person = people.PEOPLE.of(runtime.database).find_one({"_id": reader_id}, {"seen": 1})
    risen: Document = {"risen": {"$gt": person["seen"]}} if person and person["seen"] else {}
    return items.ITEMS.of(runtime.database).count_documents(
        {"user_id": reader_id, "hidden": False, "own": False, **risen},
        limit=MAX_UNREAD,
        hint=items.BY_RISE,
    )


def mark_seen(runtime: Runtime, reader_id: str) -> None:
    """Note that a reader has looked at the feed now."""
    unknown = {name: value for name, value in people.NEW_PERSON.items() if name != "seen"}
    people.PEOPLE.of(runtime.database).update_one(
        {"_id": reader_id},
        {"$max": {"seen": runtime.now()}, "$setOnInsert": unknown},
        upsert=True,
    )


def cursor_of(runtime: Runtime, reader_id: str, snapshot: datetime, last: ListPosition) -> str:
    """Return the cursor after a position, in the feed as of a snapshot's time."""
    position = [milliseconds(snapshot), milliseconds(last.ts), last.post_id]
    return encode_cursor(position, _scope(reader_id), runtime.settings.signing_keys)


def _scope(reader_id: str) -> str:
    return f"feed:{reader_id}"


def _decode(position: list[Any]) -> _Place:
    snapshot, relevancy, action_id = position
    return _Place(moment(snapshot), ListPosition(moment(relevancy), action_id))
