"""A campaign's balances: what was released of its budget, is available, is leased, is spent.

`spent + leased + available = released <= total` at every committed instant. They are the
campaign's `balance`; `leased_micros` is the sum of its open leases' amounts (`leases.py`).
All of this runs inside a caller's transaction that has read the campaign in it, so that of two
changes at once the later one starts again from the result of the first.
"""

from datetime import datetime

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads import accounts
from chalicelib.ads.accounts import ACCOUNTS
from chalicelib.ads.budgets import ledger
from chalicelib.ads.budgets.ledger import Movement
from chalicelib.ads.budgets.pacing import budget_day, releasable_micros
from chalicelib.ads.errors import BudgetCommitted
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, Balance, CampaignMoney, price_micros
from chalicelib.database import Document

# What a campaign may hold, in events, of funds that do not suffice for all its advertiser's.
_TRANCHE = {"cpm": 100, "cpc": 10}


def outdated(campaign: CampaignMoney, now: datetime) -> bool:
    """Return whether more or less is due than the balances say.

    Right after `bring_up_to_date` it is: the advertiser's funds did not suffice.
    """
    return _up_to_date(campaign, now) != campaign.get("balance")


def bring_up_to_date(
    database: Database[Document], session: ClientSession, campaign: CampaignMoney, now: datetime
) -> Balance:
    """Release what the campaign's pacing has due by now, and return its balances.

    Of an advertiser with a credit line, only as far as its funds go (`funds.py`).

    What is available beyond that is taken back: at the end of a day, or when a budget was
    lowered. Raises BudgetCommitted where more than the total is spent or leased.
    """
    old, new = campaign.get("balance"), _up_to_date(campaign, now)
    if new["released_micros"] > campaign["budget"]["total_micros"]:
        raise BudgetCommitted
    change = new["released_micros"] - (old["released_micros"] if old else 0)
    if change > 0:
        available = old["available_micros"] if old else 0
        lacking = change - _grant(database, session, campaign, change, available)
        new["released_micros"] -= lacking
        new["available_micros"] -= lacking
        change -= lacking
    elif change:
        commit(database, session, campaign["_id"], change)
    if new != old:
        this = {"_id": campaign["_id"]}
        CAMPAIGNS.of(database).update_one(this, {"$set": {"balance": new}}, session=session)
        if change:
            release = Movement(campaign["_id"], "release", change, now)
            ledger.record(database, session, release)
    return new


def commit(
    database: Database[Document], session: ClientSession, campaign_id: str, micros: int
) -> None:
    """Commit an advertiser's funds to a campaign, or, below 0, give them back."""
    bounded = {"_id": accounts.of_campaign(campaign_id), "committed_micros": {"$exists": True}}
    change = {"$inc": {"committed_micros": micros}}
    ACCOUNTS.of(database).update_one(bounded, change, session=session)


def _grant(
    database: Database[Document],
    session: ClientSession,
    campaign: CampaignMoney,
    wanted_micros: int,
    available_micros: int,
) -> int:
    """Commit as much of the advertiser's funds as the campaign may have; return how much.

    All that it wants, if four times that is left. Else a tranche, so that the advertiser's
    campaigns share what there is by what they spend.
    """
    this = {"_id": accounts.of_campaign(campaign["_id"])}
    account = ACCOUNTS.of(database).find_one(this, session=session)
    if account is None or "credit_micros" not in account:
        return wanted_micros
    room = account["balance_micros"] + account["credit_micros"] - account["committed_micros"]
    granted = wanted_micros
    if wanted_micros * 4 > room:
        pricing = campaign["pricing"]
        tranche = _TRANCHE[pricing["type"]] * price_micros(pricing) - available_micros
        granted = max(0, min(wanted_micros, room, tranche))
    if granted:
        commit(database, session, campaign["_id"], granted)
    return granted


def move(database: Database[Document], session: ClientSession, movement: Movement) -> None:
    """Change the campaign's balances by a movement, and enter it in the ledger."""
    changes = {f"balance.{name}": by for name, by in movement.changes().items()}
    this = {"_id": movement.campaign_id}
    CAMPAIGNS.of(database).update_one(this, {"$inc": changes}, session=session)
    ledger.record(database, session, movement)


def _no_balance(campaign: CampaignMoney, now: datetime) -> Balance:
    return {
        "released_micros": 0,
        "available_micros": 0,
        "leased_micros": 0,
        "spent_micros": 0,
        "committed_before_micros": 0,
        "day_start": min(budget_day(campaign, now).start, now),
    }


def _up_to_date(campaign: CampaignMoney, now: datetime) -> Balance:
    balance = campaign.get("balance") or _no_balance(campaign, now)
    # One container's clock may be behind another's: a day that has begun does not end again. One
    # that has yet to begin, a flight's, may still be moved.
    now = max(now, balance["day_start"])
    day_start = budget_day(campaign, now).start
    committed = balance["released_micros"] - balance["available_micros"]
    is_new_day = balance["day_start"] < day_start <= now
    before = committed if is_new_day else balance["committed_before_micros"]
    # Of a deleted campaign nothing more is released, and what is available is taken back.
    is_deleted = campaign["status"] == "deleted"
    target = committed if is_deleted else releasable_micros(campaign, before, now)
    change = max(target - balance["released_micros"], -balance["available_micros"])
    return {
        **balance,
        "released_micros": balance["released_micros"] + change,
        "available_micros": balance["available_micros"] + change,
        "committed_before_micros": before,
        "day_start": day_start if is_new_day else balance["day_start"],
    }
