"""Events of things, and the items that people have of them.

A worker makes the items agree with the event as it is now: each recipient has an item, and
others lose theirs. So a message may come twice, late, or in any order.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, Literal, NamedTuple

from pymongo.collection import Collection as MongoCollection

from chalicelib.database import Document, insert_missing
from chalicelib.messaging import Message
from chalicelib.notifications import mailing
from chalicelib.notifications.rows import ITEMS, KEPT, Kind, NotificationItem
from chalicelib.runtime import Runtime


class Notify(Message):
    """Make notifications agree with a comment, `{node}/{id}`."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["notify"] = "notify"
    comment: str


class NotificationEvent(NamedTuple):
    """The event of a thing. `key` outlives each move of the thing.

    `recipients` are the people whom it concerns now, each with the kind of their notification.
    `is_new`: nothing changed its thing, and so there is nothing to take back.
    """

    key: str
    site: str
    thing: str
    by: str
    at: datetime
    recipients: Mapping[str, Kind]
    is_new: bool


def agree(runtime: Runtime, event: NotificationEvent) -> None:
    """Make the items of an event agree with it; a repeat changes nothing.

    An event that is older than items are kept makes none.
    """
    rows, now = ITEMS.of(runtime.database), runtime.now()
    if not event.is_new:
        _follow(rows, event)
    if event.at + KEPT > now:
        insert_missing(
            rows, [_item(event, who, kind, now) for who, kind in event.recipients.items()]
        )
        # After the items: a letter that begins meanwhile finds them, or another follows.
        mailing.wake(runtime, list(event.recipients))


def _follow(rows: MongoCollection[NotificationItem], event: NotificationEvent) -> None:
    """Take back the items that an event no longer makes, and restore those that it makes again."""
    there = {each["user_id"]: each["wanted"] for each in rows.find({"key": event.key}, _STATE)}
    lost = [who for who, is_wanted in there.items() if is_wanted and who not in event.recipients]
    if lost:
        rows.update_many(_of(event, lost), {"$set": {"wanted": False}})
    again = [who for who in event.recipients if there.get(who) is False]
    if again:
        rows.update_many(_of(event, again), {"$set": {"wanted": True}})


def withdraw(runtime: Runtime, key: str) -> None:
    """Take back all items of an event whose thing is gone."""
    rows = ITEMS.of(runtime.database)
    rows.update_many({"key": key, "wanted": True}, {"$set": {"wanted": False}})


_STATE = {"user_id": 1, "wanted": 1}


def _of(event: NotificationEvent, people: list[str]) -> Document:
    return {"user_id": {"$in": people}, "key": event.key}


def _item(event: NotificationEvent, user_id: str, kind: Kind, now: datetime) -> NotificationItem:
    return {
        "_id": f"{user_id}:{event.key}",
        "user_id": user_id,
        "key": event.key,
        "kind": kind,
        "site": event.site,
        "thing": event.thing,
        "by": event.by,
        "at": event.at,
        "risen": now,
        "wanted": True,
        "read": False,
        "expires": now + KEPT,
    }
