"""Leases on deliveries: one worker at a time delivers a document, or a chunk of its readers.

A lease is its holder's token in the document, for the whole document or for one chunk of its
readers, with an expiry. A worker writes only while its token is there. After the expiry, another
worker may replace the token; then the first can no longer write. `finish` and `note_failure` need
no lease.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pymongo import ReturnDocument
from pymongo.collection import Collection as MongoCollection

from chalicelib.database import Collection, Document
from chalicelib.ids import new_id
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import FAN_OUTS_FAILED
from chalicelib.runtime import Runtime
from chalicelib.social.delivery.state import FanOut, ReaderChunk, lease_end

MAX_ATTEMPTS = 5
_DONE = {"fan_out.state": "done", "fan_out.reason": None, "fan_out.cursor": ""}

# A document with an `_id` and a `fan_out`.
Delivered = TypeVar("Delivered", bound=Mapping[str, Any])


@dataclass(frozen=True)
class DeliveryLease(Generic[Delivered]):
    """A worker's hold on a document, or on a chunk of its readers; `owner` is the token."""

    runtime: Runtime
    documents: MongoCollection[Delivered]
    document_id: str
    owner: str

    @classmethod
    def prepare(
        cls, runtime: Runtime, collection: Collection[Delivered], document_id: str
    ) -> "DeliveryLease[Delivered]":
        """Return a lease with a new token, worthless before `claim` or `claim_chunk`."""
        owner = new_id(runtime.now(), runtime.random)
        return cls(runtime, collection.of(runtime.database), document_id, owner)


def claim(lease: DeliveryLease[Delivered], fields: Mapping[str, Any]) -> Delivered | None:
    """Claim a new document, or a document whose lease expired; count the attempt.

    Returns its `fields`, a projection. None: there is nothing to claim.
    """
    now = lease.runtime.now()
    expired = {"fan_out.state": "delivering", "fan_out.expires_at": {"$lte": now}}
    taken = {
        "fan_out.state": "delivering",
        "fan_out.owner": lease.owner,
        **_lease_fields(lease_end(lease.runtime)),
    }
    return lease.documents.find_one_and_update(
        {"_id": lease.document_id, "$or": [{"fan_out.state": "pending"}, expired]},
        {"$set": taken, "$inc": {"fan_out.attempts": 1}},
        projection=fields,
        return_document=ReturnDocument.AFTER,
    )


def claim_chunk(
    lease: DeliveryLease[Delivered], number: int, fields: Mapping[str, Any]
) -> Delivered | None:
    """Claim an unfinished chunk without a current lease; extend the document's lease.

    Returns the document's `fields`, a projection. None: there is nothing to claim. A failed
    fan-out's chunk is free to claim, too.
    """
    chunk, end = f"fan_out.chunks.{number}", lease_end(lease.runtime)
    expired = {f"{chunk}.expires_at": {"$lte": lease.runtime.now()}}
    return lease.documents.find_one_and_update(
        {
            "_id": lease.document_id,
            "fan_out.state": {"$in": ["delivering", "failed"]},
            f"{chunk}.until": {"$exists": True},
            "fan_out.chunks_done": {"$ne": number},
            # A comparison with None would always match: MongoDB also reads the number as the name
            # of a field, which no element of the array has.
            "$or": [{f"{chunk}.owner": {"$exists": False}}, expired],
        },
        {
            "$set": {
                f"{chunk}.owner": lease.owner,
                f"{chunk}.expires_at": end,
                **_lease_fields(end),
            }
        },
        projection=fields,
        return_document=ReturnDocument.AFTER,
    )


