"""The interface to decisions, for pages; and to explanations, for publishers and advertisers."""

from chalicelib.ads.errors import UnknownZone, ZoneChanged
from chalicelib.ads.ids import PartId
from chalicelib.ads.responses import NO_STORE
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.serving.decisions import AdRequest, answer, decide
from chalicelib.ads.serving.explanations import Replay, explain, own_rows
from chalicelib.ads.serving.forms import AdsQuery, DecisionAnswer, ExplainQuery, ExplanationAnswer
from chalicelib.ads.visitors import visitor_ids
from chalicelib.ads.visitors.visitor_ids import identify_visitor, visitor_cookie
from chalicelib.bots import is_bot
from chalicelib.http import Ok, Request, Route
from chalicelib.http.callers import AccountOwner
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher, owns


def declare(route: Route, warm: ZoneCache) -> None:
    """Declare the routes that choose ads from a container's zones, and explain the choice."""
    _declare_decisions(route, warm)
    _declare_explanations(route)


def _declare_decisions(route: Route, warm: ZoneCache) -> None:
    @route("GET", "/ads/{site}/{zone}", raises=(UnknownZone,))
    def get_ads(
        request: Request, site: SiteId, zone: PartId, query: AdsQuery
    ) -> Ok[DecisionAnswer]:
        """Get the ads to show in a zone now.

        The page's `visitor` takes precedence over the cookie's. With `consent=true` a visitor
        without either gets a cookie. With `consent=false`, Plaza stores nothing of the visitor.
        Without `consent`, `Sec-GPC: 1` and `DNT: 1` mean the same.
        """
        runtime = request.runtime
        bot = is_bot(request.user_agent) or request.raw.method == "HEAD"
        visitor = identify_visitor(
            request.raw.headers,
            query.visitor,
            runtime.settings.signing_keys,
            lambda: visitor_ids.make(runtime.random),
            consent=False if bot else query.consent,
        )
        asked = AdRequest(
            *(site, zone, visitor.id, query.keywords, query.count, query.repeat),
            is_bot=bot,
            is_ahead=request.is_ahead,
        )
        headers = dict(NO_STORE)
        if visitor.is_new and visitor.id:
            headers["Set-Cookie"] = visitor_cookie(visitor.id, runtime.settings.signing_keys)
        return Ok(answer(runtime, decide(runtime, warm, asked)), headers)


def _declare_explanations(route: Route) -> None:
    @route("GET", "/ads/{site}/{zone}/explain", raises=(UnknownZone, ZoneChanged))
    def explain_ads(
        request: Request, site: SiteId, zone: PartId, caller: AccountOwner, query: ExplainQuery
    ) -> Ok[ExplanationAnswer]:
        """Explain a zone's choice of ads: every candidate, with its verdict.

        Records nothing. `decision_id`, `decided_at` and `version` explain a past decision. The
        site's publisher sees every candidate, an advertiser only its own campaigns' candidates.
        """
        if not caller.has("advertiser"):
            check_publisher(caller, site)
        visitor = visitor_ids.verify(query.visitor, request.runtime.settings.signing_keys)
        if visitor is None and query.visitor and caller.has("admin"):
            visitor, *_ = query.visitor.partition(".")
        asked = AdRequest(site, zone, visitor, query.keywords, query.count, query.repeat)
        replay = Replay(query.decision_id, query.decided_at, query.version)
        explanation = explain(request.runtime, asked, replay)
        if not owns(caller, site):
            explanation = own_rows(explanation, caller.advertiser or "")
        return Ok(explanation, NO_STORE)
