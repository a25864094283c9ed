"""The routes of the ad network: campaigns, zones, and the ads themselves."""

from http import HTTPStatus

from chalice.app import Blueprint, Response

from chalicelib.ads import campaigns, zones
from chalicelib.ads.decisions import decide
from chalicelib.ads.models import Campaign, CampaignId, PartId, Zone
from chalicelib.database import Document
from chalicelib.errors import Forbidden
from chalicelib.http import Request, reply, router
from chalicelib.runtime import Runtime


def routes(runtime: Runtime) -> Blueprint:
    """Return the ad network's routes."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)
    database = runtime.database

    @route("PUT", "/campaigns/{campaign}")
    def put_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_advertiser(request, campaign)
        wanted = request.body(Campaign)
        stored, created = campaigns.put(database, campaign, wanted, runtime.now())
        return reply(_campaign(stored), HTTPStatus.CREATED if created else HTTPStatus.OK)

    @route("GET", "/campaigns/{campaign}")
    def get_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_advertiser(request, campaign)
        return reply(_campaign(campaigns.get(database, campaign)))

    @route("POST", "/campaigns/{campaign}/activate")
    def activate_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_advertiser(request, campaign)
        return reply(_campaign(campaigns.activate(database, campaign, runtime.now())))

    @route("POST", "/campaigns/{campaign}/deactivate")
    def deactivate_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_advertiser(request, campaign)
        return reply(_campaign(campaigns.deactivate(database, campaign)))

    @route("PUT", "/sites/{site}/zones/{zone}")
    def put_zone(request: Request, site: PartId, zone: PartId) -> Response:
        _require_publisher(request, site)
        stored = zones.put(database, site, zone, request.body(Zone))
        return reply(stored, HTTPStatus.CREATED if stored["version"] == 1 else HTTPStatus.OK)

    @route("GET", "/sites/{site}/zones/{zone}")
    def get_zone(request: Request, site: PartId, zone: PartId) -> Response:
        _require_publisher(request, site)
        return reply(zones.get(database, site, zone))

    @route("GET", "/ads/{site}/{zone}")
    def get_ads(request: Request, site: PartId, zone: PartId) -> Response:
        # A decision kept by a browser or a proxy would be shown after a deactivation.
        return reply(decide(request.runtime, site, zone), headers={"Cache-Control": "no-store"})

    return blueprint


def _require_advertiser(request: Request, campaign_id: str) -> None:
    caller = request.principal("advertiser")
    if not caller.has("admin") and caller.advertiser != campaign_id.partition(":")[0]:
        raise Forbidden("This campaign is another advertiser's")


def _require_publisher(request: Request, site_id: str) -> None:
    caller = request.principal("publisher")
    if not caller.has("admin") and site_id not in caller.sites:
        raise Forbidden("This site is another publisher's")


def _campaign(stored: Document) -> Document:
    """Return a campaign as it goes out: its id and status, then what a client may send."""
    definition = {name: stored[name] for name in Campaign.model_fields}
    return {"campaign_id": stored["_id"], "status": stored["status"], **definition}
