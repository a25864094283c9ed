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
# Of three channels; another release may have more kinds.
MAX_OFF = 100
# Longer than any message can wait: a repeat finds the item, and makes no second.
KEPT = timedelta(days=90)


class NotificationItem(TypedDict):
    """A notification of a person; `_id` is `{person}:{key}`.

    `key` names the event, wherever its thing has moved, and `thing` the thing as its feature finds
    it. `by` is the person who caused the event, at `at`; empty: no person did. `risen` is the time
    of this item, just before its write, and `asked` a time before the reads that it follows from: a
    late erasure goes by it; missing: an item of an earlier release, whose `risen` it was.
    `wanted`: False: taken back. A taken item stays, so that no repeat of its event makes a second.
    `group`: an inbox shows all items of a group as one; missing: the item alone. `withheld`: its
    reader had its kind off; it is not `wanted`, and never will be.
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
        # All of a person's, also those that were taken back: for an export and an erasure.
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
    """Hours without letters and push messages, by the clock of each."""

    begin: int
    end: int


class Inbox(TypedDict):
    """The marks and the choices of a person's inbox; `_id` is the person's id.

    - `seen`: the time up to which the person has seen that there are notifications.
    - `off`: kinds that are off, each as `{channel}/{kind}`; missing: none.
    - `changed`: the last choice.
    """

    _id: str
    seen: datetime
    off: NotRequired[Annotated[list[str], AtMost(MAX_OFF)]]
    quiet: NotRequired[Quiet]
    changed: NotRequired[datetime]


INBOXES = Collection("notifications.inbox", Inbox, shard_key={"_id": "hashed"})
