"""What becomes of a campaign as its money is released, spent and returned."""

from collections.abc import Sequence
from datetime import datetime

import pymongo
from pymongo import DESCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads import balances, ledger, zones
from chalicelib.ads.balances import CAMPAIGNS, price_micros
from chalicelib.ads.leases import LEASES
from chalicelib.ads.ledger import BALANCES, Movement
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Problem, UnknownCampaign
from chalicelib.logs import log

# The campaigns that spend, or would if they had anything left.
SPENDING = ("active", "exhausted")
_SPENDING = {"status": {"$in": SPENDING}}
# What one campaign may take of a run's time.
REFRESH_TIMEOUT_SECONDS = 2
# All that tells whether a campaign's money is due a change.
_MONEY = {"status": 1, "pricing": 1, "budget": 1, "flight": 1, "time_zone": 1, "balance": 1}


def read(database: Database[Document], campaign_id: str) -> dict[str, int]:
    """Return `{total_micros, released_micros, available_micros, leased_micros, spent_micros}`.

    Taken in one snapshot; what open leases have spent counts as spent. Raises UnknownCampaign.
    """
    with database.client.start_session(snapshot=True) as session:
        return _read(database, session, campaign_id)


def audit(database: Database[Document], campaign_id: str) -> dict[str, int]:
    """Return by how much each balance differs from what the ledger adds up to, in one snapshot.

    Raises UnknownCampaign.
    """
    with database.client.start_session(snapshot=True) as session:
        balance = _read(database, session, campaign_id)
        entered = ledger.add_up(database, session, campaign_id)
    return {name: balance[name] - entered[name] for name in BALANCES}


def _read(database: Database[Document], session: ClientSession, campaign_id: str) -> dict[str, int]:
    campaign = database[CAMPAIGNS.name].find_one({"_id": campaign_id}, _MONEY, session=session)
    if campaign is None:
        raise UnknownCampaign
    opened = {"campaign_id": campaign_id, "state": "open"}
    leases = database[LEASES.name].find(opened, {"_id": 0, "spent_micros": 1}, session=session)
    spent = sum(lease["spent_micros"] for lease in leases)
    balance = campaign.get("balance") or dict.fromkeys(BALANCES, 0)
    return {
        "total_micros": campaign["budget"]["total_micros"],
        "released_micros": balance["released_micros"],
        "available_micros": balance["available_micros"],
        "leased_micros": balance["leased_micros"] - spent,
        "spent_micros": balance["spent_micros"] + spent,
    }


def charge_clicks(
    database: Database[Document],
    session: ClientSession,
    campaign_id: str,
    prices_micros: Sequence[int],
    now: datetime,
) -> list[bool]:
    """Bill clicks to what a campaign has available, in order; tell of each whether it sufficed.

    A CPC campaign takes no leases: at a click rate of 1%, a lease held for each impression
    would refuse most decisions.
    """
    campaign = database[CAMPAIGNS.name].find_one({"_id": campaign_id}, session=session)
    available = 0
    if campaign is not None:
        balance = balances.bring_up_to_date(database, session, campaign, now)
        available = balance["available_micros"]
    billed = []
    spent = 0
    for price in prices_micros:
        billed.append(spent + price <= available)
        spent += price if billed[-1] else 0
    if spent:
        clicks = Movement(campaign_id, "clicks", spent, now, {"events": sum(billed)})
        balances.move(database, session, clicks)
    return billed


def refresh_all(database: Database[Document], now: datetime) -> int:
    """Refresh every campaign that it would change; return how many there were.

    One that another holds is left to the next run, so that it does not keep the others waiting.
    The exhausted come first: nobody but this brings them back, while a lease or a click brings
    an active one up to date.
    """
    found = database[CAMPAIGNS.name].find(_SPENDING, _MONEY).sort("status", DESCENDING)
    due = [campaign["_id"] for campaign in found if _is_due(campaign, now)]
    for campaign_id in due:
        with pymongo.timeout(REFRESH_TIMEOUT_SECONDS):
            refresh(database, campaign_id, now)
    return len(due)


def refresh(database: Database[Document], campaign_id: str, now: datetime) -> None:
    """Release what is due; take a campaign without money out of its zones, or bring it back.

    One that finds a zone full stays out of all of them until there is room. One that cannot
    be changed now is logged, and waits for the next time.
    """

    def work(session: ClientSession) -> None:
        this = {"_id": campaign_id, **_SPENDING}
        before = database[CAMPAIGNS.name].find_one(this, session=session)
        if before is None:
            return
        after = follow(database, session, before, now)
        if after["status"] == before["status"]:
            return
        if after["status"] == "active":
            zones.place(database, session, after)
        else:
            zones.clear(database, session, campaign_id)

    try:
        in_transaction(database, work)
    except Problem as problem:
        fields = {"campaign_id": campaign_id, "reason": problem.code}
        log.warning("campaign not refreshed", extra={"fields": fields})


def follow(
    database: Database[Document], session: ClientSession, campaign: Document, now: datetime
) -> Document:
    """Bring a campaign's balances in line with its budget; return it as it is then.

    An active one without money becomes exhausted, and an exhausted one with money active; the
    zones are the caller's. Raises BudgetCommitted for a total below what is spent or leased.
    """
    spends = campaign["status"] in SPENDING
    if not spends and "balance" not in campaign:
        return campaign
    balance = balances.bring_up_to_date(database, session, campaign, now)
    after = {**campaign, "balance": balance}
    if spends:
        after["status"] = _status(after, now)
    if after["status"] != campaign["status"]:
        change = {"$set": {"status": after["status"]}}
        database[CAMPAIGNS.name].update_one({"_id": campaign["_id"]}, change, session=session)
    return after


def _is_due(campaign: Document, now: datetime) -> bool:
    return balances.outdated(campaign, now) or _status(campaign, now) != campaign["status"]


def _status(campaign: Document, now: datetime) -> str:
    """Return what the status of an active or exhausted campaign has to be.

    Active, while it can pay one event or, by leases, may yet come to.
    """
    balance, pricing = campaign["balance"], campaign["pricing"]
    if balance["available_micros"] >= price_micros(pricing):
        is_over = campaign["flight"]["end"] <= now
        return str(campaign["status"] if is_over else "active")
    all_released = balance["released_micros"] >= campaign["budget"]["total_micros"]
    may_come = pricing["type"] == "cpm" and (balance["leased_micros"] or not all_released)
    return str(campaign["status"] if may_come else "exhausted")
