"""The interface to visitors: a site names its members; visitors erase their own data."""

from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from chalicelib.ads.ids import ServingSiteId
from chalicelib.ads.responses import NO_STORE
from chalicelib.ads.visitors import profiles, visitor_ids
from chalicelib.ads.visitors.visitor_ids import VisitorValue, cookie_visitor, expired_cookie
from chalicelib.errors import Forbidden
from chalicelib.http import Input, NoContent, Ok, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.identity import Principal
from chalicelib.limits import VISITORS
from chalicelib.sites.permissions import check_publisher


class SiteMember(Input):
    """A member of a site, by the site's own name for the member."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "reader-4711"}]})

    name: str = Field(
        min_length=1,
        max_length=200,
        description="What the site calls them, as an account's number. It is not stored.",
    )


class VisitorAnswer(TypedDict):
    """A visitor's signed value, for the `visitor` of a page's calls."""

    visitor: Annotated[
        VisitorValue,
        Field(
            description="A signed value; keep it between the site's server and the visitor's "
            "browser, since it stands for the visitor."
        ),
    ]


# In a path: the visitor of the request's cookie, which a page's script cannot read.
_ME = "me"


def declare(route: Route) -> None:
    """Declare the routes that name a site's member, and erase a visitor."""

    @route("POST", "/sites/{site}/visitors", limit=None)
    def name_visitor(
        request: Request, site: ServingSiteId, publisher: Publisher, body: SiteMember
    ) -> Ok[VisitorAnswer]:
        """Get the visitor of a site's member, for the `visitor` of later calls.

        For the site's own server. The same name returns the same visitor, on this site alone.
        Stores nothing.
        """
        check_publisher(publisher, site)
        visitor = visitor_ids.of_member(site, body.name)
        keys = request.runtime.settings.signing_keys
        return Ok({"visitor": visitor_ids.sign(visitor, keys)}, NO_STORE)

    @route(
        "DELETE", "/visitors/{visitor}", limit=VISITORS, secrets=("visitor",), raises=(Forbidden,)
    )
    def erase_visitor(
        request: Request, visitor: VisitorValue, caller: Principal | None
    ) -> NoContent:
        """Erase a visitor's data.

        `me` is the visitor of the cookie; without a cookie the call erases nothing. A visitor's
        signed value needs no token; an id alone needs an admin's token.
        """
        del caller
        runtime = request.runtime
        by_cookie = cookie_visitor(request.raw.headers, runtime.settings.signing_keys)
        erased = by_cookie if visitor == _ME else _identify(request, visitor)
        if erased is not None:
            profiles.erase(runtime.database, erased, runtime.now())
        is_own = visitor == _ME or erased == by_cookie
        return NoContent(headers={"Set-Cookie": expired_cookie()} if is_own else {})


def _identify(request: Request, value: str) -> str:
    """Return the visitor of a signed value; for an admin the id alone is enough.

    Raises Unauthenticated and Forbidden.
    """
    named = visitor_ids.verify(value, request.runtime.settings.signing_keys)
    if named is None:
        request.principal("admin")
        return value.partition(".")[0]
    return named
