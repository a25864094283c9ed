"""The rows of batches: many acts of a moderator that a worker does, one after the other."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel

from chalicelib.comments.log.rows import KEPT
from chalicelib.comments.shapes import GivenState
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

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
