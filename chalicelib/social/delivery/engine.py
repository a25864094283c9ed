"""Delivering a document to its readers, posts and actions alike, whatever crashes on the way.

The document itself is the memory. A worker takes it on a lease. An audience that fits into one
chunk is served at once, under that lease. A larger one is cut into chunks: each is recorded
before its message is sent, which moves the cursor, is delivered under a lease of its own, and
marks itself done; the last one ends the fan-out. The lease of a worker that dies expires: the
sweep then sends a message, and the next worker continues from the cursor and repeats what is
missing. Every step may be repeated: a reader who has the document does not get it again.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from pymongo.errors import PyMongoError

from chalicelib.database import Collection, Document
from chalicelib.jobs import resending
from chalicelib.messaging import Message
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import DELIVERIES
from chalicelib.runtime import Runtime
from chalicelib.social.delivery import leases
from chalicelib.social.delivery.leases import Delivered, DeliveryLease
from chalicelib.social.delivery.state import RESENDING, Chunk, FanOut
from chalicelib.social.paging import IdRange


class Deliverable(Protocol[Delivered]):
    """A kind of document, and how it is delivered to its readers."""

    @property
    def documents(self) -> Collection[Delivered]:
        """Return the collection of the documents."""
        ...

    @property
    def fields(self) -> Mapping[str, Any]:
        """Return the projection of what the methods read of a document, `fan_out` included."""
        ...

    def audience(self, runtime: Runtime, document: Delivered, ids: IdRange) -> list[str]:
        """Return the ids of a document's readers within a range, in order."""
        ...

    def deliver(
        self, runtime: Runtime, document: Delivered, reader_ids: list[str], *, is_first: bool
    ) -> None:
        """Give readers the document; those who have it already are left alone.

        `is_first` says that these are the first of all readers, who may be none.
        """
        ...

    def unchanged(self, document: Delivered) -> Document:
        """Return a condition that holds as long as what was delivered is right."""
        ...

    def repair(self, runtime: Runtime, document: Delivered) -> None:
        """Make what was delivered right, after `unchanged` did not hold."""
        ...

    def message(self, document_id: str) -> Message:
        """Return the message that asks for the delivery of a document."""
        ...

    def chunk_message(self, document_id: str, number: int) -> Message:
        """Return the message that asks for the delivery of one chunk."""
        ...

    def choose(
        self, document: Delivered, lease: DeliveryLease[Delivered], first: list[str]
    ) -> list[str]:
        """Return the first readers, or nobody if the document is to be read where it is.

        `first` has one reader more than are planned at once, if there are that many.
        """
        ...


def deliver(runtime: Runtime, kind: Deliverable[Delivered], document_id: str) -> None:
    """Deliver a document to its readers, or send its chunks, continuing where it stopped.

    Does nothing if another worker holds the lease, or if all is done. After five attempts
    without progress the fan-out is marked failed.
    """
    with _working(runtime, kind, document_id) as lease:
        document = leases.claim(lease, kind.fields)
        if document is None:
            return
        fan_out: FanOut = document["fan_out"]
        if fan_out["attempts"] > leases.MAX_ATTEMPTS:
            leases.mark_failed(lease)
            return
        left = set(range(len(fan_out["chunks"]))).difference(fan_out["chunks_done"])
        runtime.queues.send(*(kind.chunk_message(document_id, number) for number in left))
        _plan(runtime, kind, document, lease)


def _plan(
    runtime: Runtime,
    kind: Deliverable[Delivered],
    document: Delivered,
    lease: DeliveryLease[Delivered],
) -> None:
    """Record and send chunk after chunk, from the cursor to the audience's end.

    One reader more than is planned at once is asked for, which shows where the end is.
    """
    fan_out: FanOut = document["fan_out"]
    cursor, number, planned = fan_out["cursor"], len(fan_out["chunks"]), fan_out["planned"]
    size = runtime.bounds.social.chunk_readers
    most = size * runtime.bounds.social.chunks_at_once
    while not planned:
        ids = kind.audience(runtime, document, IdRange(cursor, limit=most + 1))
        if number == 0:
            ids = kind.choose(document, lease, ids)
            if len(ids) <= size:
                _deliver_to_all(runtime, kind, document, lease, ids)
                return
        planned = len(ids) <= most
        chunks = _cut(ids[:most], cursor, size)
        if not leases.record(lease, chunks, planned=planned):
            return
        numbers = range(number, number + len(chunks))
        runtime.queues.send(*(kind.chunk_message(document["_id"], each) for each in numbers))
        cursor, number = chunks[-1]["until"] if chunks else cursor, numbers.stop
    leases.finish(lease)


