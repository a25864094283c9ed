"""Stored notifications: an item for each person and event, and the marks of each inbox."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

Kind = Literal[
    "comment.mention",
    "comment.reply",
    "comment.watched",
    "comment.approved",
    "comment.rejected",
    "follow",
    "post.comment",
    "post.new",
    "post.reaction",
    "post.wall",
    "order.paid",
    "order.shipped",
    "order.cancelled",
    "order.refunded",
    "page.published",
    "webhook.stopped",
    "batch.done",
    "campaign.exhausted",
    "campaign.unfunded",
    "campaign.ended",
]
# The most entries in `off`, of three channels; another release may have more kinds.
MAX_OFF = 100
# Longer than any message can wait: a repeat finds the item, and makes no second.
KEPT = timedelta(days=90)


class NotificationItem(TypedDict):
    """A notification of a person; `_id` is `{person}:{key}`.

    - `key`: the name of the event, which stays when the thing moves.
    - `thing`: the thing's id by which its feature finds it.
    - `group`: an inbox shows all items of a group as one; missing: the item alone.
    - `by`: the person who caused the event; empty: no person.
    - `at`: the time of the event.
    - `asked`: a time before the reads behind the item; an erasure compares it with its cutoff.
      Missing: an item of an earlier release, which has `risen` alone.
    - `risen`: the time of the item, just before its write; it orders the inbox.
    - `wanted`: False: taken back. The item stays, so that a repeat makes no second item.
    - `withheld`: the kind was off in the inbox; the item never becomes `wanted`.
    """

    _id: str
    user_id: str
    key: str
    kind: Kind
    site: str
    thing: str
    group: NotRequired[str]
    by: str
    at: datetime
    asked: NotRequired[datetime]
    risen: datetime
    wanted: bool
    withheld: NotRequired[bool]
    read: bool
    expires: datetime


# The conditions of the indexes of inboxes; a query repeats them to use the indexes.
WANTED: Document = {"wanted": True}
UNREAD: Document = {"wanted": True, "read": False}

ITEMS = Collection(
    "notifications.item",
    NotificationItem,
    indexes=(
        IndexModel(
            [("user_id", ASCENDING), ("risen", DESCENDING), ("_id", DESCENDING)],
            partialFilterExpression=WANTED,
            name="inbox",
        ),
        IndexModel(
            [("user_id", ASCENDING), ("risen", DESCENDING), ("_id", DESCENDING)],
            partialFilterExpression=UNREAD,
            name="unread",
        ),
        # The newest items of a group.
        IndexModel(
            [
                ("user_id", ASCENDING),
                ("group", ASCENDING),
                ("risen", DESCENDING),
                ("_id", DESCENDING),
            ],
            partialFilterExpression=WANTED,
        ),
        # All items of a person, taken back or not, for an export and an erasure.
        IndexModel([("user_id", ASCENDING), ("_id", ASCENDING)]),
        # Finds the items of an event, to take them back.
        IndexModel("key"),
        # Finds the items that a person caused, for an erasure.
        IndexModel("by"),
        IndexModel("expires", expireAfterSeconds=0),
    ),
    shard_key={"user_id": 1, "_id": 1},
)


class Quiet(TypedDict):
    """Hours without letters and push messages, by the time zone of the letters or of a browser."""

    begin: int
    end: int


class Inbox(TypedDict):
    """The marks and the choices of a person's inbox; `_id` is the person's id.

    - `seen`: in the list, the person has seen the items up to this time; each item has its own
      `read`.
    - `off`: kinds that are off, each as `{channel}/{kind}`; missing: none.
    - `changed`: the time of the last choice; missing: no choice yet.
    """

    _id: str
    seen: datetime
    off: NotRequired[Annotated[list[str], AtMost(MAX_OFF)]]
    quiet: NotRequired[Quiet]
    changed: NotRequired[datetime]


INBOXES = Collection("notifications.inbox", Inbox, shard_key={"_id": "hashed"})
