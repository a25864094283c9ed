"""The field `fan_out` of a document: what has to be brought to its readers, and who is at it.

A lease is a token that only its holder knows, on the whole document or on one chunk of its
readers, until it runs out. Whatever is recorded is recorded under it: no two work on the same
thing at a time, and who was slower than the lease changes nothing any more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.collection import Collection as MongoCollection

from chalicelib.database import Document
from chalicelib.database.validators import AtMost
from chalicelib.ids import new_id
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import FAN_OUTS_FAILED
from chalicelib.runtime import Runtime
from chalicelib.social.delivery.resending import Resending

MAX_ATTEMPTS = 5
_UNFINISHED = ("pending", "delivering")
_DONE = {"fan_out.state": "done", "fan_out.reason": None, "fan_out.cursor": ""}

# Fifty million readers, five thousand a chunk.
MAX_CHUNKS = 10_000


class FanOut(TypedDict):
    """How far a document has been brought to its readers.

    `chunks` are ranges of readers' ids, `{after, until, size}` and, while one is worked on,
    `owner` and `expires_at`; `chunks_done` are the numbers of those that are done.
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
    chunks: Annotated[list[Document], AtMost(MAX_CHUNKS)]
    chunks_done: Annotated[list[int], AtMost(MAX_CHUNKS)]
    reason: str | None


# What the sweep sends for: the unfinished whose lease, or first message, ran out.
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


@dataclass(frozen=True)
class DeliveryLease:
    """A worker's hold on a document, or on a chunk of it; both are told by the same token."""

    runtime: Runtime
    documents: MongoCollection[Document]
    document_id: str
    owner: str

    @classmethod
    def asked(cls, runtime: Runtime, collection: str, document_id: str) -> "DeliveryLease":
        """Return a lease to be taken: until `claim` or `claim_chunk` gives it, it is worthless."""
        owner = new_id(runtime.now(), runtime.random)
        return cls(runtime, runtime.database[collection], document_id, owner)


def new(runtime: Runtime) -> FanOut:
    """Return the `fan_out` of a new document; its first message is waited for as a lease is."""
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
    """Return what a document sets that is not to be delivered any more."""
    return {"fan_out.state": "done", "fan_out.cursor": "", "fan_out.chunks": []}


def lease_end(runtime: Runtime) -> datetime:
    """Return until when a message that is sent now, or a worker that begins, is waited for."""
    return runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)


def claim(lease: DeliveryLease, fields: Mapping[str, Any]) -> Document | None:
    """Take a document that is new, or whose lease has run out; count the attempt.

    Returns its `fields`, a projection.
    """
    now = lease.runtime.now()
    expired = {"fan_out.state": "delivering", "fan_out.expires_at": {"$lte": now}}
    taken = {
        "fan_out.state": "delivering",
        "fan_out.owner": lease.owner,
        **_held_until(lease_end(lease.runtime)),
    }
    return lease.documents.find_one_and_update(
        {"_id": lease.document_id, "$or": [{"fan_out.state": "pending"}, expired]},
        {"$set": taken, "$inc": {"fan_out.attempts": 1}},
        projection=fields,
        return_document=ReturnDocument.AFTER,
    )


def claim_chunk(lease: DeliveryLease, number: int, fields: Mapping[str, Any]) -> Document | None:
    """Take a chunk that is not done and that nobody holds; the document is held as long.

    Returns the document's `fields`, a projection. The chunk of a document that was given up
    may be taken too.
    """
    chunk, end = f"fan_out.chunks.{number}", lease_end(lease.runtime)
    expired = {f"{chunk}.expires_at": {"$lte": lease.runtime.now()}}
    return lease.documents.find_one_and_update(
        {
            "_id": lease.document_id,
            "fan_out.state": {"$in": ["delivering", "failed"]},
            f"{chunk}.until": {"$exists": True},
            "fan_out.chunks_done": {"$ne": number},
            # Not `None`, which every chunk would match: it has no field called by a number.
            "$or": [{f"{chunk}.owner": {"$exists": False}}, expired],
        },
        {
            "$set": {
                f"{chunk}.owner": lease.owner,
                f"{chunk}.expires_at": end,
                **_held_until(end),
            }
        },
        projection=fields,
        return_document=ReturnDocument.AFTER,
    )


def record(lease: DeliveryLease, chunks: Sequence[Document], *, planned: bool) -> bool:
    """Write chunks down and move the cursor; False if the lease is another worker's by now.

    `planned` says that the audience ends here.
    """
    recorded = lease.documents.update_one(
        _held(lease),
        {
            "$push": {"fan_out.chunks": {"$each": chunks}},
            "$set": {
                **({"fan_out.cursor": chunks[-1]["until"]} if chunks else {}),
                "fan_out.planned": planned,
                **_progress(lease.runtime),
            },
        },
    )
    return recorded.matched_count == 1