def record(
    lease: DeliveryLease[Delivered], chunks: Sequence[ReaderChunk], *, planned: bool
) -> bool:
    """Record chunks and move the cursor; return False if another worker has the lease by now.

    `planned`: the audience ends here.
    """
    recorded = lease.documents.update_one(
        _holder_filter(lease),
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


def note(lease: DeliveryLease[Delivered], fields: Document) -> bool:
    """Set fields of `fan_out`; return False if another worker has the lease by now."""
    named = {f"fan_out.{name}": value for name, value in fields.items()}
    return lease.documents.update_one(_holder_filter(lease), {"$set": named}).matched_count == 1


def mark_done(
    lease: DeliveryLease[Delivered], number: int, also: Document
) -> Literal["not", "done", "last"]:
    """Mark a chunk done under its lease and the condition `also`, and end the lease.

    `not`: nothing matched; `last`: every chunk is done now. A late chunk revives a failed fan-out.
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
    fan_out: FanOut = marked["fan_out"]
    is_last = fan_out["planned"] and len(fan_out["chunks"]) == len(fan_out["chunks_done"])
    return "last" if is_last else "done"


def finish_at_once(lease: DeliveryLease[Delivered], size: int, also: Document) -> bool:
    """End the fan-out as one chunk of `size` readers, under the lease and the condition `also`.

    False: another worker has the lease, or the document does not match `also`.
    """
    whole = {
        "fan_out.chunks": [{"size": size}],
        "fan_out.chunks_done": [0],
        "fan_out.planned": True,
    }
    finished = lease.documents.update_one(
        {**_holder_filter(lease), **also}, {"$set": {**whole, **_DONE}}
    )
    return finished.matched_count == 1


def finish(lease: DeliveryLease[Delivered]) -> None:
    """End the fan-out if the plan reaches the audience's end and every chunk is done.

    Deletes the bounds of the chunks: they are readers' ids.
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


def mark_failed(lease: DeliveryLease[Delivered]) -> None:
    """Mark a fan-out failed, with the last failure as the reason, for staff."""
    reason = {"$ifNull": ["$fan_out.reason", "workers ended unheard"]}
    failed = lease.documents.find_one_and_update(
        _holder_filter(lease),
        [{"$set": {"fan_out.state": "failed", "fan_out.reason": reason}}],
        projection={"fan_out.reason": 1},
        return_document=ReturnDocument.AFTER,
    )
    if failed:
        what = {"collection": lease.documents.name, "id": lease.document_id}
        fields = {**what, **failed["fan_out"], "fan_outs_failed": 1}
        log.error("fan-out failed", extra={"fields": fields, "metrics": FAN_OUTS_FAILED})


def note_failure(lease: DeliveryLease[Delivered], error: Exception) -> None:
    """Note the reason of a failure, unless another worker ended the fan-out meanwhile.

    The lease stays, as a pause before the next attempt.
    """
    reason = {"$set": {"fan_out.reason": type(error).__name__}}
    unfinished = {"_id": lease.document_id, "fan_out.state": {"$ne": "done"}}
    lease.documents.update_one(unfinished, reason)


def revive(runtime: Runtime, collection: Collection[Delivered], document_id: str) -> bool:
    """Continue a failed fan-out where it stopped; return whether it had failed."""
    revived = collection.of(runtime.database).update_one(
        {"_id": document_id, "fan_out.state": "failed"},
        {"$set": {"fan_out.state": "pending", "fan_out.reason": None, **_progress(runtime)}},
    )
    return revived.matched_count == 1


def _holder_filter(lease: DeliveryLease[Delivered]) -> Document:
    """Return the filter of a document that the worker still holds."""
    return {
        "_id": lease.document_id,
        "fan_out.owner": lease.owner,
        "fan_out.state": "delivering",
    }


def _progress(runtime: Runtime) -> Document:
    """Return the fields of every step forward: a new lease, and no attempts."""
    return {**_lease_fields(lease_end(runtime)), "fan_out.attempts": 0}


def _lease_fields(end: datetime) -> Document:
    """Return the fields of a lease; until its end the sweep sends nothing."""
    return {"fan_out.expires_at": end, "fan_out.resend_at": end, "fan_out.resends": 0}
