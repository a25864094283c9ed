"""Ending leases: what a lease spent and did not spend goes back to its campaign's balances."""

from datetime import datetime, timedelta

import pymongo
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.budgets import balances
from chalicelib.ads.budgets.leases import LEASES, LeaseKey, StoredLease
from chalicelib.ads.budgets.ledger import Movement
from chalicelib.ads.inventory.campaigns import CAMPAIGNS
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log

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
