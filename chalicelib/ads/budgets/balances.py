"""A campaign's balances: the released, available, leased and spent parts of its budget.

`spent + leased + available = released <= total` at every committed instant. They are the
campaign's `balance`; `leased_micros` is the sum of its open leases' amounts (`leases.py`).
These functions run in a caller's transaction, after it has read the campaign. So the later of two
simultaneous changes starts again from the result of the first.
"""

from datetime import datetime

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads import accounts
from chalicelib.ads.accounts import ACCOUNTS
from chalicelib.ads.budgets import ledger
from chalicelib.ads.budgets.ledger import Movement
from chalicelib.ads.budgets.pacing import (
    Release,
    TimeSpan,
    budget_day,
    day_of,
    due_micros,
    next_release,
)
from chalicelib.ads.errors import BudgetCommitted
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, Balance, CampaignMoney, price_micros
from chalicelib.database import Document

# The campaigns that spend, or would spend with money.
SPENDING = ("active", "exhausted")
# Events that a campaign may hold, when its advertiser's funds do not suffice for all campaigns.
_TRANCHE = {"cpm": 100, "cpc": 10}


def is_outdated(campaign: CampaignMoney, now: datetime) -> bool:
    """Return whether the balances differ from the present dues.

    True right after `bring_up_to_date`: the advertiser's funds did not suffice.
    """
    return _up_to_date(campaign, now) != campaign.get("balance")


def bring_up_to_date(
    database: Database[Document],
    session: ClientSession,
    campaign: CampaignMoney,
    now: datetime,
    owed_micros: int = 0,
) -> Balance:
    """Release the money that the campaign's pacing has due by now, and return its balances.

    With a credit line, only as far as the advertiser's funds go (`funds.py`).

    `owed_micros`: the price of clicks to charge now. A campaign at rest has no even pace: it
    releases that much, for ads that it showed before.

    Takes back available money beyond that: at the end of a day, or after a cut of the budget.
    Raises BudgetCommitted if more than the total is spent or leased.
    """
    old, new = campaign.get("balance"), _up_to_date(campaign, now, owed_micros)
    if new["released_micros"] > campaign["budget"]["total_micros"]:
        raise BudgetCommitted
    change = new["released_micros"] - (old["released_micros"] if old else 0)
    if change > 0:
        scarce = _scarce_micros(campaign, owed_micros)
        lacking = change - _grant(database, session, campaign, change, scarce)
        new["released_micros"] -= lacking
        new["available_micros"] -= lacking
        change -= lacking
        if lacking:
            # The missing money stays due.
            new = _with_pace(new, old.get("paced_at") if old else None)
    elif change:
        commit(database, session, campaign["_id"], change)
    if new != old:
        this = {"_id": campaign["_id"]}
        CAMPAIGNS.of(database).update_one(this, {"$set": {"balance": new}}, session=session)
        if change:
            release = Movement(campaign["_id"], "release", change, now)
            ledger.record(database, session, release)
    return new


def day_in(campaign: CampaignMoney, time_zone: str, now: datetime) -> Document:
    """Return the fields that keep a campaign's budget day when it moves to another time zone.

    The day goes on, with its spending, until the next midnight of the new zone: otherwise a move
    would release another daily budget at once.
    """
    balance, is_daily = campaign.get("balance"), campaign["budget"]["daily_micros"] is not None
    if not balance or not is_daily or balance["day_start"] < budget_day(campaign, now).start:
        return {}
    return {"balance.day_start": max(balance["day_start"], day_of(now, time_zone).start)}


def commit(
    database: Database[Document], session: ClientSession, campaign_id: str, micros: int
) -> None:
    """Commit an advertiser's funds to a campaign; below 0: return them."""
    bounded = {"_id": accounts.of_campaign(campaign_id), "committed_micros": {"$exists": True}}
    change = {"$inc": {"committed_micros": micros}}
    ACCOUNTS.of(database).update_one(bounded, change, session=session)


