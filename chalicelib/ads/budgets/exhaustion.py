"""Exhaustion: a campaign without money is exhausted, and active again with money."""

import random
from collections.abc import Mapping
from datetime import datetime
from operator import itemgetter
from typing import Literal

import pymongo
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.budgets import balances
from chalicelib.ads.budgets.balances import SPENDING
from chalicelib.ads.inventory import placing
from chalicelib.ads.inventory.campaigns import (
    CAMPAIGNS,
    MONEY,
    CampaignMoney,
    NoteKind,
    Status,
    StoredCampaign,
    add_note,
    price_micros,
)
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Problem
from chalicelib.observability.logs import log

_SPENDING = {"status": {"$in": SPENDING}}
# The fields that `follow` may change beside the balances.
_STATE: tuple[Literal["status", "exhausted_by", "notes"], ...] = ("status", "exhausted_by", "notes")
_KINDS: Mapping[Literal["budget", "funds"], NoteKind] = {
    "budget": "campaign.exhausted",
    "funds": "campaign.unfunded",
}
# The longest that one campaign's refresh may take.
REFRESH_TIMEOUT_SECONDS = 2


def refresh_all(database: Database[Document], now: datetime, rng: random.Random) -> int:
    """Refresh every campaign that a refresh may change; return the number of campaigns tried.

    A locked campaign times out and waits for the next run. Exhausted campaigns come first: only
    this job reactivates them, while leases and clicks also update the balances of active
    campaigns. Within a status the order is random, so that a run that ends early starves none: a
    campaign without funds stays due.
    """
    found = CAMPAIGNS.read_as(CampaignMoney, database).find(_SPENDING, MONEY)
    due = [campaign for campaign in found if _is_due(campaign, now)]
    rng.shuffle(due)
    due.sort(key=itemgetter("status"), reverse=True)
    for campaign in due:
        with pymongo.timeout(REFRESH_TIMEOUT_SECONDS):
            refresh(database, campaign["_id"], now)
    return len(due)


def refresh(database: Database[Document], campaign_id: str, now: datetime) -> None:
    """Release a campaign's due money, and clear or place its rows if its status changes.

    Does nothing for a campaign that is neither active nor exhausted. Rows without a place wait, as
    after an activation. Logs a failed transaction and leaves it to the next run.
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
    database: Database[Document],
    session: ClientSession,
    campaign: StoredCampaign,
    now: datetime,
    *,
    tells: bool = True,
) -> StoredCampaign:
    """Bring a campaign's balances and status up to date; return the changed campaign.

    An active campaign without money becomes exhausted, and an exhausted campaign with money
    becomes active. `exhausted_by` names the missing money. `tells`: add a note for the campaign's
    maker if the money runs out. The caller updates the zones. Raises BudgetCommitted for a total
    below the spent and leased money.
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
        after["exhausted_by"] = "funds" if balances.is_outdated(after, now) else "budget"
        change = {}
    lack = _lack(after)
    if tells and lack is not None and lack != _lack(campaign):
        after["notes"] = add_note(campaign, _KINDS[lack], now)
    state = {name: after[name] for name in _STATE if name in after}
    if state != {name: campaign[name] for name in _STATE if name in campaign}:
        change["$set"] = state
        CAMPAIGNS.of(database).update_one({"_id": campaign["_id"]}, change, session=session)
    return after


def _lack(campaign: StoredCampaign) -> Literal["budget", "funds"] | None:
    """Return the money that only the advertiser can add; None: not exhausted, or more is due later.

    "budget": the total is released. "funds": the advertiser's funds do not suffice.
    """
    if campaign["status"] != "exhausted":
        return None
    if campaign.get("exhausted_by") == "funds":
        return "funds"
    is_last = campaign["balance"]["released_micros"] >= campaign["budget"]["total_micros"]
    return "budget" if is_last else None


def _is_due(campaign: CampaignMoney, now: datetime) -> bool:
    return balances.is_outdated(campaign, now) or _status(campaign, now) != campaign["status"]


def _status(campaign: CampaignMoney, now: datetime) -> Status:
    """Return the due status of an active or exhausted campaign.

    With money for one event: active, or unchanged after the flight. Without: exhausted, except
    that a CPM campaign stays unchanged while leases may return money or a release may come.
    """
    balance, pricing = campaign["balance"], campaign["pricing"]
    if balance["available_micros"] >= price_micros(pricing):
        is_over = campaign["flight"]["end"] <= now
        return campaign["status"] if is_over else "active"
    all_released = balance["released_micros"] >= campaign["budget"]["total_micros"]
    is_last = all_released or balances.is_outdated(campaign, now)
    may_come = pricing["type"] == "cpm" and (balance["leased_micros"] or not is_last)
    return campaign["status"] if may_come else "exhausted"
