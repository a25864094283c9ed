"""Rows of the log of moderation: acts, and batches of acts."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel

from chalicelib.comments.shapes import GivenState
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

# `person`: a person's status at the site, their badges, or the note about them.
Action = Literal["state", "edit", "delete", "person"]
KEPT = timedelta(days=730)


class Act(TypedDict):
    """An act of a moderator on a comment (`entry`) or on a person; `_id` is `{site}:{id}`.

    `person` is the comment's author, or the person under moderation. `before` and `after` are
    the fields that the act changed. `follows` is the id of the act that the comment or person named
    until then; it proves that the earlier act happened. `open` is the beginning of a running act;
    the row of a finished act has none.
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
        # The acts of a batch, for a moderator and for the batch that undoes it.
        IndexModel(
            [("site", ASCENDING), ("batch", ASCENDING), *_NEWEST_FIRST],
            partialFilterExpression={"batch": {"$exists": True}},
        ),
        # Find the rows of a person to rename or erase.
        IndexModel("by"),
        IndexModel("person"),
        IndexModel("open", partialFilterExpression=OPEN),
        IndexModel("at", expireAfterSeconds=int(KEPT.total_seconds())),
    ),
    shard_key={"site": 1, "_id": 1},
)


def key_of(act_id: str) -> Document:
    """Return the filter of a row; its id names its site."""
    return {"_id": act_id, "site": act_id.rpartition(":")[0]}


def thing_of(act: Act) -> dict[str, Any]:
    """Return the filter of all acts on the same comment or person."""
    if act["entry"] is not None:
        return {"site": act["site"], "entry": act["entry"]}
    return {"site": act["site"], "person": act["person"], "entry": None}


MOST_NAMED = 200
# `stopped`: the erasure of its moderator ended it.
Status = Literal["running", "done", "stopped"]


class NamedComment(TypedDict):
    """A comment of a batch.

    With `edited`, the batch changes the comment only while it has the text that the moderator read.
    With `state`, the batch changes it only while it is in this state, too.
    """

    node_id: str
    comment_id: str
    edited: NotRequired[datetime | None]
    state: NotRequired[GivenState]


class Batch(TypedDict):
    """A moderator's order for many comments of a site.

    A batch with `undoes` undoes another batch. Any other batch sets the state `wanted`: either of
    the named `comments`, or of the comments that `person` posted from `since` (None: ever) until
    the batch began. `total` is the number of its comments. `changed`, `unchanged` (already in the
    state) and `left` (not changeable) count the comments done; `after` is the position of the last
    of these. While the batch runs, the schedule sends its message again at `due`, and
    `leased_until` is the end of the lease of the worker `taken_by`.
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
        # Find the batches of a person to rename or erase.
        IndexModel("by"),
        IndexModel("person"),
        IndexModel("at", expireAfterSeconds=int(KEPT.total_seconds())),
    ),
)
