"""A person's inbox: its pages, its numbers, and its marks."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from chalicelib.database import Document
from chalicelib.http.paging import Position
from chalicelib.identity import Principal
from chalicelib.notifications.rows import INBOXES, ITEMS, UNREAD, WANTED, NotificationItem
from chalicelib.runtime import Runtime

# A badge says "99+" beyond.
MOST_COUNTED = 100
# The beginning of a comment that a notification shows, and that a letter shows.
EXCERPT_CHARACTERS, TEXT_CHARACTERS = 140, 1_000
_NEWEST = [("risen", -1), ("_id", -1)]


class ShownThing(NamedTuple):
    """The thing of a notification as its reader sees it now; `text`: its beginning."""

    by_name: str
    text: str
    page_id: str
    page_title: str
    page_url: str
    permalink: str


# Returns the things that a reader sees now, by the ids of their items.
Show = Callable[[Runtime, Principal, Sequence[NotificationItem]], Mapping[str, ShownThing]]


class InboxRow(NamedTuple):
    """An item with its thing."""

    item: NotificationItem
    thing: ShownThing


class InboxPage(NamedTuple):
    """Items that the reader sees, and the place after which there may be more; None: none."""

    rows: list[InboxRow]
    following: Position | None


class InboxCounts(NamedTuple):
    """Numbers of unread items, and of items since the person last looked, up to 100."""

    unread: int
    unseen: int


class InboxState(NamedTuple):
    """The time of the newest item of an inbox, None for an empty one, and its numbers."""

    risen: datetime | None
    unread: int
    unseen: int


class WantedPage(NamedTuple):
    """The page of an inbox to read: after a place, with at most so many items."""

    after: Position | None
    limit: int
    is_unread: bool


def page(runtime: Runtime, show: Show, reader: Principal, wanted: WantedPage) -> InboxPage:
    """Return a page of a person's inbox, the newest first, without things that they do not see.

    An unread item whose thing they no longer see becomes read, so that the numbers leave it out.
    """
    limit = wanted.limit
    where: Document = {"user_id": reader.id, **(UNREAD if wanted.is_unread else WANTED)}
    if wanted.after is not None:
        risen, last = wanted.after
        where["$or"] = [{"risen": {"$lt": risen}}, {"risen": risen, "_id": {"$lt": last}}]
    found = list(ITEMS.of(runtime.database).find(where).sort(_NEWEST).limit(limit + 1))
    items = found[:limit]
    things = show(runtime, reader, items) if items else {}
    unseen = [each["_id"] for each in items if each["_id"] not in things and not each["read"]]
    if unseen:
        _read(runtime, reader.id, {"_id": {"$in": unseen}})
    rows = [InboxRow(each, things[each["_id"]]) for each in items if each["_id"] in things]
    last_item = items[-1] if len(found) > limit else None
    place = None if last_item is None else (last_item["risen"], last_item["_id"])
    return InboxPage(rows, place)


def count(runtime: Runtime, user_id: str) -> InboxCounts:
    """Return the numbers of a person's inbox."""
    items = ITEMS.of(runtime.database)
    marks = INBOXES.of(runtime.database).find_one({"_id": user_id})
    seen: Document = {"risen": {"$gt": marks["seen"]}} if marks else {}
    return InboxCounts(
        items.count_documents({"user_id": user_id, **UNREAD}, limit=MOST_COUNTED),
        items.count_documents({"user_id": user_id, **WANTED, **seen}, limit=MOST_COUNTED),
    )


def look(runtime: Runtime, user_id: str) -> InboxState:
    """Return the state of a person's inbox, which changes with each change of its pages."""
    where: Document = {"user_id": user_id, **WANTED}
    items = ITEMS.of(runtime.database)
    newest = items.find_one(where, {"risen": 1}, sort=_NEWEST)
    if newest is None:
        return InboxState(None, 0, 0)
    return InboxState(newest["risen"], *count(runtime, user_id))


def mark_seen(runtime: Runtime, user_id: str, until: datetime) -> None:
    """Mark an inbox as seen up to a time, or up to now if that is later; it never moves back."""
    seen = {"$max": {"seen": min(until, runtime.now())}}
    INBOXES.of(runtime.database).update_one({"_id": user_id}, seen, upsert=True)


def mark_read(runtime: Runtime, user_id: str, ids: Sequence[str]) -> None:
    """Mark items of a person as read; ids of other items change nothing."""
    _read(runtime, user_id, {"_id": {"$in": list(ids)}})


def mark_read_until(runtime: Runtime, user_id: str, until: datetime) -> None:
    """Mark the items of a person as read that were there at a time."""
    _read(runtime, user_id, {"risen": {"$lte": until}})


def _read(runtime: Runtime, user_id: str, where: Document) -> None:
    own = {"user_id": user_id, **UNREAD, **where}
    ITEMS.of(runtime.database).update_many(own, {"$set": {"read": True}})
