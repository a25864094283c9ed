"""Receipts: which hits were counted, for logs whose rows cannot say so in a transaction.

A worker *claims* a hit before it writes anywhere else, and the first to claim an id says what the
hit is: another hit of the same id is a repeat, however it differs. So all rows that a log may hold
of one id are alike. In the transaction that counts a hit, its receipt is *settled*.
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

# Longer than a message of the hit can be delivered again.
KEPT = OLDEST + timedelta(days=1)
_DIGEST_BYTES = 8


class Receipt(TypedDict):
    """A hit that was claimed; `digest` is that of all it says."""

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
    """A hit, or anything else that counts once by its id."""

    _id: str
    ts: datetime


AnyClaimable = TypeVar("AnyClaimable", bound=Claimable)


def claim(database: Database[Document], hits: Sequence[AnyClaimable]) -> list[AnyClaimable]:
    """Return the hits that this worker may count: not counted yet, and no repeat that differs."""
    if not hits:
        return []
    digests = {hit["_id"]: _digest(hit) for hit in hits}
    rows = RECEIPTS.of(database)
    insert_missing(rows, [_claimed(hit, digests[hit["_id"]]) for hit in hits])
    found = rows.find({"_id": {"$in": list(digests)}, "counted": False})
    mine = {row["_id"] for row in found if row["digest"] == digests[row["_id"]]}
    return [hit for hit in hits if hit["_id"] in mine]


def settle(
    database: Database[Document], session: ClientSession, hits: Sequence[Claimable]
) -> set[str]:
    """Return the ids of claimed hits that nobody has counted, and mark them as counted."""
    if not hits:
        return set()
    rows = RECEIPTS.of(database)
    waiting = {"_id": {"$in": [hit["_id"] for hit in hits]}, "counted": False}
    fresh = [row["_id"] for row in rows.find(waiting, {"_id": 1}, session=session)]
    if fresh:
        rows.update_many({"_id": {"$in": fresh}}, {"$set": {"counted": True}}, session=session)
    return set(fresh)


def note(database: Database[Document], hits: Iterable[StoredHit]) -> None:
    """Note hits that were counted when their own rows said so, whoever has claimed them since."""
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
    """Return the ids of hits that were claimed and have not been counted yet."""
    claimed = {"_id": {"$in": [hit["_id"] for hit in hits]}, "counted": False}
    return {row["_id"] for row in RECEIPTS.of(database).find(claimed, {"_id": 1})}


def _claimed(hit: Claimable, digest: str) -> Receipt:
    return {"_id": hit["_id"], "at": hit["ts"], "digest": digest, "counted": False}


def _digest(hit: Claimable) -> str:
    text = orjson.dumps(hit, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()


# What logs share that cannot be written to in a transaction: receipts say what was counted.


class AppendedLog:
    """A log that is appended to before the transaction which counts its hits."""

    is_transactional = False

    def prepare(self, days: Sequence[datetime]) -> None:
        """Nothing is made for a day."""

    def needs_receipt(self, hit: StoredHit) -> bool:  # noqa: ARG002 - all of them do
        """Return True: no row is written in a transaction."""
        return True

    def known(self, session: ClientSession | None, hits: Sequence[StoredHit]) -> set[str]:  # noqa: ARG002 - receipts decide
        """Return nothing: receipts decide."""
        return set()

    def admit(self, session: ClientSession, hits: Sequence[StoredHit]) -> None:
        """Nothing is written in a transaction."""


def concern_of(concern: str) -> WriteConcern:
    """Return the write concern of PLAZA_HIT_LOG_CONCERN."""
    return WriteConcern(1 if concern == "1" else "majority")
