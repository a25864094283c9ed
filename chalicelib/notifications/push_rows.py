"""Rows of subscribed browsers, each with the push message that it is owed.

A new item makes the rows of its person's browsers due. A schedule sends the message of each due
row to the worker.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel

from chalicelib.database import Collection, Document
from chalicelib.jobs.work import Work
from chalicelib.languages import Language
from chalicelib.messaging import Message
from chalicelib.push import browsers
from chalicelib.runtime import Runtime

# A reader who is here sees an item on the page before. It also covers the time between an item's
# `risen` and its write: a message is of items that are older.
AFTER = timedelta(minutes=1)


class PushSubscription(TypedDict):
    """A person's browser; `_id` is the hash of its endpoint.

    - `key`: the public key of the deployment that the browser subscribed for.
    - `seen`: the time at which the browser last registered.
    - `since`: earlier messages covered all items up to then.
    - `wakes`: a number that each new item raises.
    - `next`: no message goes before.
    - `due`: the time of the next message to the worker; missing: no push message is owed.
    - `tries`: messages that the service put off, one after the other.
    - `claimed`: the end of the span of a message that a worker may have sent.
    """

    _id: str
    user_id: str
    endpoint: str
    p256dh: str
    auth: str
    key: str
    language: Language
    time_zone: str
    made: datetime
    seen: datetime
    since: datetime
    wakes: int
    tries: int
    claimed: datetime | None
    next: NotRequired[datetime]
    due: NotRequired[datetime]
    leased_until: NotRequired[datetime]
    taken_by: NotRequired[str]
    resends: NotRequired[int]
    resent_by: NotRequired[str]


# The condition of the index of due messages; a query repeats it to use the index.
OWED: Document = {"due": {"$exists": True}}
SUBSCRIPTIONS = Collection(
    "notifications.push",
    PushSubscription,
    indexes=(
        IndexModel([("user_id", ASCENDING), ("seen", DESCENDING), ("_id", DESCENDING)]),
        IndexModel("due", partialFilterExpression=OWED),
    ),
    shard_key={"_id": "hashed"},
)


class SendPush(Message):
    """Send a browser the push message that it is owed, by the id of its row."""

    # The queue of another worker that calls strangers' servers.
    queue: ClassVar[str] = "webhooks"
    type: Literal["send-push"] = "send-push"
    subscription: str


WORK = Work(
    SUBSCRIPTIONS,
    owed=OWED,
    message=lambda row: SendPush(subscription=row["_id"]),
    # A browser that another person takes over meanwhile is no longer its worker's.
    key=("_id", "user_id"),
    fields=("next",),
)


def wake(runtime: Runtime, people: Sequence[str]) -> None:
    """Make messages due of people who have new items; call it after storing the items."""
    if not people or not browsers.is_on(runtime):
        return
    due = runtime.now() + AFTER
    fields = {
        "wakes": {"$add": ["$wakes", 1]},
        **{name: {"$ifNull": [f"${name}", due]} for name in ("next", "due")},
    }
    theirs = {"user_id": {"$in": list(people)}}
    SUBSCRIPTIONS.of(runtime.database).update_many(theirs, [{"$set": fields}])


def send_due(runtime: Runtime) -> None:
    """Send the messages of due rows to the worker."""
    if browsers.is_on(runtime):
        WORK.sweep(runtime)
