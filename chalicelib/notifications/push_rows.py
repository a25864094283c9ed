"""Rows of subscribed browsers, and the time of the next push message to each.

A new item makes the rows of its person's browsers due. A schedule sends a `SendPush` message for
each due row to the worker.
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

# Long enough for a present reader to see an item on the page first, and for the write of an item,
# which follows its `risen`: a push message covers only items that are at least this old.
AFTER = timedelta(minutes=1)


class PushSubscription(TypedDict):
    """A person's browser; `_id` is the hash of its endpoint.

    - `key`: the public key of the deployment that the browser subscribed for.
    - `seen`: the time at which the browser last registered.
    - `since`: the next push message covers only items after this time.
    - `wakes`: the number of calls of `wake` for the person.
    - `next`: the earliest time of the next push message.
    - `due`: the time of the next `SendPush` to the worker; missing: no push message is owed.
    - `tries`: the number of times in a row that the push service asked to try later.
    - `claimed`: the end of the span of a push message that a worker may have sent; None: none.
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
    """Send a browser its owed push message; `subscription` is the `_id` of its row."""

    # The worker of this queue calls strangers' servers for webhooks, too.
    queue: ClassVar[str] = "webhooks"
    type: Literal["send-push"] = "send-push"
    subscription: str


WORK = Work(
    SUBSCRIPTIONS,
    owed=OWED,
    message=lambda row: SendPush(subscription=row["_id"]),
    # With `user_id`: if another person takes the browser over, the worker loses the row.
    key=("_id", "user_id"),
    fields=("next",),
)


def wake(runtime: Runtime, people: Sequence[str]) -> None:
    """Make these people's push messages due; call it after storing their new items."""
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
    """Send the `SendPush` messages of due rows to the worker."""
    if browsers.is_on(runtime):
        WORK.sweep(runtime)
