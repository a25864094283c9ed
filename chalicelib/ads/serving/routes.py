"""The routes that ads are asked for by, and explained."""

from chalice.app import Response

from chalicelib.ads.ids import PartId
from chalicelib.ads.responses import NO_STORE
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.serving.decisions import Asked, answer, decide
from chalicelib.ads.serving.explanations import Replay, explain, own_rows
from chalicelib.ads.serving.models import AdsQuery, ExplainQuery
from chalicelib.ads.tracking.bots import is_bot
from chalicelib.ads.visitors import visitor_ids
from chalicelib.ads.visitors.consent import identify_visitor, visitor_cookie
from chalicelib.http import Request, Route, reply


def declare(route: Route, warm: ZoneCache) -> None:
    """Declare the routes that choose ads from the zones of a container, and explain the choice."""

    @route("GET", "/ads/{site}/{zone}")
    def get_ads(request: Request, site: PartId, zone: PartId) -> Response:
        query = request.query(AdsQuery)
        runtime = request.runtime
        bot = is_bot(request.user_agent)
        visitor = identify_visitor(
            request.raw.headers,
            query.visitor,
            runtime.settings.signing_keys,
            lambda: visitor_ids.make(runtime.random),
            consent=False if bot else query.consent,
        )
        asked = Asked(site, zone, visitor.id, query.keywords, query.count, query.repeat, bot)
        headers = dict(NO_STORE)
        if visitor.is_new and visitor.id:
            headers["Set-Cookie"] = visitor_cookie(visitor.id, runtime.settings.signing_keys)
        return reply(answer(runtime, decide(runtime, warm, asked)), headers=headers)

    @route("GET", "/ads/{site}/{zone}/explain")
    def explain_ads(request: Request, site: PartId, zone: PartId) -> Response:
        caller = request.principal("advertiser")
        query = request.query(ExplainQuery)
        visitor = visitor_ids.verify(query.visitor, request.runtime.settings.signing_keys)
        if visitor is None and caller.has("admin"):
            visitor = query.visitor
        asked = Asked(site, zone, visitor, query.keywords, query.count, query.repeat)
        replay = Replay(query.seed, query.at, query.version)
        explanation = explain(request.runtime, asked, replay)
        if not caller.has("admin"):
            explanation = own_rows(explanation, caller.advertiser or "")
        return reply(explanation, headers=NO_STORE)
