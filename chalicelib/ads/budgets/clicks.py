"""Charging of clicks to a campaign's available budget, without leases."""

from collections.abc import Sequence
from datetime import datetime

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.budgets import balances
from chalicelib.ads.budgets.ledger import Movement
from chalicelib.ads.inventory.campaigns import CAMPAIGNS
from chalicelib.database import Document


def charge(
    database: Database[Document],
    session: ClientSession,
    campaign_id: str,
    prices_micros: Sequence[int],
    now: datetime,
) -> list[bool]:
    """Bill clicks to a campaign's available money, in order; return whether it paid each.

    An unknown campaign pays none. A CPC campaign has no leases: at a click rate of 1%, reserving a
    click's price for each impression would refuse most decisions.
    """
    campaign = CAMPAIGNS.of(database).find_one({"_id": campaign_id}, session=session)
    available = 0
    if campaign is not None:
        owed = sum(prices_micros)
        balance = balances.bring_up_to_date(database, session, campaign, now, owed)
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
