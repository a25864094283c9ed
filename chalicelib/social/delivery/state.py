"""The field `fan_out` of a document: how far the document has been delivered to its readers."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel

from chalicelib.database import Document
from chalicelib.database.validators import AtMost
from chalicelib.jobs.resending import Resending
from chalicelib.runtime import Runtime

_UNFINISHED = ("pending", "delivering")

# Fifty million readers, five thousand a chunk.
MAX_CHUNKS = 10_000


class Chunk(TypedDict):
    """A range of readers' ids; without its bounds when the fan-out is done.

    `owner` and `expires_at` are its lease, while it is being delivered.
    """

    size: int
    after: NotRequired[str]
    until: NotRequired[str]
    owner: NotRequired[str]
    expires_at: NotRequired[datetime]


class FanOut(TypedDict):
    """How far a document has been delivered to its readers.

    `chunks_done` are the numbers of the `chunks` that are done.
    """

    state: Literal["pending", "delivering", "done", "failed"]
    owner: str | None
    expires_at: datetime
    resend_at: NotRequired[datetime]
    resends: NotRequired[int]
    resent_by: NotRequired[str]
    attempts: int
    cursor: str
    planned: bool
    chunks: Annotated[list[Chunk], AtMost(MAX_CHUNKS)]
    chunks_done: Annotated[list[int], AtMost(MAX_CHUNKS)]
    reason: str | None


# What the sweep sends for: unfinished fan-outs whose lease, or first message, expired.
RESENDING = Resending(
    at="fan_out.resend_at",
    within="fan_out.",
    where={"fan_out.state": {"$in": list(_UNFINISHED)}},
    from_start=True,
)
# What a collection with fan-outs is indexed by, for the sweep and for the list of failures.
INDEXES = (
    IndexModel(
        [("fan_out.state", ASCENDING), ("fan_out.resend_at", ASCENDING)],
        partialFilterExpression={"fan_out.state": {"$in": list(_UNFINISHED)}},
    ),
    IndexModel(
        [("fan_out.state", ASCENDING), ("_id", ASCENDING)],
        partialFilterExpression={"fan_out.state": "failed"},
    ),
)


def new(runtime: Runtime) -> FanOut:
    """Return the `fan_out` of a new document; its first message expires as a lease does."""
    return {
        "state": "pending",
        "owner": None,
        "expires_at": lease_end(runtime),
        "resend_at": lease_end(runtime),
        "resends": 0,
        "attempts": 0,
        "cursor": "",
        "planned": False,
        "chunks": [],
        "chunks_done": [],
        "reason": None,
    }


def ended() -> Document:
    """Return what is set on a document that is no longer to be delivered."""
    return {"fan_out.state": "done", "fan_out.cursor": "", "fan_out.chunks": []}


def lease_end(runtime: Runtime) -> datetime:
    """Return when a message that is sent now, or a lease that is claimed now, expires."""
    return runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)
