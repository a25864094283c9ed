"""Rows of the log of moderation: one for each act, and one for each batch of acts."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel

from chalicelib.comments.shapes import GivenState
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

# `person`: how somebody stands at the site, their badges, or the note about them.
Action = Literal["state", "edit", "delete", "person"]
KEPT = timedelta(days=730)


class Act(TypedDict):
    """An act of a moderator on a comment (`entry`) or on a person; `_id` is `{site}:{id}`.

    `person` is who wrote the comment, or whom it is about. `before` and `after` are the fields that
    it changed. `follows` is the act that its thing named as its last one at that time, and by
    which it is known that this one happened. `open` is since when it may not have happened: a row
    has it until the act is over.
    """

    _id: str
    site: str
    at: datetime
    by: str | None
    by_name: str | None
    action: Action
    node_id: str | None
    comment_id: str | None
    entry: str | None
    person: str | None
    person_name: str | None
    before: Document
    after: Document
    reason: str
    follows: str | None
    undoes: NotRequired[str]
    batch: NotRequired[str]
    open: NotRequired[datetime]


_NEWEST_FIRST = [("at", DESCENDING), ("_id", DESCENDING)]
OPEN: Document = {"open": {"$type": "date"}}

LOG = Collection(
    "comments.log",
    Act,
    indexes=(
        IndexModel([("site", ASCENDING), *_NEWEST_FIRST]),
        IndexModel([("site", ASCENDING), ("entry", ASCENDING), *_NEWEST_FIRST]),
        IndexModel([("site", ASCENDING), ("person", ASCENDING), *_NEWEST_FIRST]),
        # What a batch did, for a moderator and for the batch that undoes it.
        IndexModel(
            [("site", ASCENDING), ("batch", ASCENDING), *_NEWEST_FIRST],
            partialFilterExpression={"batch": {"$exists": True}},
        ),
        # Find the rows of somebody who is renamed or erased.
        IndexModel("by"),
        IndexModel("person"),
        IndexModel("open", partialFilterExpression=OPEN),
        IndexModel("at", expireAfterSeconds=int(KEPT.total_seconds())),
    ),
    shard_key={"site": 1, "_id": 1},
)


def key_of(act_id: str) -> Document:
    """Return the filter of one row; its id names its site."""
    return {"_id": act_id, "site": act_id.rpartition(":")[0]}


def thing_of(act: Act) -> dict[str, Any]:
    """Return the filter of all acts on the same comment or person."""
    if act["entry"] is not None:
        return {"site": act["site"], "entry": act["entry"]}
    return {"site": act["site"], "person": act["person"], "entry": None}


MOST_NAMED = 200
# `stopped`: its moderator was erased before it was over.
Status = Literal["running", "done", "stopped"]


class NamedComment(TypedDict):
    """A comment of a batch; with `edited`, only the text that the moderator has read."""

    node_id: str
    comment_id: str
    edited: NotRequired[datetime | None]


class Batch(TypedDict):
    """What a moderator wants done with many comments of a site.

    Either these get a `wanted` state: the named `comments`, or those that `person` wrote from
    `since` until it began. Or it `undoes` what another batch did. `total` is how many it looks at;
    `changed`, `unchanged` (they were so already) and `left` (they could not be) are those that are
    done with, of which `after` is the last. While it runs, `due` is when its message is sent again,
    and `leased_until` until when the worker `taken_by` has it to itself.
    """

    _id: str
    site: str
    at: datetime
    by: str | None
    by_name: str | None
    wanted: GivenState | None
    reason: str
    comments: Annotated[list[NamedComment], AtMost(MOST_NAMED)]
    person: str | None
    since: datetime | None
    undoes: str | None
    status: Status
    total: int
    changed: int
    unchanged: int
    left: int
    after: Document
    due: NotRequired[datetime]
    leased_until: NotRequired[datetime]
    taken_by: NotRequired[str]
    resends: NotRequired[int]
    resent_by: NotRequired[str]


RUNNING: Document = {"status": "running"}

BATCHES = Collection(
    "comments.batch",
    Batch,
    indexes=(
        IndexModel([("due", ASCENDING)], partialFilterExpression=RUNNING),
        # Find the batches of somebody who is renamed or erased.
        IndexModel("by"),
        IndexModel("person"),
        IndexModel("at", expireAfterSeconds=int(KEPT.total_seconds())),
    ),
)
