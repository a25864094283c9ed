"""Leases: parts of a campaign's budget that containers may promise from memory.

Money is reserved before it is promised. Each of acquiring, settling and ending (`lease_ends.py`)
is one transaction (settling, the event worker's), and each is guarded by the state that it
changes, so that any of them may be done again.

A promise that is not seen takes nothing from the lease. When a campaign has no money left to
lease, the unspent money of its open leases is promised again (docs/decisions/0083).
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, NotRequired, TypedDict

import pymongo
from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.budgets import balances, ledger
from chalicelib.ads.budgets.ledger import Details, Movement
from chalicelib.ads.budgets.pacing import budget_day
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, price_micros
from chalicelib.database import Collection, Document, in_transaction
from chalicelib.errors import Unavailable
from chalicelib.ids import new_id
from chalicelib.observability.logs import log


class StoredLease(TypedDict):
    """A lease as it is stored; `amount = remaining + spent`.

    `promised_at` is when its money was last promised, `promised_from_micros` what it had spent
    by then, and `overbooked` how often in a row nearly nothing of that was seen.
    """

    _id: str
    campaign_id: str
    state: Literal["open", "closed"]
    amount_micros: int
    remaining_micros: int
    spent_micros: int
    day_start: datetime
    expires_at: datetime
    ended_at: NotRequired[datetime]
    promised_at: NotRequired[datetime]
    promised_from_micros: NotRequired[int]
    overbooked: NotRequired[int]


LEASES = Collection(
    "ad.lease",
    StoredLease,
    indexes=(
        IndexModel([("campaign_id", ASCENDING), ("state", ASCENDING), ("promised_at", ASCENDING)]),
        IndexModel([("state", ASCENDING), ("expires_at", ASCENDING)]),
        IndexModel([("ended_at", ASCENDING)], expireAfterSeconds=90 * 24 * 3_600),
    ),
    shard_key={"campaign_id": 1},
)
# A page shows an ad within seconds, and the worker counts it in one or two. If after this time
# less than one in SEEN_ONE_IN of at least MIN_PROMISED promises was counted, they go to nobody.
UNSEEN_AFTER = timedelta(seconds=10)
SEEN_ONE_IN = 4
MIN_PROMISED = 10
# After this time a promise that was not counted is unlikely to be, however many others were.
VIEW_WINDOW = timedelta(seconds=60)
# Promises for each impression that the money pays: doubled up to this many times.
MAX_OVERBOOKED = 5


@dataclass(frozen=True)
class Terms:
    """How much a lease holds, and how long it may be drawn on."""

    impressions: int
    duration: timedelta


class LeaseKey(NamedTuple):
    """What names a lease, with its shard key."""

    campaign_id: str
    lease_id: str

    def query(self) -> Document:
        """Return the query for the lease."""
        return {"_id": self.lease_id, "campaign_id": self.campaign_id}


class _Short(NamedTuple):
    """What an active campaign without money for a lease would have leased."""

    price_micros: int
    day_start: datetime
    expires_at: datetime


def acquire(
    database: Database[Document], campaign_id: str, terms: Terms, now: datetime, rng: random.Random
) -> StoredLease | None:
    """Lease whole impressions of an active CPM campaign; None if it has not even one.

    The lease holds at most `terms.impressions`, and ends with the campaign's budget day. If all
    money is leased, the unspent money of an open lease whose promises were not seen is promised
    again: the lease is returned as it is then.
    """
    lease_id = new_id(now, rng)

    def work(session: ClientSession) -> StoredLease | _Short | None:
        active = {"_id": campaign_id, "status": "active", "pricing.type": "cpm"}
        campaign = CAMPAIGNS.of(database).find_one(active, session=session)
        if campaign is None:
            return None
        balance = balances.bring_up_to_date(database, session, campaign, now)
        price = price_micros(campaign["pricing"])
        expires_at = min(now + terms.duration, budget_day(campaign, now).end)
        impressions = min(balance["available_micros"] // price, terms.impressions)
        if not impressions:
            return _Short(price, balance["day_start"], expires_at)
        lease: StoredLease = {
            "_id": lease_id,
            "campaign_id": campaign_id,
            "state": "open",
            "amount_micros": impressions * price,
            "remaining_micros": impressions * price,
            "spent_micros": 0,
            "day_start": balance["day_start"],
            "expires_at": expires_at,
            "promised_at": now,
            "promised_from_micros": 0,
            "overbooked": 0,
        }
        LEASES.of(database).insert_one(lease, session=session)
        taken = Movement(campaign_id, "lease", impressions * price, now, {"lease_id": lease_id})
        balances.move(database, session, taken)
        return lease

    found = in_transaction(database, work)
    if isinstance(found, _Short):
        return _promise_again(database, campaign_id, found, now)
    return found


def promisable_micros(lease: StoredLease) -> int:
    """Return how much a lease may promise: what it has left, more often if few promises are seen.

    Billing never exceeds what is left: a promise beyond it is counted as unbilled.
    """
    return lease["remaining_micros"] << lease["overbooked"]


def _promise_again(
    database: Database[Document], campaign_id: str, short: _Short, now: datetime
) -> StoredLease | None:
    """Take over an open lease of the campaign's day whose promises are not seen.

    One write, guarded by `promised_at`: of two containers one gets the lease. No money moves.
    """
    unseen = {"$subtract": ["$amount_micros", "$promised_from_micros"]}
    seen = {"$subtract": ["$spent_micros", "$promised_from_micros"]}
    is_ignored = {
        "$and": [
            {"$gte": [unseen, MIN_PROMISED * short.price_micros]},
            {"$lt": [{"$multiply": [seen, SEEN_ONE_IN]}, unseen]},
        ]
    }
    is_due = {"$or": [is_ignored, {"$lte": ["$promised_at", now - VIEW_WINDOW]}]}
    more = {"$min": [{"$add": ["$overbooked", 1]}, MAX_OVERBOOKED]}
    return LEASES.of(database).find_one_and_update(
        {
            "campaign_id": campaign_id,
            "state": "open",
            "promised_at": {"$lte": now - UNSEEN_AFTER},
            "day_start": short.day_start,
            "remaining_micros": {"$gte": short.price_micros},
            "$expr": is_due,
        },
        [
            {
                "$set": {
                    "overbooked": {"$cond": [is_ignored, more, 0]},
                    "promised_at": now,
                    "promised_from_micros": "$spent_micros",
                    "expires_at": {"$max": ["$expires_at", short.expires_at]},
                }
            }
        ],
        sort=[("promised_at", ASCENDING)],
        return_document=ReturnDocument.AFTER,
    )


def settle(
    database: Database[Document],
    session: ClientSession,
    key: LeaseKey,
    prices_micros: Sequence[int],
    now: datetime,
) -> list[bool]:
    """Bill impressions to a lease, in order; return of each whether the lease covered it.

    The campaign's document is left alone: what a lease spent is added to it when it ends.
    """
    this = {**key.query(), "state": "open"}
    lease = LEASES.of(database).find_one(this, session=session)
    billed = _covered(lease["remaining_micros"] if lease else 0, prices_micros)
    spent = sum(price for price, is_billed in zip(prices_micros, billed, strict=True) if is_billed)
    if spent:
        LEASES.of(database).update_one(
            {**this, "remaining_micros": {"$gte": spent}},
            {"$inc": {"remaining_micros": -spent, "spent_micros": spent}},
            session=session,
        )
        details: Details = {"lease_id": key.lease_id, "events": sum(billed)}
        movement = Movement(key.campaign_id, "impressions", spent, now, details)
        ledger.record(database, session, movement)
    return billed


def _covered(remaining_micros: int, prices_micros: Iterable[int]) -> list[bool]:
    covered = []
    for price in prices_micros:
        covered.append(price <= remaining_micros)
        remaining_micros -= price if covered[-1] else 0
    return covered


# Ending leases: what a lease spent and did not spend goes back to its campaign's balances.

# Leases that one run ends; the next run goes on.
MAX_ENDED = 2_000
# What one lease may take of a run's time.
END_TIMEOUT_SECONDS = 2


def end(
    database: Database[Document],
    key: LeaseKey,
    now: datetime,
    expired_by: datetime | None = None,
) -> bool:
    """Close a lease, give back what it did not spend; return whether it was open.

    With `expired_by`, a lease whose expiry was put off meanwhile stays open. The money of a lease
    of an earlier day lowers what counts as committed before today, so that the next release takes
    it back.
    """
    over = {"expires_at": {"$lte": expired_by}} if expired_by else {}

    def work(session: ClientSession) -> bool:
        lease = LEASES.of(database).find_one_and_update(
            {**key.query(), "state": "open", **over},
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

    A lease that another transaction holds is left to the next run, and does not keep the others
    waiting.
    """
    expired_by = now - grace
    expired = {"state": "open", "expires_at": {"$lte": expired_by}}
    found = LEASES.of(database).find(expired, {"campaign_id": 1}).limit(MAX_ENDED)
    keys = [LeaseKey(lease["campaign_id"], lease["_id"]) for lease in found]
    return sum(_end_in_time(database, key, now, expired_by) for key in keys)


def _end_in_time(
    database: Database[Document], key: LeaseKey, now: datetime, expired_by: datetime
) -> bool:
    try:
        with pymongo.timeout(END_TIMEOUT_SECONDS):
            return end(database, key, now, expired_by)
    except Unavailable:
        log.warning("lease not ended", extra={"fields": key._asdict()})
        return False


def _fold_in(
    database: Database[Document], session: ClientSession, lease: StoredLease, now: datetime
) -> None:
    """Add what a closed lease spent and has left to its campaign's balances."""
    campaign_id, spent, left = (
        lease["campaign_id"],
        lease["spent_micros"],
        lease["remaining_micros"],
    )
    campaigns = CAMPAIGNS.of(database)
    before = {"_id": campaign_id, "balance.day_start": {"$gt": lease["day_start"]}}
    lower = {"$inc": {"balance.committed_before_micros": -left}}
    campaigns.update_one(before, lower, session=session)
    # Settling has entered these in the ledger already.
    folded = {"balance.leased_micros": -spent, "balance.spent_micros": spent}
    campaigns.update_one({"_id": campaign_id}, {"$inc": folded}, session=session)
    returned = Movement(campaign_id, "return", left, now, {"lease_id": lease["_id"]})
    balances.move(database, session, returned)
