"""Delivery of a post or an action to its readers, despite crashes.

The document itself stores the progress. A worker claims the document under a lease. If the audience
fits into one chunk, the worker delivers to it at once, under that lease. Otherwise the worker cuts
it into chunks. It records each chunk, which moves the cursor, before it sends the chunk's message.
A chunk has a lease of its own and ends as done; the last chunk ends the fan-out. If a worker dies,
its lease expires: the sweep sends a message, and the next worker continues from the cursor and
sends the missing chunks again. Every step may repeat: a reader with the document gets no second
copy.
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
from chalicelib.social.delivery.state import RESENDING, FanOut, ReaderChunk
from chalicelib.social.paging import IdRange


class Deliverable(Protocol[Delivered]):
    """A kind of document: its storage, its readers and its delivery."""

    @property
    def documents(self) -> Collection[Delivered]:
        """Return the collection of the documents."""
        ...

    @property
    def fields(self) -> Mapping[str, Any]:
        """Return the projection that the methods below read, `fan_out` included."""
        ...

    def audience(self, runtime: Runtime, document: Delivered, ids: IdRange) -> list[str]:
        """Return the ids of a document's readers within a range, in order."""
        ...

    def deliver(
        self, runtime: Runtime, document: Delivered, reader_ids: list[str], *, is_first: bool
    ) -> None:
        """Deliver the document to readers, except readers who have it already.

        `is_first`: these are the first of all readers; the list may be empty.
        """
        ...

    def unchanged_filter(self, document: Delivered) -> Document:
        """Return a filter that matches as long as the delivered copies are right."""
        ...

    def repair(self, runtime: Runtime, document: Delivered) -> None:
        """Correct the delivered copies, after `unchanged_filter` did not match."""
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
        """Return `first`; or an empty list, if readers pull the document from its author.

        `first`: the first readers, up to one more than the plan records at once.
        """
        ...


def deliver(runtime: Runtime, kind: Deliverable[Delivered], document_id: str) -> None:
    """Deliver a document to its readers, or send its chunks, from where the fan-out stopped.

    If another worker holds the lease, or all is done, nothing happens. After five attempts without
    progress the fan-out fails.
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

    Delivers at once to an audience of one chunk. Reads one reader more than it records at once, to
    see whether the audience ends.
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


def _cut(ids: list[str], after: str, size: int) -> list[ReaderChunk]:
    """Return ids as chunks of a size; `after` is the id before the first."""
    chunks: list[ReaderChunk] = []
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
    finished = leases.finish_at_once(lease, len(ids), kind.unchanged_filter(document))
    if not finished:
        # Also without the lease: the repair of another worker may have missed these copies.
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

    If another worker holds the chunk's lease, or the chunk is done, nothing happens.
    """
    with _working(runtime, kind, document_id) as lease:
        document = leases.claim_chunk(lease, number, kind.fields)
        if document is None:
            return
        fan_out: FanOut = document["fan_out"]
        chunk = fan_out["chunks"][number]
        ids = kind.audience(runtime, document, IdRange(chunk["after"], chunk["until"]))
        kind.deliver(runtime, document, ids, is_first=number == 0)
        marked = leases.mark_done(lease, number, kind.unchanged_filter(document))
        if marked == "not":
            # A change after the read may have missed these copies: they came later. So repair
            # them, even if this worker has lost its lease meanwhile.
            kind.repair(runtime, document)
            marked = leases.mark_done(lease, number, {})
        if marked == "last":
            leases.finish(lease)
        if marked != "not":
            _log_deliveries(lease, len(ids))


def sweep(runtime: Runtime, kind: Deliverable[Delivered]) -> None:
    """Send messages for unfinished fan-outs after `resend_at`, at most `swept_at_once`."""

    def messages(rows: Iterable[Delivered]) -> Iterator[Message]:
        return (kind.message(row["_id"]) for row in rows)

    resending.sweep(runtime, kind.documents.of(runtime.database), RESENDING, messages)


def retry(runtime: Runtime, kind: Deliverable[Delivered], document_id: str) -> bool:
    """Continue a failed fan-out where it stopped; return whether it had failed."""
    revived = leases.revive(runtime, kind.documents, document_id)
    if revived:
        runtime.queues.send(kind.message(document_id))
    return revived


@contextmanager
def _working(
    runtime: Runtime, kind: Deliverable[Delivered], document_id: str
) -> Iterator[DeliveryLease[Delivered]]:
    """Yield an unclaimed lease; note a failure on the document and raise it again."""
    lease = DeliveryLease.prepare(runtime, kind.documents, document_id)
    try:
        yield lease
    except Exception as error:
        try:
            leases.note_failure(lease, error)
        except PyMongoError:
            log.warning("failure not noted", exc_info=True, extra={"fields": {"id": document_id}})
        raise
