"""A person's inbox: its pages, its counts, and its marks of seen and read."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from chalicelib.database import Document
from chalicelib.http.paging import Position
from chalicelib.identity import Principal
from chalicelib.notifications import groups
from chalicelib.notifications.groups import MOST_COUNTED, MOST_NAMED, NEWEST, GroupActor
from chalicelib.notifications.rows import INBOXES, ITEMS, UNREAD, WANTED, NotificationItem
from chalicelib.runtime import Runtime

# The most characters of a text that a notification shows, and that a letter shows.
EXCERPT_CHARACTERS, TEXT_CHARACTERS = 140, 1_000
# The `risen` of an item is a time just before its write; the write ends within this time.
_SETTLED = timedelta(seconds=2)


class ShownThing(NamedTuple):
    """The thing of a notification as its reader sees it now.

    `text`: its beginning. `by_name`: the name of the person who caused the event; empty: no person.
    """

    by_name: str
    text: str
    page_id: str
    page_title: str
    page_url: str
    permalink: str


# Returns the things of items that a reader sees now, by the `_id` of the item.
Show = Callable[[Runtime, Principal, Sequence[NotificationItem]], Mapping[str, ShownThing]]


class InboxRow(NamedTuple):
    """A group as its reader sees it: the newest visible item with its thing, and the people.

    - `people`: the number of people who caused the visible items, up to 100; 0: no person.
    - `actors`: up to 3 of them, the newest first.
    - `is_read`: the reader has read all visible items.
    """

    item: NotificationItem
    thing: ShownThing
    people: int
    actors: tuple[GroupActor, ...]
    is_read: bool


class InboxPage(NamedTuple):
    """Groups that the reader sees, and the position for the next page; None: the end."""

    rows: list[InboxRow]
    following: Position | None


class InboxCounts(NamedTuple):
    """The number of unread groups, and of groups newer than the `seen` mark, each up to 100."""

    unread: int
    unseen: int


class InboxState(NamedTuple):
    """The time of the newest item of an inbox (None: the inbox is empty), and its counts."""

    risen: datetime | None
    unread: int
    unseen: int


class WantedPage(NamedTuple):
    """A page to read: groups after a position, at most `limit`; `is_unread`: unread items alone."""

    after: Position | None
    limit: int
    is_unread: bool


def page(runtime: Runtime, show: Show, reader: Principal, wanted: WantedPage) -> InboxPage:
    """Return a page of a person's inbox, the newest first, without things hidden from the reader.

    It marks unread items of hidden things as read, so that the unread count leaves them out.
    """
    where = UNREAD if wanted.is_unread else WANTED
    found = groups.read(runtime, reader.id, where, wanted.limit, wanted.after)
    items = [item for group in found.groups for item in group]
    things = show(runtime, reader, items) if items else {}
    unseen = [each["_id"] for each in items if each["_id"] not in things and not each["read"]]
    if unseen:
        _read(runtime, reader.id, {"_id": {"$in": unseen}})
    return InboxPage(rows_of(found.groups, things), found.following)


def choose_mark_time(shown: InboxPage, now: datetime) -> datetime:
    """Return the `until` for marks by a reader of a page: newer items stay unmarked.

    It is the time of the page's newest item, or `now - _SETTLED` if later, since all items up to
    `now - _SETTLED` are stored. It is at most `now`, a time before the reads of the page. Marks
    cover the older items of other pages, too.
    """
    newest = max((row.item["risen"] for row in shown.rows), default=now - _SETTLED)
    return min(now, max(newest, now - _SETTLED))


def read_span(runtime: Runtime, show: Show, user_id: str, span: Document) -> list[InboxRow]:
    """Return up to 100 groups of a person's items in a span, for letters and push messages.

    It reads the things without the person's roles, so that letters and push messages show no
    moderator's view: programs read mailboxes, and bystanders see screens.
    """
    found = groups.read(runtime, user_id, span, MOST_COUNTED, None).groups
    items = [item for group in found for item in group]
    things = show(runtime, Principal(id=user_id, name=""), items) if items else {}
    return rows_of(found, things)


def rows_of(
    found: Sequence[Sequence[NotificationItem]], things: Mapping[str, ShownThing]
) -> list[InboxRow]:
    """Return a row for each group with visible items; `things` has the visible items."""
    rows: list[InboxRow] = []
    for group in found:
        seen = [(item, things[item["_id"]]) for item in group if item["_id"] in things]
        if not seen:
            continue
        # Each person once, at the place of the person's newest item.
        names: dict[str, str] = {}
        for item, thing in seen:
            if item["by"]:
                names.setdefault(item["by"], thing.by_name)
        actors = tuple(GroupActor(*each) for each in names.items())[:MOST_NAMED]
        is_read = all(item["read"] for item, _thing in seen)
        rows.append(InboxRow(*seen[0], len(names), actors, is_read))
    return rows


def count(runtime: Runtime, user_id: str) -> InboxCounts:
    """Return the unread and unseen counts of a person's inbox."""
    marks = INBOXES.of(runtime.database).find_one({"_id": user_id})
    seen: Document = {"risen": {"$gt": marks["seen"]}} if marks else {}
    return InboxCounts(
        groups.count(runtime, user_id, UNREAD), groups.count(runtime, user_id, {**WANTED, **seen})
    )


def look(runtime: Runtime, user_id: str) -> InboxState:
    """Return the newest time and the counts of a person's inbox, for a version of the inbox."""
    where: Document = {"user_id": user_id, **WANTED}
    items = ITEMS.of(runtime.database)
    newest = items.find_one(where, {"risen": 1}, sort=NEWEST)
    if newest is None:
        return InboxState(None, 0, 0)
    return InboxState(newest["risen"], *count(runtime, user_id))


def mark_seen(runtime: Runtime, user_id: str, until: datetime) -> None:
    """Mark an inbox as seen up to a time, at most now; an earlier time than stored does nothing."""
    seen = {"$max": {"seen": min(until, runtime.now())}}
    INBOXES.of(runtime.database).update_one({"_id": user_id}, seen, upsert=True)


def mark_read(runtime: Runtime, user_id: str, ids: Sequence[str]) -> None:
    """Mark groups of a person as read, up to the item that each id names.

    Items that joined a group later stay unread. Ids of other people's items change nothing.
    """
    own: Document = {"user_id": user_id, "_id": {"$in": list(ids)}}
    named = ITEMS.of(runtime.database).find(own, {"group": 1, "risen": 1})
    older: list[Document] = [
        {"group": each["group"], "risen": {"$lte": each["risen"]}}
        for each in named
        if "group" in each
    ]
    _read(runtime, user_id, {"$or": [{"_id": {"$in": list(ids)}}, *older]})


def mark_read_until(runtime: Runtime, user_id: str, until: datetime) -> None:
    """Mark a person's items as read, up to a time."""
    _read(runtime, user_id, {"risen": {"$lte": until}})


def _read(runtime: Runtime, user_id: str, where: Document) -> None:
    own = {"user_id": user_id, **UNREAD, **where}
    ITEMS.of(runtime.database).update_many(own, {"$set": {"read": True}})
