"""The interface to campaigns and to their budgets."""

from collections.abc import Callable

from pymongo.database import Database

from chalicelib.ads.billing import funds
from chalicelib.ads.bounds import CAMPAIGN_BYTES
from chalicelib.ads.budgets import audit
from chalicelib.ads.campaigns import asset_pictures, lifecycle, removal
from chalicelib.ads.campaigns.answers import (
    CampaignAnswer,
    CampaignBudgetAnswer,
    budget_answer,
    campaign_answer,
)
from chalicelib.ads.campaigns.forms import Campaign
from chalicelib.ads.errors import BudgetCommitted, CampaignDeleted, FlightOver, UnknownCampaign
from chalicelib.ads.ids import CampaignId, advertiser_of
from chalicelib.ads.inventory import campaigns, waiting
from chalicelib.ads.inventory.campaigns import StoredCampaign
from chalicelib.ads.permissions import check_advertiser
from chalicelib.assets.errors import UnknownAsset
from chalicelib.database import Document
from chalicelib.errors import ChangeTooLarge
from chalicelib.http import Created, NoContent, Ok, Request, Route
from chalicelib.http.callers import Advertiser
from chalicelib.limits import INVENTORY
from chalicelib.runtime import Runtime


def declare(route: Route, runtime: Runtime, on_change: Callable[[], None]) -> None:
    """Declare the routes of campaigns; `on_change` expires the zones in the container's memory."""
    _declare_campaigns(route, runtime, on_change)
    _declare_removal(route, runtime, on_change)
    _declare_activation(route, runtime, on_change)
    _declare_budgets(route)


def _declare_campaigns(route: Route, runtime: Runtime, on_change: Callable[[], None]) -> None:
    database = runtime.database

    @route(
        "PUT",
        "/campaigns/{campaign}",
        limit=INVENTORY,
        body_limit_bytes=CAMPAIGN_BYTES,
        raises=(CampaignDeleted, BudgetCommitted, ChangeTooLarge, UnknownAsset),
    )
    def put_campaign(
        request: Request, campaign: CampaignId, caller: Advertiser, body: Campaign
    ) -> Ok[CampaignAnswer] | Created[CampaignAnswer]:
        """Make a campaign, as a draft, or change one.

        The zones of an active campaign change at once. A raised budget reactivates an exhausted
        campaign.
        """
        check_advertiser(caller, advertiser_of(campaign))
        request.details |= {
            "bid_micros": body.pricing.bid_micros,
            "total_micros": body.budget.total_micros,
        }
        assets = asset_pictures.find(request.runtime, caller, campaign, body)
        stored, is_new = lifecycle.put(runtime, campaign, body, assets, caller.id)
        on_change()
        answer = _to_answer(database, stored)
        return Created(answer) if is_new else Ok(answer)

    @route("GET", "/campaigns/{campaign}", raises=(UnknownCampaign,))
    def get_campaign(
        request: Request, campaign: CampaignId, caller: Advertiser
    ) -> Ok[CampaignAnswer]:
        """Read a campaign."""
        del request
        check_advertiser(caller, advertiser_of(campaign))
        return Ok(_to_answer(database, campaigns.get(database, campaign)))


def _declare_removal(route: Route, runtime: Runtime, on_change: Callable[[], None]) -> None:
    database = runtime.database

    @route("DELETE", "/campaigns/{campaign}", raises=(ChangeTooLarge,))
    def delete_campaign(request: Request, campaign: CampaignId, caller: Advertiser) -> NoContent:
        """Delete a campaign; a missing campaign is no error.

        Its ads leave their zones at once. The campaign still pays for the ads shown before, and its
        reports stay. Only the id of a draft becomes free again.
        """
        del request
        check_advertiser(caller, advertiser_of(campaign))
        removal.delete(database, campaign, runtime.now())
        on_change()
        return NoContent()


def _declare_activation(route: Route, runtime: Runtime, on_change: Callable[[], None]) -> None:
    database = runtime.database

    @route(
        "POST",
        "/campaigns/{campaign}/activate",
        limit=INVENTORY,
        raises=(UnknownCampaign, FlightOver, ChangeTooLarge),
    )
    def activate_campaign(
        request: Request, campaign: CampaignId, caller: Advertiser
    ) -> Ok[CampaignAnswer]:
        """Activate a campaign: put its ads into its zones.

        Its ads are served from the flight's start on. Without money for one event it may be
        exhausted at once.
        """
        del request
        check_advertiser(caller, advertiser_of(campaign))
        if runtime.settings.prepayment:
            funds.bound_to_funds(database, [advertiser_of(campaign)], runtime.now())
        stored = lifecycle.activate(database, campaign, runtime.now())
        on_change()
        return Ok(_to_answer(database, stored))

    @route(
        "POST",
        "/campaigns/{campaign}/deactivate",
        limit=INVENTORY,
        raises=(UnknownCampaign, ChangeTooLarge),
    )
    def deactivate_campaign(
        request: Request, campaign: CampaignId, caller: Advertiser
    ) -> Ok[CampaignAnswer]:
        """Pause an active or exhausted campaign: take its ads out of its zones."""
        del request
        check_advertiser(caller, advertiser_of(campaign))
        stored = lifecycle.deactivate(database, campaign)
        on_change()
        return Ok(_to_answer(database, stored))


def _declare_budgets(route: Route) -> None:
    @route("GET", "/campaigns/{campaign}/budget", raises=(UnknownCampaign,))
    def get_campaign_budget(
        request: Request, campaign: CampaignId, caller: Advertiser
    ) -> Ok[CampaignBudgetAnswer]:
        """Read the parts of a campaign's budget, also after its deletion."""
        check_advertiser(caller, advertiser_of(campaign))
        amounts = audit.read(request.runtime.database, campaign)
        return Ok(budget_answer(campaign, amounts))


def _to_answer(database: Database[Document], stored: StoredCampaign) -> CampaignAnswer:
    return campaign_answer(stored, waiting.list_unplaced_units(database, stored["_id"]))
