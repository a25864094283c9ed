"""A campaign's balances in one snapshot, and their differences from its ledger."""

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.budgets import ledger
from chalicelib.ads.budgets.leases import LEASES
from chalicelib.ads.budgets.ledger import BALANCES
from chalicelib.ads.errors import UnknownCampaign
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, MONEY, CampaignMoney
from chalicelib.database import Document


def read(database: Database[Document], campaign_id: str) -> dict[str, int]:
    """Return `{total_micros, released_micros, available_micros, leased_micros, spent_micros}`.

    One snapshot. The spending of open leases counts as spent, not as leased. Also reads a deleted
    campaign. Raises UnknownCampaign.
    """
    with database.client.start_session(snapshot=True) as session:
        return _read(database, session, campaign_id)


def audit(database: Database[Document], campaign_id: str) -> dict[str, int]:
    """Return each balance minus its sum in the ledger, in one snapshot; 0: they agree.

    Raises UnknownCampaign.
    """
    with database.client.start_session(snapshot=True) as session:
        balance = _read(database, session, campaign_id)
        entered = ledger.add_up(database, session, campaign_id)
    return {name: balance[name] - entered[name] for name in BALANCES}


def _read(database: Database[Document], session: ClientSession, campaign_id: str) -> dict[str, int]:
    campaign = CAMPAIGNS.read_as(CampaignMoney, database).find_one(
        {"_id": campaign_id}, MONEY, session=session
    )
    if campaign is None:
        raise UnknownCampaign
    opened = {"campaign_id": campaign_id, "state": "open"}
    leases = LEASES.of(database).find(opened, {"_id": 0, "spent_micros": 1}, session=session)
    spent = sum(lease["spent_micros"] for lease in leases)
    balance = campaign.get("balance")
    held: dict[str, int] = {name: balance[name] if balance else 0 for name in BALANCES}
    return {
        "total_micros": campaign["budget"]["total_micros"],
        **held,
        "leased_micros": held["leased_micros"] - spent,
        "spent_micros": held["spent_micros"] + spent,
    }
