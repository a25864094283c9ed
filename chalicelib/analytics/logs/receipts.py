"""Receipts of counted hits, for logs that a transaction cannot write to.

A worker *claims* a hit before any other write. The first claim of an id fixes the hit: another
hit of the same id is a repeat, whatever its content. So all rows of one id in a log are alike. The
transaction that counts a hit *settles* its receipt.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypedDict, TypeVar

import orjson
from pymongo import ASCENDING, IndexModel, UpdateOne, WriteConcern
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics.hits import OLDEST, StoredHit
from chalicelib.database import Collection, Document, insert_missing

# Longer than any message of a hit may come again.
KEPT = OLDEST + timedelta(days=1)
_DIGEST_BYTES = 8


class Receipt(TypedDict):
    """A claimed hit; `digest` is of its whole content."""

    _id: str
    at: datetime
    digest: str
    counted: bool


RECEIPTS = Collection(
    "hit.seen",
    Receipt,
    indexes=(IndexModel([("at", ASCENDING)], expireAfterSeconds=int(KEPT.total_seconds())),),
    shard_key={"_id": "hashed"},
)


class Claimable(TypedDict):
    """A hit, or another row that counts once by its id."""

    _id: str
    ts: datetime


AnyClaimable = TypeVar("AnyClaimable", bound=Claimable)


def claim(database: Database[Document], hits: Sequence[AnyClaimable]) -> list[AnyClaimable]:
    """Claim hits; return the uncounted hits that equal the first claim of their id."""
    if not hits:
        return []
    digests = {hit["_id"]: _digest(hit) for hit in hits}
    rows = RECEIPTS.of(database)
    insert_missing(rows, [_to_receipt(hit, digests[hit["_id"]]) for hit in hits])
    found = rows.find({"_id": {"$in": list(digests)}, "counted": False})
    mine = {row["_id"] for row in found if row["digest"] == digests[row["_id"]]}
    return [hit for hit in hits if hit["_id"] in mine]


def settle(
    database: Database[Document], session: ClientSession, hits: Sequence[Claimable]
) -> set[str]:
    """Mark claimed hits as counted; return the ids of the hits that had not counted before."""
    if not hits:
        return set()
    rows = RECEIPTS.of(database)
    waiting = {"_id": {"$in": [hit["_id"] for hit in hits]}, "counted": False}
    fresh = [row["_id"] for row in rows.find(waiting, {"_id": 1}, session=session)]
    if fresh:
        rows.update_many({"_id": {"$in": fresh}}, {"$set": {"counted": True}}, session=session)
    return set(fresh)


def note(database: Database[Document], hits: Iterable[StoredHit]) -> None:
    """Mark hits as counted, whatever claims they have: rows of a transactional log have counted."""
    writes = [
        UpdateOne(
            {"_id": hit["_id"]},
            {"$set": {"counted": True}, "$setOnInsert": {"at": hit["ts"], "digest": _digest(hit)}},
            upsert=True,
        )
        for hit in hits
    ]
    if writes:
        RECEIPTS.of(database).bulk_write(writes, ordered=False)


def waiting(database: Database[Document], hits: Iterable[StoredHit]) -> set[str]:
    """Return the ids of claimed hits that have not counted yet."""
    claimed = {"_id": {"$in": [hit["_id"] for hit in hits]}, "counted": False}
    return {row["_id"] for row in RECEIPTS.of(database).find(claimed, {"_id": 1})}


def _to_receipt(hit: Claimable, digest: str) -> Receipt:
    return {"_id": hit["_id"], "at": hit["ts"], "digest": digest, "counted": False}


def _digest(hit: Claimable) -> str:
    text = orjson.dumps(hit, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()


# The common part of logs without transactions: receipts show which hits have counted.


class AppendedLog:
    """A log that stores hits before the transaction that counts them."""

    is_transactional = False

    def prepare(self, days: Sequence[datetime]) -> None:
        """Do nothing: days need no preparation."""

    def needs_receipt(self, hit: StoredHit) -> bool:  # noqa: ARG002 - all of them do
        """Return True: no transaction writes a row."""
        return True

    def find_known(self, session: ClientSession | None, hits: Sequence[StoredHit]) -> set[str]:  # noqa: ARG002 - receipts decide
        """Return an empty set: receipts show the known hits."""
        return set()

    def admit(self, session: ClientSession, hits: Sequence[StoredHit]) -> None:
        """Do nothing: no transaction writes to this log."""


def concern_of(concern: str) -> WriteConcern:
    """Return the write concern of PLAZA_HIT_LOG_CONCERN."""
    return WriteConcern(1 if concern == "1" else "majority")