def _cut(ids: list[str], after: str, size: int) -> list[Chunk]:
    """Return ids that follow another one as chunks of a size."""
    chunks: list[Chunk] = []
    for start in range(0, len(ids), size):
        some = ids[start : start + size]
        chunks.append({"after": after, "until": some[-1], "size": len(some)})
        after = some[-1]
    return chunks


def _deliver_to_all(
    runtime: Runtime,
    kind: Deliverable[Delivered],
    document: Delivered,
    lease: DeliveryLease[Delivered],
    ids: list[str],
) -> None:
    kind.deliver(runtime, document, ids, is_first=True)
    finished = leases.finish_at_once(lease, len(ids), kind.unchanged(document))
    if not finished:
        # Also if the lease is lost: what was delivered after another worker's end must be right.
        kind.repair(runtime, document)
        finished = leases.finish_at_once(lease, len(ids), {})
    if finished:
        _log_deliveries(lease, len(ids))


def _log_deliveries(lease: DeliveryLease[Delivered], readers: int) -> None:
    fields = {"collection": lease.documents.name, "id": lease.document_id, "deliveries": readers}
    log.info("delivered to readers", extra={"fields": fields, "metrics": DELIVERIES})


def deliver_chunk(
    runtime: Runtime, kind: Deliverable[Delivered], document_id: str, number: int
) -> None:
    """Deliver a document to one chunk of its readers.

    Does nothing if another worker holds the chunk's lease, or if it is done.
    """
    with _working(runtime, kind, document_id) as lease:
        document = leases.claim_chunk(lease, number, kind.fields)
        if document is None:
            return
        fan_out: FanOut = document["fan_out"]
        chunk = fan_out["chunks"][number]
        ids = kind.audience(runtime, document, IdRange(chunk["after"], chunk["until"]))
        kind.deliver(runtime, document, ids, is_first=number == 0)
        marked = leases.mark_done(lease, number, kind.unchanged(document))
        if marked == "not":
            # A change made after the document was read may have been propagated before the
            # delivery, also by a worker that has lost the lease in the meantime.
            kind.repair(runtime, document)
            marked = leases.mark_done(lease, number, {})
        if marked == "last":
            leases.finish(lease)
        if marked != "not":
            _log_deliveries(lease, len(ids))


def sweep(runtime: Runtime, kind: Deliverable[Delivered]) -> None:
    """Send a message for every unfinished fan-out whose lease, or last message, expired."""

    def messages(rows: Iterable[Delivered]) -> Iterator[Message]:
        return (kind.message(row["_id"]) for row in rows)

    resending.sweep(runtime, kind.documents.of(runtime.database), RESENDING, messages)


def retry(runtime: Runtime, kind: Deliverable[Delivered], document_id: str) -> bool:
    """Have a failed fan-out continue where it stopped; return whether it had failed."""
    revived = leases.revive(runtime, kind.documents, document_id)
    if revived:
        runtime.queues.send(kind.message(document_id))
    return revived


@contextmanager
def _working(
    runtime: Runtime, kind: Deliverable[Delivered], document_id: str
) -> Iterator[DeliveryLease[Delivered]]:
    """Give a lease to be claimed; a failure is noted on the document and raised again."""
    lease = DeliveryLease.asked(runtime, kind.documents, document_id)
    try:
        yield lease
    except Exception as error:
        try:
            leases.note_failure(lease, error)
        except PyMongoError:
            log.warning("failure not noted", exc_info=True, extra={"fields": {"id": document_id}})
        raise
