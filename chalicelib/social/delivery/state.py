"""The field `fan_out` of a document: the progress of its delivery."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel

from chalicelib.database import Document
from chalicelib.database.validators import AtMost
from chalicelib.jobs.resending import Resending
from chalicelib.runtime import Runtime

_UNFINISHED = ("pending", "delivering")

# Enough for fifty million readers at five thousand readers a chunk.
MAX_CHUNKS = 10_000


class ReaderChunk(TypedDict):
    """A chunk of `size` readers: ids greater than `after`, up to `until`.

    A finished fan-out has no `after` and `until`. `owner` and `expires_at` are the lease of a
    delivery in progress.
    """

    size: int
    after: NotRequired[str]
    until: NotRequired[str]
    owner: NotRequired[str]
    expires_at: NotRequired[datetime]


class FanOut(TypedDict):
    """The progress of a document's delivery.

    - `owner`, `expires_at`: the lease on the whole document
    - `resend_at`: the sweep sends no message before then
    - `resends`: the number of the sweep's messages since a worker last took or extended a lease
    - `attempts`: the number of claims since the last step forward
    - `cursor`: the last reader's id in `chunks`
    - `planned`: the chunks reach the end of the audience
    - `chunks_done`: positions in `chunks`
    """

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


# The sweep sends a message for each unfinished fan-out once `resend_at` is past.
RESENDING = Resending(
    at="fan_out.resend_at",
    within="fan_out.",
    where={"fan_out.state": {"$in": list(_UNFINISHED)}},
)
# Indexes of a collection with fan-outs: one for the sweep, one for the list of failures.
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
    """Return the `fan_out` of a new document; a message of the sweep is due in `lease_ms`."""
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
    """Return the fields of an update that ends a document's delivery and deletes readers' ids."""
    return {"fan_out.state": "done", "fan_out.cursor": "", "fan_out.chunks": []}


def lease_end(runtime: Runtime) -> datetime:
    """Return the time `lease_ms` from now: the end of a new lease, or of a sweep's wait."""
    return runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)