def note(lease: DeliveryLease, fields: Document) -> bool:
    """Set what a kind has of its own in `fan_out`; False if the lease is another worker's."""
    named = {f"fan_out.{name}": value for name, value in fields.items()}
    return lease.documents.update_one(_held(lease), {"$set": named}).matched_count == 1


def mark_done(lease: DeliveryLease, number: int, also: Document) -> Literal["not", "done", "last"]:
    """Note under a chunk's lease, and under `also`, that the chunk is done; end the lease.

    Tells whether it was the last one, or was `not` marked. One that comes late revives a
    fan-out that was given up.
    """
    chunk = f"fan_out.chunks.{number}"
    marked = lease.documents.find_one_and_update(
        {
            "_id": lease.document_id,
            "fan_out.state": {"$in": ["delivering", "failed"]},
            f"{chunk}.owner": lease.owner,
            **also,
        },
        {
            "$addToSet": {"fan_out.chunks_done": number},
            "$set": {"fan_out.state": "delivering", **_progress(lease.runtime)},
            "$unset": {f"{chunk}.owner": "", f"{chunk}.expires_at": ""},
        },
        projection={"fan_out.planned": 1, "fan_out.chunks_done": 1, "fan_out.chunks.size": 1},
        return_document=ReturnDocument.AFTER,
    )
    if marked is None:
        return "not"
    fan_out = marked["fan_out"]
    is_last = fan_out["planned"] and len(fan_out["chunks"]) == len(fan_out["chunks_done"])
    return "last" if is_last else "done"


def finish_at_once(lease: DeliveryLease, size: int, also: Document) -> bool:
    """Note under the lease, and under `also`, that so many readers were all and have it."""
    whole = {
        "fan_out.chunks": [{"size": size}],
        "fan_out.chunks_done": [0],
        "fan_out.planned": True,
    }
    finished = lease.documents.update_one({**_held(lease), **also}, {"$set": {**whole, **_DONE}})
    return finished.matched_count == 1


def finish(lease: DeliveryLease) -> None:
    """End the fan-out if the audience is planned to its end and every chunk is done.

    The bounds of the chunks are readers' ids, which nobody needs any more.
    """
    sizes = [{"$size": "$fan_out.chunks"}, {"$size": "$fan_out.chunks_done"}]
    lease.documents.update_one(
        {
            "_id": lease.document_id,
            "fan_out.state": "delivering",
            "fan_out.planned": True,
            "$expr": {"$eq": sizes},
        },
        {
            "$set": _DONE,
            "$unset": {f"fan_out.chunks.$[].{bound}": "" for bound in ("after", "until")},
        },
    )


def give_up(lease: DeliveryLease) -> None:
    """Give a document up; the reason is the last failure's, which staff can read."""
    reason = {"$ifNull": ["$fan_out.reason", "workers ended unheard"]}
    failed = lease.documents.find_one_and_update(
        _held(lease),
        [{"$set": {"fan_out.state": "failed", "fan_out.reason": reason}}],
        projection={"fan_out.reason": 1},
        return_document=ReturnDocument.AFTER,
    )
    if failed:
        what = {"collection": lease.documents.name, "id": lease.document_id}
        fields = {**what, **failed["fan_out"], "fan_outs_failed": 1}
        log.error("fan-out failed", extra={"fields": fields, "metrics": FAN_OUTS_FAILED})


def note_failure(lease: DeliveryLease, error: Exception) -> None:
    """Note why a worker failed, unless others have ended the fan-out meanwhile.

    Its lease stays, as a pause before the next attempt.
    """
    reason = {"$set": {"fan_out.reason": type(error).__name__}}
    unfinished = {"_id": lease.document_id, "fan_out.state": {"$ne": "done"}}
    lease.documents.update_one(unfinished, reason)


def revive(runtime: Runtime, collection: str, document_id: str) -> bool:
    """Have a fan-out that was given up be done again from where it stood; False if it was not."""
    revived = runtime.database[collection].update_one(
        {"_id": document_id, "fan_out.state": "failed"},
        {"$set": {"fan_out.state": "pending", "fan_out.reason": None, **_progress(runtime)}},
    )
    return revived.matched_count == 1


def _held(lease: DeliveryLease) -> Document:
    """Return the condition that a worker still holds a document."""
    return {
        "_id": lease.document_id,
        "fan_out.owner": lease.owner,
        "fan_out.state": "delivering",
    }


def _progress(runtime: Runtime) -> Document:
    """Return what every step forward sets: a new lease, and the attempts to be counted anew."""
    return {**_held_until(lease_end(runtime)), "fan_out.attempts": 0}


def _held_until(end: datetime) -> Document:
    """Return what a lease sets: before its end a sweep has nothing to send for."""
    return {"fan_out.expires_at": end, "fan_out.resend_at": end, "fan_out.resends": 0}
