"""The ledger: one immutable entry for each movement of a campaign's money.

An entry holds the change of each balance, so a campaign's entries add up to its balances. In every
entry `released = available + leased + spent`, as in the balances.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypedDict

from bson import ObjectId
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document

BalanceName = Literal["released_micros", "available_micros", "leased_micros", "spent_micros"]
Kind = Literal["release", "lease", "impressions", "return", "clicks"]


class Changes(TypedDict, total=False):
    """The change of each balance that a movement touches."""

    released_micros: int
    available_micros: int
    leased_micros: int
    spent_micros: int


class Details(TypedDict, total=False):
    """The lease of a movement, and the number of events that the movement pays."""

    lease_id: str
    events: int


class LedgerEntry(Changes, Details):
    """A stored movement."""

    _id: ObjectId
    campaign_id: str
    ts: datetime
    kind: str
    amount_micros: int


LEDGER = Collection(
    "ad.ledger",
    LedgerEntry,
    indexes=(IndexModel([("campaign_id", ASCENDING), ("ts", ASCENDING)]),),
    # Without `ts`, MongoDB could not spread the entries of a busy campaign over several shards.
    shard_key={"campaign_id": 1, "ts": 1},
)
BALANCES: tuple[BalanceName, ...] = (
    "released_micros",
    "available_micros",
    "leased_micros",
    "spent_micros",
)


@dataclass(frozen=True)
class Movement:
    """One movement of a campaign's money; a negative `release` takes available money back."""

    campaign_id: str
    kind: Kind
    amount_micros: int
    ts: datetime
    details: Details = field(default_factory=Details)

    def changes(self) -> Changes:
        """Return the change of each balance that the movement touches."""
        micros = self.amount_micros
        match self.kind:
            case "release":
                return {"released_micros": micros, "available_micros": micros}
            case "lease":
                return {"available_micros": -micros, "leased_micros": micros}
            case "impressions":
                return {"leased_micros": -micros, "spent_micros": micros}
            case "return":
                return {"leased_micros": -micros, "available_micros": micros}
            case "clicks":
                return {"available_micros": -micros, "spent_micros": micros}


def record(database: Database[Document], session: ClientSession, movement: Movement) -> None:
    """Insert a movement's entry."""
    entry: LedgerEntry = {
        "_id": ObjectId(),
        "campaign_id": movement.campaign_id,
        "ts": movement.ts,
        "kind": movement.kind,
        "amount_micros": movement.amount_micros,
        **movement.changes(),
        **movement.details,
    }
    LEDGER.of(database).insert_one(entry, session=session)


def add_up(
    database: Database[Document],
    session: ClientSession,
    campaign_id: str,
    since: datetime | None = None,
) -> dict[str, int]:
    """Return the sum of each balance over the campaign's entries; 0 without entries.

    `since`: only entries of this time or later; None: all.
    """
    late = {"ts": {"$gte": since}} if since else {}
    sums = {name: {"$sum": f"${name}"} for name in BALANCES}
    pipeline: list[Document] = [
        {"$match": {"campaign_id": campaign_id, **late}},
        {"$group": {"_id": None, **sums}},
    ]
    for totals in LEDGER.read_as(Changes, database).aggregate(pipeline, session=session):
        return {name: totals[name] for name in BALANCES}
    return dict.fromkeys(BALANCES, 0)
