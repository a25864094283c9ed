"""Events, and the items that their recipients have in inboxes.

A worker reads the event as it is now, and makes its items agree: it makes or restores an item for
each recipient, and takes back the other items. So a message may come twice, late, or in any order.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import ClassVar, Literal, NamedTuple

from pymongo.collection import Collection as MongoCollection

from chalicelib.database import Document, insert_missing, prefix_range
from chalicelib.messaging import Message
from chalicelib.notifications import mailing, preferences, push_rows
from chalicelib.notifications.rows import ITEMS, KEPT, Kind, NotificationItem
from chalicelib.runtime import Runtime


class Notify(Message):
    """Make the notifications of a comment agree with it.

    `comment`: `{node}/{id}`. `lasting`: its name that stays when the node moves; a worker reads it
    only once the node is gone.
    """

    queue: ClassVar[str] = "social-errands"
    type: Literal["notify"] = "notify"
    comment: str
    lasting: str = ""


class NotificationEvent(NamedTuple):
    """An event of a thing, as the feature reads it now.

    - `key`: the event's name, which stays when the thing moves.
    - `by`: the person who caused it; empty: no person.
    - `recipients`: the id of each current recipient, with the kind of the notification.
    - `is_new`: `agree` only adds items; existing items stay as they are.
    - `group`: the `group` of its items; None: no group.
    - `among`: the only people whose items can change; None: all people.
    """

    key: str
    site: str
    thing: str
    by: str
    at: datetime
    recipients: Mapping[str, Kind]
    is_new: bool
    group: str | None = None
    among: tuple[str, ...] | None = None


def agree(runtime: Runtime, event: NotificationEvent, read_at: datetime) -> None:
    """Make the items of an event agree with it, and wake letters and push messages.

    A repeat makes and changes no item. An event older than KEPT makes no items. `read_at`: a time
    before the reads of the thing and the recipients. An erasure compares it with its cutoff, and so
    also finds items that this call stores after the cutoff.
    """
    rows = ITEMS.of(runtime.database)
    if not event.is_new:
        _follow(rows, event)
    if event.at + KEPT > read_at:
        off = preferences.find_off(runtime, event.recipients)
        # As late as possible: a mark of seen or read may cover items up to a moment ago.
        times = (read_at, runtime.now())
        items = [_item(event, who, kind, times) for who, kind in event.recipients.items()]
        insert_missing(
            rows, [_withhold(each) if each["user_id"] in off else each for each in items]
        )
        # After the items: a letter that begins meanwhile has them, or this wakes the next letter.
        told = [who for who in event.recipients if who not in off]
        mailing.wake(runtime, told)
        push_rows.wake(runtime, told)


def correct(runtime: Runtime, event: NotificationEvent) -> None:
    """Take back and restore existing items as `agree` does; make no new items."""
    _follow(ITEMS.of(runtime.database), event)


def find_people(runtime: Runtime, key: str, after: str, most: int) -> list[str]:
    """Return up to `most` people with an item of an event, sorted by id, after the id `after`."""
    where = {"key": key, "user_id": {"$gt": after}}
    rows = ITEMS.of(runtime.database).find(where, {"user_id": 1})
    return [each["user_id"] for each in rows.sort("user_id", 1).limit(most)]


def _follow(rows: MongoCollection[NotificationItem], event: NotificationEvent) -> None:
    """Take back items of people who are no longer recipients; restore items of recipients.

    Withheld items stay as they are.
    """
    where: Document = {"key": event.key}
    if event.among is not None:
        where = {"user_id": {"$in": list(event.among)}, "_id": {"$in": _ids(event, event.among)}}
    found = rows.find({**where, "withheld": None}, _STATE)
    there = {each["user_id"]: each["wanted"] for each in found}
    lost = [who for who, is_wanted in there.items() if is_wanted and who not in event.recipients]
    if lost:
        rows.update_many(_of(event, lost), {"$set": {"wanted": False}})
    again = [who for who in event.recipients if there.get(who) is False]
    if again:
        rows.update_many(_of(event, again), {"$set": {"wanted": True}})


def withdraw(runtime: Runtime, key: str) -> None:
    """Take back all items of an event whose thing is gone."""
    _take_back(runtime, key)


def withdraw_below(runtime: Runtime, prefix: str) -> None:
    """Take back all items of events whose keys begin with a prefix."""
    _take_back(runtime, prefix_range(prefix))


def _take_back(runtime: Runtime, keys: str | Document) -> None:
    rows = ITEMS.of(runtime.database)
    rows.update_many({"key": keys, "wanted": True}, {"$set": {"wanted": False}})


_STATE = {"user_id": 1, "wanted": 1}


def _of(event: NotificationEvent, people: list[str]) -> Document:
    return {"user_id": {"$in": people}, "_id": {"$in": _ids(event, people)}}


def _withhold(item: NotificationItem) -> NotificationItem:
    return {**item, "wanted": False, "withheld": True}


def _ids(event: NotificationEvent, people: Iterable[str]) -> list[str]:
    return [item_id(who, event.key) for who in people]


def item_id(user_id: str, key: str) -> str:
    """Return the id of a person's item of an event."""
    return f"{user_id}:{key}"


def _item(
    event: NotificationEvent, user_id: str, kind: Kind, times: tuple[datetime, datetime]
) -> NotificationItem:
    """Return a recipient's new item; `times` is (`asked`, `risen`)."""
    asked, risen = times
    item: NotificationItem = {
        "_id": item_id(user_id, event.key),
        "user_id": user_id,
        "key": event.key,
        "kind": kind,
        "site": event.site,
        "thing": event.thing,
        "by": event.by,
        "at": event.at,
        "asked": asked,
        "risen": risen,
        "wanted": True,
        "read": False,
        "expires": risen + KEPT,
    }
    if event.group is not None:
        item["group"] = event.group
    return item
