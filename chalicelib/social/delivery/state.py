"""The field `fan_out` of a document: the progress of its delivery."""

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


class ReaderChunk(TypedDict):
    """A range of readers' ids; a fan-out that is done has no bounds.

    `owner` and `expires_at` are the lease of a delivery in progress.
    """

    size: int
    after: NotRequired[str]
    until: NotRequired[str]
    owner: NotRequired[str]
    expires_at: NotRequired[datetime]


class FanOut(TypedDict):
    """The progress of a document's delivery; `chunks_done` are positions in `chunks`."""

    state: Literal["pending", "delivering", "done", "failed"]
    owner: str | None
    expires_at: datetime
    resend_at: datetime
    resends: int
    resent_by: NotRequired[str]
    attempts: int
    cursor: str
    planned: bool
    chunks: Annotated[list[ReaderChunk], AtMost(MAX_CHUNKS)]
    chunks_done: Annotated[list[int], AtMost(MAX_CHUNKS)]
    reason: str | None


# Work of the sweep: unfinished fan-outs whose lease, or first message, expired.
RESENDING = Resending(
    at="fan_out.resend_at",
    within="fan_out.",
    where={"fan_out.state": {"$in": list(_UNFINISHED)}},
)
# Indexes of a collection with fan-outs, for the sweep and for the list of failures.
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
    """Return the `fan_out` of a new document; its first message expires like a lease."""
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


def end_fields() -> Document:
    """Return the fields that end a document's delivery."""
    return {"fan_out.state": "done", "fan_out.cursor": "", "fan_out.chunks": []}


def lease_end(runtime: Runtime) -> datetime:
    """Return the end of a lease, or of a message's wait, that begins now."""
    return runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)
