"""The routes of the ad network: campaigns, zones, the ads themselves, and their visitors."""

from http import HTTPStatus

from chalice.app import Blueprint, Response

from chalicelib.ads import campaigns, visitors, zones
from chalicelib.ads.bots import is_bot
from chalicelib.ads.consent import (
    cookie_visitor,
    expired_cookie,
    identify_visitor,
    visitor_cookie,
)
from chalicelib.ads.decisions import Asked, answer, decide
from chalicelib.ads.explanations import Replay, explain, own_rows
from chalicelib.ads.models import (
    AdsQuery,
    Campaign,
    CampaignId,
    ExplainQuery,
    PartId,
    SiteId,
    VisitorId,
    Zone,
)
from chalicelib.ads.rights import require_advertiser, require_publisher
from chalicelib.ads.warm import Warm
from chalicelib.database import Document
from chalicelib.http import Request, Route, no_content, reply, router
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime

# A decision kept by a browser or a proxy would be shown after a deactivation.
_NOT_KEPT = {"Cache-Control": "no-store"}


def routes(runtime: Runtime) -> Blueprint:
    """Return the ad network's routes, over one container's memory."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)
    warm = Warm(runtime)
    _declare_campaigns(route, runtime, warm)
    _declare_zones(route, runtime, warm)
    _declare_ads(route, warm)
    _declare_visitors(route)
    return blueprint


def _declare_campaigns(route: Route, runtime: Runtime, warm: Warm) -> None:
    database = runtime.database

    @route("PUT", "/campaigns/{campaign}")
    def put_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_owner(request, campaign)
        wanted = request.body(Campaign)
        stored, created = campaigns.put(database, campaign, wanted, runtime.now())
        warm.expire()
        return reply(_campaign(stored), HTTPStatus.CREATED if created else HTTPStatus.OK)

    @route("GET", "/campaigns/{campaign}")
    def get_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_owner(request, campaign)
        return reply(_campaign(campaigns.get(database, campaign)))

    @route("POST", "/campaigns/{campaign}/activate")
    def activate_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_owner(request, campaign)
        stored = campaigns.activate(database, campaign, runtime.now())
        warm.expire()
        return reply(_campaign(stored))

    @route("POST", "/campaigns/{campaign}/deactivate")
    def deactivate_campaign(request: Request, campaign: CampaignId) -> Response:
        _require_owner(request, campaign)
        stored = campaigns.deactivate(database, campaign)
        warm.expire()
        return reply(_campaign(stored))


def _declare_zones(route: Route, runtime: Runtime, warm: Warm) -> None:
    database = runtime.database

    @route("PUT", "/sites/{site}/zones/{zone}")
    def put_zone(request: Request, site: SiteId, zone: PartId) -> Response:
        require_publisher(request, site)
        stored = zones.put(database, site, zone, request.body(Zone))
        warm.expire()
        return reply(stored, HTTPStatus.CREATED if stored["version"] == 1 else HTTPStatus.OK)

    @route("GET", "/sites/{site}/zones/{zone}")
    def get_zone(request: Request, site: PartId, zone: PartId) -> Response:
        require_publisher(request, site)
        return reply(zones.get(database, site, zone))


def _declare_ads(route: Route, warm: Warm) -> None:
    @route("GET", "/ads/{site}/{zone}")
    def get_ads(request: Request, site: PartId, zone: PartId) -> Response:
        query = request.query(AdsQuery)
        runtime = request.runtime
        visitor = identify_visitor(
            request.raw.headers,
            query.visitor,
            lambda: new_id(runtime.now(), runtime.random),
            consent=query.consent,
        )
        agent = request.raw.headers.get("user-agent")
        asked = Asked(
            site, zone, visitor.id, query.keywords, query.count, query.repeat, is_bot(agent)
        )
        cookie = {"Set-Cookie": visitor_cookie(visitor.id)} if visitor.is_new and visitor.id else {}
        return reply(answer(runtime, decide(runtime, warm, asked)), headers={**_NOT_KEPT, **cookie})

    @route("GET", "/ads/{site}/{zone}/explain")
    def explain_ads(request: Request, site: PartId, zone: PartId) -> Response:
        caller = request.principal("advertiser")
        query = request.query(ExplainQuery)
        asked = Asked(site, zone, query.visitor, query.keywords, query.count, query.repeat)
        replay = Replay(query.seed, query.at, query.version)
        explanation = explain(request.runtime, asked, replay)
        if not caller.has("admin"):
            explanation = own_rows(explanation, caller.advertiser or "")
        return reply(explanation, headers=_NOT_KEPT)


def _declare_visitors(route: Route) -> None:
    @route("DELETE", "/visitors/{visitor}")
    def delete_visitor(request: Request, visitor: VisitorId) -> Response:
        is_own = cookie_visitor(request.raw.headers) == visitor
        if not is_own:
            request.principal("admin")
        visitors.erase(request.runtime.database, visitor)
        response = no_content()
        if is_own:
            response.headers["Set-Cookie"] = expired_cookie()
        return response


def _require_owner(request: Request, campaign_id: str) -> None:
    require_advertiser(request, campaign_id.partition(":")[0])


def _campaign(stored: Document) -> Document:
    """Return a campaign as it goes out: its id and status, then what a client may send."""
    definition = {name: stored[name] for name in Campaign.model_fields}
    return {"campaign_id": stored["_id"], "status": stored["status"], **definition}
