"""A campaign's balances: what was released of its budget, is available, is leased, is spent.

`spent + leased + available = released <= total` at every committed instant. They stand in the
campaign as `balance`; `leased_micros` is the sum of its open leases' amounts (`leases.py`).
All of this runs inside a caller's transaction that has read the campaign in it, so that of two
changes at once the later one starts again from what the first has left.
"""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads import ledger
from chalicelib.ads.ledger import Movement
from chalicelib.ads.models import MAX_AD_UNITS, MAX_CAPS, MAX_TARGETS
from chalicelib.ads.pacing import budget_day, releasable_micros
from chalicelib.database import Collection, Document
from chalicelib.errors import BudgetCommitted
from chalicelib.validators import AtMost


class Flight(TypedDict):
    """When a campaign may be served."""

    start: datetime
    end: datetime


class Pricing(TypedDict):
    """What the advertiser pays, and for what."""

    type: Literal["cpm", "cpc"]
    bid_micros: int


class Budget(TypedDict):
    """What a campaign may spend."""

    total_micros: int
    daily_micros: int | None
    pacing: Literal["even", "asap"]


class Balance(TypedDict):
    """Where a campaign's money is; `day_start` is the day that it was last released for."""

    released_micros: int
    available_micros: int
    leased_micros: int
    spent_micros: int
    committed_before_micros: int
    day_start: datetime


class StoredCampaign(TypedDict):
    """A campaign as it is stored; one that was never activated has no balance."""

    _id: str
    status: Literal["draft", "active", "paused", "ended", "exhausted"]
    flight: Flight
    time_zone: str
    pricing: Pricing
    budget: Budget
    caps: Annotated[list[Document], AtMost(MAX_CAPS)]
    targets: Annotated[list[Document], AtMost(MAX_TARGETS)]
    ad_units: Annotated[list[Document], AtMost(MAX_AD_UNITS)]
    balance: NotRequired[Balance]


CAMPAIGNS = Collection(
    "ad.campaign",
    StoredCampaign,
    indexes=(IndexModel([("status", ASCENDING), ("flight.end", ASCENDING)]),),
)


def price_micros(pricing: Document) -> int:
    """Return what one billed event costs: a CPM ad's impression, a CPC ad's click."""
    bid: int = pricing["bid_micros"]
    return bid // 1_000 if pricing["type"] == "cpm" else bid


def outdated(campaign: Document, now: datetime) -> bool:
    """Tell whether `bring_up_to_date` would change the balances."""
    return _up_to_date(campaign, now) != campaign.get("balance")


def bring_up_to_date(
    database: Database[Document], session: ClientSession, campaign: Document, now: datetime
) -> Document:
    """Release what the campaign's pacing has due by now, and return its balances.

    What is available beyond that is taken back: at the end of a day, or when a budget was
    lowered. Raises BudgetCommitted where more than the total is spent or leased.
    """
    old, new = campaign.get("balance"), _up_to_date(campaign, now)
    if new["released_micros"] > campaign["budget"]["total_micros"]:
        raise BudgetCommitted
    if new != old:
        this = {"_id": campaign["_id"]}
        database[CAMPAIGNS.name].update_one(this, {"$set": {"balance": new}}, session=session)
        change = new["released_micros"] - (old["released_micros"] if old else 0)
        if change:
            release = Movement(campaign["_id"], "release", change, now)
            ledger.record(database, session, release)
    return new


def move(database: Database[Document], session: ClientSession, movement: Movement) -> None:
    """Change the campaign's balances by a movement, and enter it in the ledger."""
    changes = {f"balance.{name}": by for name, by in movement.changes().items()}
    this = {"_id": movement.campaign_id}
    database[CAMPAIGNS.name].update_one(this, {"$inc": changes}, session=session)
    ledger.record(database, session, movement)


def _up_to_date(campaign: Document, now: datetime) -> Document:
    balance = campaign.get("balance") or {
        **dict.fromkeys(ledger.BALANCES, 0),
        "committed_before_micros": 0,
        "day_start": min(budget_day(campaign, now).start, now),
    }
    # One container's clock may be behind another's: a day that has begun does not end again. One
    # that has yet to begin, a flight's, may still be moved.
    now = max(now, balance["day_start"])
    day_start = budget_day(campaign, now).start
    committed = balance["released_micros"] - balance["available_micros"]
    is_new_day = balance["day_start"] < day_start <= now
    before = committed if is_new_day else balance["committed_before_micros"]
    target = releasable_micros(campaign, before, now)
    change = max(target - balance["released_micros"], -balance["available_micros"])
    return {
        **balance,
        "released_micros": balance["released_micros"] + change,
        "available_micros": balance["available_micros"] + change,
        "committed_before_micros": before,
        "day_start": day_start if is_new_day else balance["day_start"],
    }
