"""The route that erases a visitor."""

from chalice.app import Response

from chalicelib.ads.ids import SiteId
from chalicelib.ads.permissions import require_publisher
from chalicelib.ads.responses import NO_STORE
from chalicelib.ads.visitors import profiles, visitor_ids
from chalicelib.ads.visitors.consent import cookie_visitor, expired_cookie
from chalicelib.ads.visitors.models import Member
from chalicelib.ads.visitors.visitor_ids import VisitorValue
from chalicelib.http import Request, Route, no_content, reply
from chalicelib.limits import VISITORS

# In a path: the visitor of the request's cookie, which a page's script cannot read.
_ME = "me"


def declare(route: Route) -> None:
    """Declare the routes that name a site's member, and erase a visitor."""

    @route("POST", "/sites/{site}/visitors", limit=None)
    def post_visitor(request: Request, site: SiteId) -> Response:
        require_publisher(request, site)
        visitor = visitor_ids.of_member(site, request.body(Member).name)
        keys = request.runtime.settings.signing_keys
        return reply({"visitor": visitor_ids.sign(visitor, keys)}, headers=NO_STORE)

    @route("DELETE", "/visitors/{visitor}", limit=VISITORS, secrets=("visitor",))
    def delete_visitor(request: Request, visitor: VisitorValue) -> Response:
        runtime = request.runtime
        keys = runtime.settings.signing_keys
        by_cookie = cookie_visitor(request.raw.headers, keys)
        named = by_cookie if visitor == _ME else visitor_ids.verify(visitor, keys)
        if named is None:
            request.principal("admin")
            named = visitor.partition(".")[0]
        profiles.erase(runtime.database, named, runtime.now())
        response = no_content()
        if named == by_cookie:
            response.headers["Set-Cookie"] = expired_cookie()
        return response
