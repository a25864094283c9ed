"""The routes of campaigns and of their budgets."""

from collections.abc import Callable
from http import HTTPStatus

from chalice.app import Response
from pymongo.database import Database

from chalicelib.ads.billing import funds
from chalicelib.ads.budgets import audit
from chalicelib.ads.campaigns import lifecycle, removal
from chalicelib.ads.campaigns.models import Campaign
from chalicelib.ads.ids import CampaignId, advertiser_of
from chalicelib.ads.inventory import campaigns, waiting
from chalicelib.ads.inventory.campaigns import StoredCampaign
from chalicelib.ads.permissions import require_advertiser
from chalicelib.database import Document
from chalicelib.http import Request, Route, no_content, reply
from chalicelib.limits import INVENTORY
from chalicelib.runtime import Runtime


def declare(route: Route, runtime: Runtime, on_change: Callable[[], None]) -> None:
    """Declare the routes of campaigns; `on_change` has the container look at its zones again."""
    _declare_campaigns(route, runtime, on_change)
    _declare_budgets(route)


def _declare_budgets(route: Route) -> None:
    @route("GET", "/campaigns/{campaign}/budget")
    def get_budget(request: Request, campaign: CampaignId) -> Response:
        require_advertiser(request, advertiser_of(campaign))
        return reply({"campaign_id": campaign, **audit.read(request.runtime.database, campaign)})


# A campaign may hold hundreds of ad units, each with a creative of its own.
CAMPAIGN_BYTES = 1_000_000


def _declare_campaigns(route: Route, runtime: Runtime, on_change: Callable[[], None]) -> None:
    database = runtime.database

    @route("PUT", "/campaigns/{campaign}", limit=INVENTORY, body_limit_bytes=CAMPAIGN_BYTES)
    def put_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_owner(request, campaign)
        wanted = request.body(Campaign)
        request.details |= {
            "bid_micros": wanted.pricing.bid_micros,
            "total_micros": wanted.budget.total_micros,
        }
        stored, created = lifecycle.put(database, campaign, wanted, runtime.now())
        on_change()
        return reply(_campaign(database, stored), HTTPStatus.CREATED if created else HTTPStatus.OK)

    @route("GET", "/campaigns/{campaign}")
    def get_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_owner(request, campaign)
        return reply(_campaign(database, campaigns.get(database, campaign)))

    @route("POST", "/campaigns/{campaign}/activate", limit=INVENTORY)
    def activate_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_owner(request, campaign)
        if runtime.settings.prepayment:
            funds.bound(database, [advertiser_of(campaign)], runtime.now())
        stored = lifecycle.activate(database, campaign, runtime.now())
        on_change()
        return reply(_campaign(database, stored))

    @route("POST", "/campaigns/{campaign}/deactivate", limit=INVENTORY)
    def deactivate_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_owner(request, campaign)
        stored = lifecycle.deactivate(database, campaign)
        on_change()
        return reply(_campaign(database, stored))

    @route("DELETE", "/campaigns/{campaign}")
    def delete_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_owner(request, campaign)
        removal.delete(database, campaign, runtime.now())
        on_change()
        return no_content()


def _require_owner(request: Request, campaign_id: str) -> None:
    require_advertiser(request, advertiser_of(campaign_id))


def _campaign(database: Database[Document], stored: StoredCampaign) -> Document:
    """Return a campaign as it goes out: its id and status, what a client may send, `unplaced`.

    The last are its ad units that are not in a zone which it targets, with the reason.
    """
    definition = {name: value for name, value in stored.items() if name in Campaign.model_fields}
    unplaced = waiting.unplaced(database, stored["_id"])
    of_campaign = {"campaign_id": stored["_id"], "status": stored["status"]}
    if stored["status"] == "exhausted":
        of_campaign["exhausted_by"] = stored.get("exhausted_by") or "budget"
    return {**of_campaign, **definition, "unplaced": unplaced}