def _grant(
    database: Database[Document],
    session: ClientSession,
    campaign: CampaignMoney,
    wanted_micros: int,
    scarce_micros: int,
) -> int:
    """Commit the campaign's part of the advertiser's funds; return the amount.

    At least four times the wanted amount is left: all of it. Else `scarce_micros` at most, so that
    the advertiser's campaigns share the rest in proportion to their spending.
    """
    this = {"_id": accounts.of_campaign(campaign["_id"])}
    account = ACCOUNTS.of(database).find_one(this, session=session)
    if account is None or "credit_micros" not in account:
        return wanted_micros
    room = account["balance_micros"] + account["credit_micros"] - account["committed_micros"]
    granted = wanted_micros
    if wanted_micros * 4 > room:
        granted = max(0, min(wanted_micros, room, scarce_micros))
    if granted:
        commit(database, session, campaign["_id"], granted)
    return granted


def _scarce_micros(campaign: CampaignMoney, owed_micros: int) -> int:
    """Return what a campaign lacks of a tranche, or of the price of events that have happened."""
    pricing, balance = campaign["pricing"], campaign.get("balance")
    tranche = _TRANCHE[pricing["type"]] * price_micros(pricing)
    return max(tranche, owed_micros) - (balance["available_micros"] if balance else 0)


def move(database: Database[Document], session: ClientSession, movement: Movement) -> None:
    """Change the campaign's balances by a movement, and record it in the ledger."""
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


def _up_to_date(campaign: CampaignMoney, now: datetime, owed_micros: int = 0) -> Balance:
    balance = campaign.get("balance") or _no_balance(campaign, now)
    # One container's clock may be behind another's: a day that has begun does not end again. A
    # flight that has yet to begin may still move.
    now = max(now, balance["day_start"])
    day = budget_day(campaign, now)
    committed = balance["released_micros"] - balance["available_micros"]
    is_new_day = balance["day_start"] < day.start <= now
    before = committed if is_new_day else balance["committed_before_micros"]
    # A deleted campaign releases nothing more, and returns its available money.
    released = committed if is_new_day else balance["released_micros"]
    target, paced_at = committed, balance.get("paced_at")
    if campaign["status"] != "deleted":
        due_by_end = due_micros(campaign, before)
        due = _due(campaign, due_by_end - released, paced_at, now)
        most = min(due_by_end, campaign["budget"]["total_micros"])
        owed = 0 if campaign["status"] in SPENDING else owed_micros
        target = min(max(released + due.micros, committed + owed), most)
        paced_at = due.paced_at
    change = max(target - balance["released_micros"], -balance["available_micros"])
    changed: Balance = {
        **balance,
        "released_micros": balance["released_micros"] + change,
        "available_micros": balance["available_micros"] + change,
        "committed_before_micros": before,
        "day_start": day.start if is_new_day else balance["day_start"],
    }
    return _with_pace(changed, paced_at)


def _due(
    campaign: CampaignMoney, left_micros: int, paced_at: datetime | None, now: datetime
) -> Release:
    """Return the release of the rest of the budget day's money: asap all, even a share.

    A share is of the day's part within the flight. A paused campaign gets no share: its hours show
    nothing.
    """
    if campaign["budget"]["pacing"] == "asap":
        return Release(left_micros, paced_at)
    if left_micros <= 0 or campaign["status"] not in SPENDING:
        return Release(0, paced_at)
    day, flight = budget_day(campaign, now), campaign["flight"]
    # A flight that is over ends with the next run of a schedule.
    end = min(day.end, flight["end"]) if now < flight["end"] else day.end
    span = TimeSpan(max(day.start, flight["start"]), end)
    return next_release(span, left_micros, paced_at, now)


def _with_pace(balance: Balance, paced_at: datetime | None) -> Balance:
    """Return balances whose even pace continues at an instant; None: it has yet to begin."""
    balance = {**balance}
    balance.pop("paced_at", None)
    if paced_at is not None:
        balance["paced_at"] = paced_at
    return balance
