"""A campaign's balances: the released, available, leased and spent parts of its budget.

`spent + leased + available = released <= total` after every transaction. The campaign's `balance`
stores these parts; `leased_micros` is the sum of its open leases' amounts. The caller reads
the campaign in its transaction before it calls these functions, so the later of two concurrent
changes conflicts and starts again from the result of the first.
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

# An active campaign spends; an exhausted campaign would spend if it had money.
SPENDING = ("active", "exhausted")
# Events that a campaign's available money may pay while its advertiser's funds are scarce.
_TRANCHE = {"cpm": 100, "cpc": 10}


def is_outdated(campaign: CampaignMoney, now: datetime) -> bool:
    """Return whether `bring_up_to_date` would change the balances if funds were unlimited.

    Still True after `bring_up_to_date`: the advertiser's funds did not suffice.
    """
    return _up_to_date(campaign, now) != campaign.get("balance")


def bring_up_to_date(
    database: Database[Document],
    session: ClientSession,
    campaign: CampaignMoney,
    now: datetime,
    owed_micros: int = 0,
) -> Balance:
    """Release the money that is due by now under the campaign's pacing; return its balances.

    A credit line limits the release to the advertiser's funds (`funds.py`). Available money beyond
    the due amount goes back: at the end of a day, or after a cut of the budget.

    `owed_micros`: the price of the clicks to charge now. A campaign at rest with `even` pacing
    releases at most this price, for ads shown before its pause.

    Raises BudgetCommitted if spent and leased money exceed the total.
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
            # The old pace leaves the missing money due.
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
    """Return the update that continues a campaign's budget day in a new time zone; {}: no need.

    The present day goes on, with its spending, until the next midnight of the new zone. Otherwise
    a change of the time zone would release another daily budget at once.
    """
    balance, is_daily = campaign.get("balance"), campaign["budget"]["daily_micros"] is not None
    if not balance or not is_daily or balance["day_start"] < budget_day(campaign, now).start:
        return {}
    return {"balance.day_start": max(balance["day_start"], day_of(now, time_zone).start)}


def first_day_in(
    database: Database[Document],
    session: ClientSession,
    campaign: CampaignMoney,
    time_zone: str,
    now: datetime,
) -> Document:
    """Return the update that begins the days of a first daily budget; {}: no need.

    The day's spending before the change counts. Otherwise the day could cost it twice.
    """
    balance, is_daily = campaign.get("balance"), campaign["budget"]["daily_micros"] is not None
    start = day_of(now, time_zone).start
    if not balance or is_daily or balance["day_start"] >= start:
        return {}
    today = ledger.add_up(database, session, campaign["_id"], start)
    committed = balance["released_micros"] - balance["available_micros"]
    before = committed - today["leased_micros"] - today["spent_micros"]
    return {"balance.day_start": start, "balance.committed_before_micros": max(before, 0)}


def commit(
    database: Database[Document], session: ClientSession, campaign_id: str, micros: int
) -> None:
    """Commit an advertiser's funds to a campaign; a negative amount returns funds.

    Does nothing for an account without a credit line.
    """
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
    """Commit funds of the advertiser to the campaign; return the granted amount.

    Grant the wanted amount if the account has no credit line, or at least four times that amount
    uncommitted. Otherwise grant at most `scarce_micros`, so that the advertiser's campaigns share
    the remaining funds in proportion to their spending.
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
    """Return max(tranche, owed price) minus the available money; may be negative."""
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
    # The clocks of containers differ: a day that has begun must not become the day before again.
    # For a future flight, which may still move, `_no_balance` sets `day_start` to `now`.
    now = max(now, balance["day_start"])
    day = budget_day(campaign, now)
    committed = balance["released_micros"] - balance["available_micros"]
    is_new_day = balance["day_start"] < day.start <= now
    before = committed if is_new_day else balance["committed_before_micros"]
    # A deleted campaign releases nothing: its target, `committed`, takes back available money.
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
    """Return the release of the budget day's remaining money: all (asap), or a share (even).

    Even pacing spreads the money over the part of the day within the flight, and releases nothing
    to a campaign that is neither active nor exhausted.
    """
    if campaign["budget"]["pacing"] == "asap":
        return Release(left_micros, paced_at)
    if left_micros <= 0 or campaign["status"] not in SPENDING:
        return Release(0, paced_at)
    day, flight = budget_day(campaign, now), campaign["flight"]
    # `lifecycle.end_flights` may end a flight late: until then the whole day counts.
    end = min(day.end, flight["end"]) if now < flight["end"] else day.end
    span = TimeSpan(max(day.start, flight["start"]), end)
    return next_release(span, left_micros, paced_at, now)


def _with_pace(balance: Balance, paced_at: datetime | None) -> Balance:
    """Return the balances with this `paced_at`; None: without it, as no pace has begun."""
    balance = {**balance}
    balance.pop("paced_at", None)
    if paced_at is not None:
        balance["paced_at"] = paced_at
    return balance
