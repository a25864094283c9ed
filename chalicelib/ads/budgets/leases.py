"""Leases: parts of a campaign's budget that containers may promise from memory.

A lease reserves money before a container promises it to a decision. Acquiring, settling and ending
each run in one transaction (settling in the event worker's). A repeat does no harm: a second lease
expires, the worker settles no event twice, and only an open lease can end.

Only counted impressions spend a lease's money; a promise alone does not. When a campaign has no
money left to lease, containers promise the unspent money of its open leases again
(docs/decisions/0083).
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
    """A stored lease; `amount = remaining + spent`.

    promised_at: the time when a container last took the lease to promise its money.
    promised_from_micros: the lease's spending at that time.
    overbooked: how often in a row containers took the lease again after too few impressions
        (SEEN_ONE_IN); at most MAX_OVERBOOKED.
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
# A page shows an ad within seconds, and the worker counts it within two seconds. If after this time
# less than one in SEEN_ONE_IN of at least MIN_PROMISED promises has counted, readers do not see
# the page.
UNSEEN_AFTER = timedelta(seconds=10)
SEEN_ONE_IN = 4
MIN_PROMISED = 10
# After this time an uncounted promise is unlikely to count, however many other promises did.
VIEW_WINDOW = timedelta(seconds=60)
# Doublings of the promises for each impression that the money pays: up to 2^5 promises.
MAX_OVERBOOKED = 5


@dataclass(frozen=True)
class Terms:
    """The size of a lease, and the time in which decisions may draw on it."""

    impressions: int
    duration: timedelta


class LeaseKey(NamedTuple):
    """A lease's id and its shard key."""

    campaign_id: str
    lease_id: str

    def query(self) -> Document:
        """Return the query for the lease."""
        return {"_id": self.lease_id, "campaign_id": self.campaign_id}


class _Due(NamedTuple):
    """The price and the times of an active campaign's lease, new or promised again."""

    price_micros: int
    day_start: datetime
    expires_at: datetime


