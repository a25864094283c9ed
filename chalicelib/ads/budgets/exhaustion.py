"""The status of a campaign as its money is released, spent and returned."""

from datetime import datetime
from typing import Literal

import pymongo
from pymongo import DESCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.budgets import balances
from chalicelib.ads.inventory import placing
from chalicelib.ads.inventory.campaigns import (
    CAMPAIGNS,
    MONEY,
    CampaignMoney,
    Status,
    StoredCampaign,
    price_micros,
)
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Problem
from chalicelib.observability.logs import log

# The campaigns that spend, or would if they had anything left.
SPENDING = ("active", "exhausted")
_SPENDING = {"status": {"$in": SPENDING}}
# The fields of a campaign that say whether it has money, and what it lacks.
_STATE: tuple[Literal["status", "exhausted_by"], ...] = ("status", "exhausted_by")
# What one campaign may take of a run's time.
REFRESH_TIMEOUT_SECONDS = 2


def refresh_all(database: Database[Document], now: datetime) -> int:
    """Refresh every campaign that it would change; return how many there were.

    A locked campaign is skipped until the next run, so that it does not keep the others waiting.
    Exhausted campaigns go first: only this job reactivates them, while a lease or a click updates
    the balances of an active one.
    """
    found = (
        CAMPAIGNS.read_as(CampaignMoney, database).find(_SPENDING, MONEY).sort("status", DESCENDING)
    )
    due = [campaign["_id"] for campaign in found if _is_due(campaign, now)]
    for campaign_id in due:
        with pymongo.timeout(REFRESH_TIMEOUT_SECONDS):
            refresh(database, campaign_id, now)
    return len(due)


def refresh(database: Database[Document], campaign_id: str, now: datetime) -> None:
    """Release what is due; take a campaign without money out of its zones, or put it back.

    Rows without a place wait for one, as after an activation. A campaign that cannot be changed
    now is logged and left to the next run.
    """

    def work(session: ClientSession) -> None:
        this = {"_id": campaign_id, **_SPENDING}
        before = CAMPAIGNS.of(database).find_one(this, session=session)
        if before is None:
            return
        after = follow(database, session, before, now)
        if after["status"] == before["status"]:
            return
        if after["status"] == "active":
            placing.place(database, session, after)
        else:
            placing.clear(database, session, campaign_id)

    try:
        in_transaction(database, work)
    except Problem as problem:
        fields = {"campaign_id": campaign_id, "reason": problem.code}
        log.warning("campaign not refreshed", extra={"fields": fields})


def follow(
    database: Database[Document], session: ClientSession, campaign: StoredCampaign, now: datetime
) -> StoredCampaign:
    """Update a campaign's balances and status to its budget; return the campaign as it is then.

    An active one without money becomes exhausted, and an exhausted one with money active; the
    zones are the caller's. An exhausted one says in `exhausted_by` what it lacks. Raises
    BudgetCommitted for a total below what is spent or leased.
    """
    spends = campaign["status"] in SPENDING
    if not spends and "balance" not in campaign:
        return campaign
    balance = balances.bring_up_to_date(database, session, campaign, now)
    after: StoredCampaign = {**campaign, "balance": balance}
    after.pop("exhausted_by", None)
    change: Document = {"$unset": {"exhausted_by": ""}}
    if spends:
        after["status"] = _status(after, now)
    if after["status"] == "exhausted":
        after["exhausted_by"] = "funds" if balances.outdated(after, now) else "budget"
        change = {}
    state = {name: after[name] for name in _STATE if name in after}
    if state != {name: campaign[name] for name in _STATE if name in campaign}:
        change["$set"] = state
        CAMPAIGNS.of(database).update_one({"_id": campaign["_id"]}, change, session=session)
    return after


def _is_due(campaign: CampaignMoney, now: datetime) -> bool:
    return balances.outdated(campaign, now) or _status(campaign, now) != campaign["status"]


def _status(campaign: CampaignMoney, now: datetime) -> Status:
    """Return what the status of an active or exhausted campaign has to be.

    Active, while it can pay one event or, by leases or later releases, may yet come to.
    """
    balance, pricing = campaign["balance"], campaign["pricing"]
    if balance["available_micros"] >= price_micros(pricing):
        is_over = campaign["flight"]["end"] <= now
        return campaign["status"] if is_over else "active"
    all_released = balance["released_micros"] >= campaign["budget"]["total_micros"]
    is_last = all_released or balances.outdated(campaign, now)
    may_come = pricing["type"] == "cpm" and (balance["leased_micros"] or not is_last)
    return campaign["status"] if may_come else "exhausted"
