"""The ledger: one entry for each movement of a campaign's money, never changed.

An entry says by how much each balance changed, so that adding all of them up again gives the
balances. In every entry `released = available + leased + spent`, as in the balances.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NotRequired, TypedDict

from bson import ObjectId
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document


class LedgerEntry(TypedDict):
    """A movement as it is entered, with the change of each balance that it touches."""

    _id: ObjectId
    campaign_id: str
    ts: datetime
    kind: str
    amount_micros: int
    released_micros: NotRequired[int]
    available_micros: NotRequired[int]
    leased_micros: NotRequired[int]
    spent_micros: NotRequired[int]
    lease_id: NotRequired[str]
    events: NotRequired[int]


LEDGER = Collection(
    "ad.ledger",
    LedgerEntry,
    indexes=(IndexModel([("campaign_id", ASCENDING), ("ts", ASCENDING)]),),
    # With the time, or the entries of one busy campaign could never be split.
    shard_key={"campaign_id": 1, "ts": 1},
)
BALANCES = ("released_micros", "available_micros", "leased_micros", "spent_micros")
# What each kind of movement does with one micro.
_MOVEMENTS: Mapping[str, Mapping[str, int]] = {
    "release": {"released_micros": 1, "available_micros": 1},
    "lease": {"available_micros": -1, "leased_micros": 1},
    "impressions": {"leased_micros": -1, "spent_micros": 1},
    "return": {"leased_micros": -1, "available_micros": 1},
    "clicks": {"available_micros": -1, "spent_micros": 1},
}


@dataclass(frozen=True)
class Movement:
    """One movement of a campaign's money; a `release` below 0 takes back what was not used."""

    campaign_id: str
    kind: str
    amount_micros: int
    ts: datetime
    details: Mapping[str, Any] = field(default_factory=dict)

    def changes(self) -> dict[str, int]:
        """Return by how much it changes each balance that it touches."""
        return {name: sign * self.amount_micros for name, sign in _MOVEMENTS[self.kind].items()}


def record(database: Database[Document], session: ClientSession, movement: Movement) -> None:
    """Add a movement's entry."""
    entry = {
        "campaign_id": movement.campaign_id,
        "ts": movement.ts,
        "kind": movement.kind,
        "amount_micros": movement.amount_micros,
        **movement.changes(),
        **movement.details,
    }
    database[LEDGER.name].insert_one(entry, session=session)


def add_up(
    database: Database[Document], session: ClientSession, campaign_id: str
) -> dict[str, int]:
    """Return the balances as the ledger has them."""
    sums = {name: {"$sum": f"${name}"} for name in BALANCES}
    pipeline: list[Document] = [
        {"$match": {"campaign_id": campaign_id}},
        {"$group": {"_id": None, **sums}},
    ]
    for totals in database[LEDGER.name].aggregate(pipeline, session=session):
        return {name: totals[name] for name in BALANCES}
    return dict.fromkeys(BALANCES, 0)
