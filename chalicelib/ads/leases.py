"""Leases: parts of a campaign's budget that containers may promise from memory.

Money is reserved before it is promised. Each of acquiring, settling and ending is one
transaction (settling, the event worker's), and each is guarded by the state that it changes,
so that any of them may be done again.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, NotRequired, TypedDict

import pymongo
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads import balances, ledger
from chalicelib.ads.balances import CAMPAIGNS, price_micros
from chalicelib.ads.ledger import Movement
from chalicelib.ads.pacing import budget_day
from chalicelib.database import Collection, Document, in_transaction
from chalicelib.errors import Unavailable
from chalicelib.ids import new_id
from chalicelib.logs import log


class Lease(TypedDict):
    """A lease as it is stored; `amount = remaining + spent`."""

    _id: str
    campaign_id: str
    state: Literal["open", "closed"]
    amount_micros: int
    remaining_micros: int
    spent_micros: int
    day_start: datetime
    expires_at: datetime
    ended_at: NotRequired[datetime]


LEASES = Collection(
    "ad.lease",
    Lease,
    indexes=(
        IndexModel([("campaign_id", ASCENDING), ("state", ASCENDING)]),
        IndexModel([("state", ASCENDING), ("expires_at", ASCENDING)]),
        IndexModel([("ended_at", ASCENDING)], expireAfterSeconds=90 * 24 * 3_600),
    ),
    shard_key={"campaign_id": 1},
)
# What one run ends; the next one goes on.
MAX_ENDED = 2_000
# What one of them may take of a run's time.
END_TIMEOUT_SECONDS = 2


@dataclass(frozen=True)
class Terms:
    """How much a lease holds, and how long it may be drawn on."""

    impressions: int
    duration: timedelta


class LeaseKey(NamedTuple):
    """What names a lease, with its shard key."""

    campaign_id: str
    lease_id: str


def acquire(
    database: Database[Document], campaign_id: str, terms: Terms, now: datetime, rng: random.Random
) -> Document | None:
    """Lease whole impressions of an active CPM campaign; None where it has not even one.

    The lease holds at most `terms.impressions`, and ends with the campaign's budget day.
    """
    lease_id = new_id(now, rng)

    def work(session: ClientSession) -> Document | None:
        active = {"_id": campaign_id, "status": "active", "pricing.type": "cpm"}
        campaign = database[CAMPAIGNS.name].find_one(active, session=session)
        if campaign is None:
            return None
        balance = balances.bring_up_to_date(database, session, campaign, now)
        price = price_micros(campaign["pricing"])
        impressions = min(balance["available_micros"] // price, terms.impressions)
        if not impressions:
            return None
        lease: Lease = {
            "_id": lease_id,
            "campaign_id": campaign_id,
            "state": "open",
            "amount_micros": impressions * price,
            "remaining_micros": impressions * price,
            "spent_micros": 0,
            "day_start": balance["day_start"],
            "expires_at": min(now + terms.duration, budget_day(campaign, now).end),
        }
        database[LEASES.name].insert_one({**lease}, session=session)
        details = {"lease_id": lease_id}
        taken = Movement(campaign_id, "lease", impressions * price, now, details)
        balances.move(database, session, taken)
        return {**lease}

    return in_transaction(database, work)


def settle(
    database: Database[Document],
    session: ClientSession,
    key: LeaseKey,
    prices_micros: Sequence[int],
    now: datetime,
) -> list[bool]:
    """Bill impressions to a lease, in order; tell of each whether the lease still covered it.

    The campaign's document is left alone: what a lease spent is added to it when it ends.
    """
    this = {**_filter(key), "state": "open"}
    lease = database[LEASES.name].find_one(this, session=session)
    billed = _covered(lease["remaining_micros"] if lease else 0, prices_micros)
    spent = sum(price for price, is_billed in zip(prices_micros, billed, strict=True) if is_billed)
    if spent:
        database[LEASES.name].update_one(
            {**this, "remaining_micros": {"$gte": spent}},
            {"$inc": {"remaining_micros": -spent, "spent_micros": spent}},
            session=session,
        )
        details = {"lease_id": key.lease_id, "events": sum(billed)}
        movement = Movement(key.campaign_id, "impressions", spent, now, details)
        ledger.record(database, session, movement)
    return billed


def end(database: Database[Document], key: LeaseKey, now: datetime) -> bool:
    """Close a lease, return what it did not spend; tell whether it was still open.

    What comes back from a lease of an earlier day is not of today's money: it lowers what
    counts as committed before the day, so that the next release takes it back.
    """

    def work(session: ClientSession) -> bool:
        lease = database[LEASES.name].find_one_and_update(
            {**_filter(key), "state": "open"},
            {"$set": {"state": "closed", "ended_at": now}},
            session=session,
        )
        if lease is None:
            return False
        _fold_in(database, session, lease, now)
        return True

    return in_transaction(database, work)


def end_expired(database: Database[Document], grace: timedelta, now: datetime) -> int:
    """End the leases whose beacons can no longer come; return how many were ended here.

    One that another holds is left to the next run, so that it does not keep the others waiting.
    """
    expired = {"state": "open", "expires_at": {"$lte": now - grace}}
    found = database[LEASES.name].find(expired, {"campaign_id": 1}).limit(MAX_ENDED)
    keys = [LeaseKey(lease["campaign_id"], lease["_id"]) for lease in found]
    return sum(_end_in_time(database, key, now) for key in keys)


def _end_in_time(database: Database[Document], key: LeaseKey, now: datetime) -> bool:
    try:
        with pymongo.timeout(END_TIMEOUT_SECONDS):
            return end(database, key, now)
    except Unavailable:
        log.warning("lease not ended", extra={"fields": key._asdict()})
        return False


def _filter(key: LeaseKey) -> Document:
    return {"_id": key.lease_id, "campaign_id": key.campaign_id}


def _covered(remaining_micros: int, prices_micros: Iterable[int]) -> list[bool]:
    covered = []
    for price in prices_micros:
        covered.append(price <= remaining_micros)
        remaining_micros -= price if covered[-1] else 0
    return covered


def _fold_in(
    database: Database[Document], session: ClientSession, lease: Document, now: datetime
) -> None:
    """Add what a closed lease spent and has left to its campaign's balances."""
    campaign_id, spent, left = (
        lease["campaign_id"],
        lease["spent_micros"],
        lease["remaining_micros"],
    )
    campaigns = database[CAMPAIGNS.name]
    before = {"_id": campaign_id, "balance.day_start": {"$gt": lease["day_start"]}}
    lower = {"$inc": {"balance.committed_before_micros": -left}}
    campaigns.update_one(before, lower, session=session)
    # Settling has entered these in the ledger already.
    folded = {"balance.leased_micros": -spent, "balance.spent_micros": spent}
    campaigns.update_one({"_id": campaign_id}, {"$inc": folded}, session=session)
    returned = Movement(campaign_id, "return", left, now, {"lease_id": lease["_id"]})
    balances.move(database, session, returned)
