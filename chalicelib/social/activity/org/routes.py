"""The routes of people's places in the organisation, and of mutes."""

from chalice.app import Response

from chalicelib.http import Request, Route, no_content, reply
from chalicelib.identity import UserId
from chalicelib.social.activity.org import muting, people
from chalicelib.social.activity.org.models import OrgSettings, org_answer


def declare(route: Route) -> None:
    """Declare the routes of people's places in the organisation, and of mutes."""
    _add_mutes(route)
    _add_places(route)


def _add_mutes(route: Route) -> None:
    @route("PUT", "/users/me/muted/{actor}")
    def mute(request: Request, actor: UserId) -> Response:
        muting.mute(request.runtime, request.principal().id, actor)
        return no_content()

    @route("DELETE", "/users/me/muted/{actor}")
    def unmute(request: Request, actor: UserId) -> Response:
        muting.unmute(request.runtime, request.principal().id, actor)
        return no_content()

    @route("GET", "/users/me/muted")
    def list_muted(request: Request) -> Response:
        person = people.find(request.runtime.database, request.principal().id)
        return reply({"muted": sorted(person["muted"])})


def _add_places(route: Route) -> None:
    """Add people's places: an admin sets and reads them, and everyone reads their own."""

    @route("PUT", "/users/{user}/org")
    def put_org(request: Request, user: UserId) -> Response:
        request.principal("admin")
        return reply(people.put(request.runtime, user, request.body(OrgSettings)))

    @route("GET", "/users/{user}/org")
    def get_org(request: Request, user: UserId) -> Response:
        request.principal("admin")
        return reply(org_answer(people.find(request.runtime.database, user)))

    @route("GET", "/users/me/org")
    def get_my_org(request: Request) -> Response:
        me = request.principal().id
        return reply(org_answer(people.find(request.runtime.database, me)))
