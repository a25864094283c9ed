"""Stored hooks, deliveries, and the reported state of each thing."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.webhooks.kinds import KINDS, EventKindName, Kind

MAX_HOOKS = 20
# The new secret, and the former secret for a day.
MAX_SECRETS = 2
# The most events that a thing owes at once.
MAX_OWED = 5
# The most due events of a thing; beyond them, the oldest go.
MAX_DUE = 100
# Longer than the retries of a delivery.
KEPT = timedelta(days=30)
# - `on`: gets events;
# - `off`: the publisher switched it off;
# - `gone`: its receiver answered 410;
# - `failing`: it took nothing for five days.
HookState = Literal["on", "off", "gone", "failing"]
DeliveryState = Literal["due", "sent", "failed"]


class HookSecret(TypedDict):
    """A sealed secret; `until`: it signs up to this instant; None: the newest secret."""

    sealed: str
    until: datetime | None


class Hook(TypedDict):
    """A hook of a site.

    slot: its number in the site, unique, so that concurrent calls cannot exceed `MAX_HOOKS`.
    failing_since: the first failure after the last success; None: no failure.
    quiet_until: the receiver did not answer, and gets no call before this instant.
    busy_until: the end of the site's slow calls, if they came one after another.
    by: the publisher who registered the hook; None: erased.
    stopped: the time when Plaza switched the hook off; its report removes the field.
    epoch: the end of its events' ids since a restore of the database, whose versions count anew.
    """

    _id: str
    site: str
    slot: int
    url: str
    kinds: Annotated[list[Kind], AtMost(len(KINDS))]
    secrets: Annotated[list[HookSecret], AtMost(MAX_SECRETS)]
    state: HookState
    made: datetime
    failing_since: datetime | None
    quiet_until: datetime | None
    busy_until: NotRequired[datetime]
    by: NotRequired[str | None]
    stopped: NotRequired[datetime]
    epoch: NotRequired[str]


# The condition of the index of hooks to report; a query repeats it to use the index.
STOPPED: Document = {"stopped": {"$exists": True}}
HOOKS = Collection(
    "webhooks.hook",
    Hook,
    indexes=(
        IndexModel([("site", ASCENDING), ("slot", ASCENDING)], unique=True),
        IndexModel("stopped", partialFilterExpression=STOPPED),
        # For an erasure.
        IndexModel("by", partialFilterExpression={"by": {"$gt": ""}}),
    ),
    shard_key={"site": 1},
)


class Delivery(TypedDict):
    """An event for a hook; `_id` is `{event}:{hook}`, so that a repeat makes no duplicate.

    tries: the number of tries; tried: the time of the last try.
    next: no try comes before this instant.
    due: the time when the schedule sends its message again, while the state is `due`.
    status: the HTTP status of the last try; None: no try, or no answer.
    """

    _id: str
    hook: str
    site: str
    kind: EventKindName
    body: str
    state: DeliveryState
    tries: int
    tried: datetime | None
    status: int | None
    made: datetime
    next: datetime
    expires: datetime
    due: NotRequired[datetime]
    leased_until: NotRequired[datetime]
    taken_by: NotRequired[str]
    resends: NotRequired[int]
    resent_by: NotRequired[str]


# The condition of the index of due deliveries; a query repeats it to use the index.
OWED: Document = {"state": "due"}
DELIVERIES = Collection(
    "webhooks.delivery",
    Delivery,
    indexes=(
        # Lists the deliveries of a hook, the newest first.
        IndexModel([("hook", ASCENDING), ("made", DESCENDING), ("_id", DESCENDING)]),
        IndexModel("due", partialFilterExpression=OWED),
        IndexModel("expires", expireAfterSeconds=0),
    ),
    shard_key={"hook": 1, "_id": 1},
)


class ToldThing(TypedDict):
    """The state of a thing that a site's hooks know; `_id` is the thing's id.

    version: grows with each report, and no later row of the thing repeats it.
    facts: the fields that the feature compares; None: no report yet.
    owed: the events (`kind`, `body`) without deliveries yet.
    """

    _id: str
    site: str
    version: int
    facts: Document | None
    owed: Annotated[list[Document], AtMost(MAX_OWED)]
    expires: datetime


TOLD = Collection(
    "webhooks.told",
    ToldThing,
    indexes=(IndexModel("expires", expireAfterSeconds=0),),
    shard_key={"_id": "hashed"},
)


class DueEvent(TypedDict):
    """An event in the document of its thing, until it has deliveries.

    id: the same in every repeat.
    at: the time of the event; it may be in the future.
    by_author: the author of the thing caused the event, and gets no notification.
    """

    id: str
    kind: Kind
    at: datetime
    data: Document
    by_author: NotRequired[bool]


DueEvents = Annotated[list[DueEvent], AtMost(MAX_DUE)]
# The index of things with due events.
DUE_EVENTS = IndexModel(
    "due_events.at", partialFilterExpression={"due_events.at": {"$exists": True}}
)