def acquire(
    database: Database[Document], campaign_id: str, terms: Terms, now: datetime, rng: random.Random
) -> StoredLease | None:
    """Lease money for whole impressions of an active CPM campaign.

    None: the campaign is not an active CPM campaign, or has no money to promise. The
    lease pays at most `terms.impressions`, and expires at the latest with the campaign's budget
    day. If the available money pays no impression, return an open lease with unseen promises, to
    promise its unspent money again.
    """
    lease_id = new_id(now, rng)

    def work(session: ClientSession) -> StoredLease | _Due | None:
        active = {"_id": campaign_id, "status": "active", "pricing.type": "cpm"}
        campaign = CAMPAIGNS.of(database).find_one(active, session=session)
        if campaign is None:
            return None
        balance = balances.bring_up_to_date(database, session, campaign, now)
        price = price_micros(campaign["pricing"])
        expires_at = min(now + terms.duration, budget_day(campaign, now).end)
        due = _Due(price, balance["day_start"], expires_at)
        impressions = min(balance["available_micros"] // price, terms.impressions)
        if not impressions:
            return due
        amount = impressions * price
        lease = _new_lease(LeaseKey(campaign_id, lease_id), amount, due, now)
        LEASES.of(database).insert_one(lease, session=session)
        taken = Movement(campaign_id, "lease", amount, now, {"lease_id": lease_id})
        balances.move(database, session, taken)
        return lease

    found = in_transaction(database, work)
    if isinstance(found, _Due):
        return _promise_again(database, campaign_id, found, now)
    return found


def _new_lease(key: LeaseKey, amount_micros: int, due: _Due, now: datetime) -> StoredLease:
    return {
        "_id": key.lease_id,
        "campaign_id": key.campaign_id,
        "state": "open",
        "amount_micros": amount_micros,
        "remaining_micros": amount_micros,
        "spent_micros": 0,
        "day_start": due.day_start,
        "expires_at": due.expires_at,
        "promised_at": now,
        "promised_from_micros": 0,
        "overbooked": 0,
    }


def promisable_micros(lease: StoredLease) -> int:
    """Return the money that a container may promise: the lease's rest x 2^overbooked.

    Billing stops at the rest: further impressions count as unbilled.
    """
    return lease["remaining_micros"] << lease["overbooked"]


def _promise_again(
    database: Database[Document], campaign_id: str, due: _Due, now: datetime
) -> StoredLease | None:
    """Return an open lease of the campaign's budget day with unseen promises; None: no such lease.

    One write renews `promised_at`, so only one of two containers gets the lease. No money moves.
    """
    unseen = {"$subtract": ["$amount_micros", "$promised_from_micros"]}
    seen = {"$subtract": ["$spent_micros", "$promised_from_micros"]}
    is_ignored = {
        "$and": [
            {"$gte": [unseen, MIN_PROMISED * due.price_micros]},
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
            "day_start": due.day_start,
            "remaining_micros": {"$gte": due.price_micros},
            "$expr": is_due,
        },
        [
            {
                "$set": {
                    "overbooked": {"$cond": [is_ignored, more, 0]},
                    "promised_at": now,
                    "promised_from_micros": "$spent_micros",
                    "expires_at": {"$max": ["$expires_at", due.expires_at]},
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
    """Bill impressions to a lease, in order; return for each whether the lease paid it.

    A closed or missing lease pays none. `end` adds the lease's spending to the campaign later.
    """
    this = {**key.query(), "state": "open"}
    lease = LEASES.of(database).find_one(this, session=session)
    billed = _cover(lease["remaining_micros"] if lease else 0, prices_micros)
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


def _cover(remaining_micros: int, prices_micros: Iterable[int]) -> list[bool]:
    covered = []
    for price in prices_micros:
        covered.append(price <= remaining_micros)
        remaining_micros -= price if covered[-1] else 0
    return covered


# The end of a lease moves its spending and its rest to its campaign's balances.

# Leases that one run ends; the next run goes on.
MAX_ENDED = 2_000
# The longest that one lease's end may take.
END_TIMEOUT_SECONDS = 2


def end(
    database: Database[Document],
    key: LeaseKey,
    now: datetime,
    expired_by: datetime | None = None,
) -> bool:
    """Close a lease and return its rest to the campaign; return whether this call closed it.

    `expired_by`: leave the lease open if it expires later, since `acquire` may have extended it.
    The rest of an earlier day's lease lowers the campaign's `committed_before_micros`, so that the
    next release takes the rest back.
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
    """End the leases that expired at least `grace` ago; return the number that this run closed.

    After the grace no beacon of a lease can come. If another transaction blocks a campaign, skip
    its leases until the next run.
    """
    expired_by = now - grace
    expired = {"state": "open", "expires_at": {"$lte": expired_by}}
    found = LEASES.of(database).find(expired, {"campaign_id": 1}).limit(MAX_ENDED)
    keys = [LeaseKey(lease["campaign_id"], lease["_id"]) for lease in found]
    ended, busy = 0, set[str]()
    for key in keys:
        if key.campaign_id in busy:
            continue
        try:
            with pymongo.timeout(END_TIMEOUT_SECONDS):
                ended += end(database, key, now, expired_by)
        except Unavailable:
            # Each further lease of the campaign would wait as long.
            busy.add(key.campaign_id)
            log.warning("lease not ended", extra={"fields": key._asdict()})
    return ended


def _fold_in(
    database: Database[Document], session: ClientSession, lease: StoredLease, now: datetime
) -> None:
    """Add the spent and the unspent money of a closed lease to the balances of its campaign."""
    campaign_id, spent, left = (
        lease["campaign_id"],
        lease["spent_micros"],
        lease["remaining_micros"],
    )
    campaigns = CAMPAIGNS.of(database)
    before = {"_id": campaign_id, "balance.day_start": {"$gt": lease["day_start"]}}
    lower = {"$inc": {"balance.committed_before_micros": -left}}
    campaigns.update_one(before, lower, session=session)
    # Without a ledger entry: `settle` has recorded these amounts.
    folded = {"balance.leased_micros": -spent, "balance.spent_micros": spent}
    campaigns.update_one({"_id": campaign_id}, {"$inc": folded}, session=session)
    returned = Movement(campaign_id, "return", left, now, {"lease_id": lease["_id"]})
    balances.move(database, session, returned)
