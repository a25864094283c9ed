"""Bringing a document to its readers, whatever crashes on the way: posts and actions alike.

The document itself is the memory. A worker takes it on a lease. An audience that fits into one
chunk is served at once, under that lease. A larger one is cut into chunks: each is written
down before its message is sent, which moves the cursor, is worked on under a lease of its own,
and marks itself done; the last one ends the fan-out. A worker that dies lets its lease run
out: the sweep then sends a message, and the next worker goes on from the cursor and repeats
what is missing. Every step may be repeated, as a reader who has the document gets it no more.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pymongo.errors import PyMongoError

from chalicelib.database import Document
from chalicelib.messaging import Message
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import DELIVERIES
from chalicelib.runtime import Runtime
from chalicelib.social.delivery import leases, resending
from chalicelib.social.delivery.leases import DeliveryLease
from chalicelib.social.paging.id_range import IdRange

# Every insert waits once for the journal, whatever its size: decision 0045.
CHUNK_READERS = 5_000
# As many as SQS takes messages in one call.
CHUNKS_AT_ONCE = 10


@dataclass(frozen=True)
class Deliverable:
    """A kind of document, and what it means to bring one to its readers.

    `fields` is the projection of what the functions read of a document; `fan_out` is in it.
    `audience` gives the ids of those whom the document goes to, in order, within a range.
    `bring` brings it to such ids, and to those who have it already not again; it is told
    whether they are the first of all, who may be nobody. `unchanged` gives a condition that
    holds as long as what was brought is right; where it does not, `mend` makes it right.
    `message` and `chunk_message` ask for the whole and for a chunk. `choose` may leave the
    document to be found where it is: it is given the first readers, one more than are
    planned at once where there are so many, and returns them, or nobody.
    """

    collection: str
    fields: Mapping[str, Any]
    audience: Callable[[Runtime, Document, IdRange], list[str]]
    bring: Callable[[Runtime, Document, list[str], bool], None]
    unchanged: Callable[[Document], Document]
    mend: Callable[[Runtime, Document], None]
    message: Callable[[str], Message]
    chunk_message: Callable[[str, int], Message]
    choose: Callable[[Document, DeliveryLease, list[str]], list[str]] = lambda _doc, _lease, ids: (
        ids
    )


def deliver(runtime: Runtime, kind: Deliverable, document_id: str) -> None:
    """Bring a document to its readers, or have it brought in chunks, from where it stands.

    Nothing happens where another worker holds the lease, or where all is done. After five
    attempts without any progress it is given up.
    """
    with _working(runtime, kind, document_id) as lease:
        document = leases.claim(lease, kind.fields)
        if document is None:
            return
        fan_out = document["fan_out"]
        if fan_out["attempts"] > leases.MAX_ATTEMPTS:
            leases.give_up(lease)
            return
        left = set(range(len(fan_out["chunks"]))).difference(fan_out["chunks_done"])
        runtime.queues.send(*(kind.chunk_message(document_id, number) for number in left))
        _go_on(runtime, kind, document, lease)


def _go_on(runtime: Runtime, kind: Deliverable, document: Document, lease: DeliveryLease) -> None:
    """Write down and send chunk after chunk, from the cursor to the audience's end.

    One reader more than is planned at once is asked for, which tells where the end is.
    """
    fan_out = document["fan_out"]
    cursor, number, planned = fan_out["cursor"], len(fan_out["chunks"]), fan_out["planned"]
    while not planned:
        most = CHUNK_READERS * CHUNKS_AT_ONCE
        ids = kind.audience(runtime, document, IdRange(cursor, limit=most + 1))
        if number == 0:
            ids = kind.choose(document, lease, ids)
            if len(ids) <= CHUNK_READERS:
                _bring_to_all(runtime, kind, document, lease, ids)
                return
        planned = len(ids) <= most
        chunks = _cut(ids[:most], cursor)
        if not leases.record(lease, chunks, planned=planned):
            return
        numbers = range(number, number + len(chunks))
        runtime.queues.send(*(kind.chunk_message(document["_id"], each) for each in numbers))
        cursor, number = chunks[-1]["until"] if chunks else cursor, numbers.stop
    leases.finish(lease)


def _cut(ids: list[str], after: str) -> list[Document]:
    """Return ids that follow another one as chunks."""
    chunks = []
    for start in range(0, len(ids), CHUNK_READERS):
        some = ids[start : start + CHUNK_READERS]
        chunks.append({"after": after, "until": some[-1], "size": len(some)})
        after = some[-1]
    return chunks


def _bring_to_all(
    runtime: Runtime, kind: Deliverable, document: Document, lease: DeliveryLease, ids: list[str]
) -> None:
    kind.bring(runtime, document, ids, True)  # noqa: FBT003 - the first of all
    finished = leases.finish_at_once(lease, len(ids), kind.unchanged(document))
    if not finished:
        # Also where the lease is lost: what came after another worker's end has to be right too.
        kind.mend(runtime, document)
        finished = leases.finish_at_once(lease, len(ids), {})
    if finished:
        _log_deliveries(lease, len(ids))


def _log_deliveries(lease: DeliveryLease, readers: int) -> None:
    fields = {"collection": lease.documents.name, "id": lease.document_id, "deliveries": readers}
    log.info("brought to readers", extra={"fields": fields, "metrics": DELIVERIES})


def deliver_chunk(runtime: Runtime, kind: Deliverable, document_id: str, number: int) -> None:
    """Bring a document to one chunk of its readers.

    Nothing happens where another worker holds the chunk's lease, or where it is done.
    """
    with _working(runtime, kind, document_id) as lease:
        document = leases.claim_chunk(lease, number, kind.fields)
        if document is None:
            return
        chunk = document["fan_out"]["chunks"][number]
        ids = kind.audience(runtime, document, IdRange(chunk["after"], chunk["until"]))
        kind.bring(runtime, document, ids, number == 0)
        marked = leases.mark_done(lease, number, kind.unchanged(document))
        if marked == "not":
            # A change that came after the document was read may have been spread before it
            # was brought, also by a worker that has lost the lease meanwhile.
            kind.mend(runtime, document)
            marked = leases.mark_done(lease, number, {})
        if marked == "last":
            leases.finish(lease)
        if marked != "not":
            _log_deliveries(lease, len(ids))


def sweep(runtime: Runtime, kind: Deliverable) -> None:
    """Send a message for every unfinished fan-out whose lease, or last message, ran out."""

    def messages(rows: Iterable[Document]) -> Iterator[Message]:
        return (kind.message(row["_id"]) for row in rows)

    resending.sweep(runtime, runtime.database[kind.collection], leases.RESENDING, messages)


def retry(runtime: Runtime, kind: Deliverable, document_id: str) -> bool:
    """Have a fan-out that was given up go on from where it stood; False if it was not."""
    revived = leases.revive(runtime, kind.collection, document_id)
    if revived:
        runtime.queues.send(kind.message(document_id))
    return revived


@contextmanager
def _working(runtime: Runtime, kind: Deliverable, document_id: str) -> Iterator[DeliveryLease]:
    """Give a lease to be taken; a failure is noted on the document and raised again."""
    lease = DeliveryLease.asked(runtime, kind.collection, document_id)
    try:
        yield lease
    except Exception as error:
        try:
            leases.note_failure(lease, error)
        except PyMongoError:
            log.warning("failure not noted", exc_info=True, extra={"fields": {"id": document_id}})
        raise
