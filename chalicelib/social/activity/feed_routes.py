"""The API of the activity feed's readers: feeds and slices, mutes, and people's places."""

from chalice.app import Blueprint, Response

from chalicelib.http import PageQuery, Request, no_content, reply, router
from chalicelib.identity import UserId
from chalicelib.runtime import Runtime
from chalicelib.social.activity import feed, muting, naming, people, slices
from chalicelib.social.activity.descriptors import RefId, Tag
from chalicelib.social.activity.models import OrgSettings, RefSettings, org_answer


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of feeds, of slices, and of what a feed is made by."""
    blueprint = Blueprint(__name__)
    _add_feed(blueprint, runtime)
    _add_slices(blueprint, runtime)
    _add_mutes(blueprint, runtime)
    _add_places(blueprint, runtime)
    return blueprint


def _add_feed(blueprint: Blueprint, runtime: Runtime) -> None:
    route = router(blueprint, runtime)

    @route("GET", "/feed")
    def read_feed(request: Request) -> Response:
        me = request.principal().id
        return reply(feed.read(request.runtime, me, request.query(PageQuery)))

    @route("GET", "/feed/unread")
    def count_unread(request: Request) -> Response:
        return reply({"unread": feed.unread(request.runtime, request.principal().id)})

    @route("PUT", "/feed/seen")
    def see_feed(request: Request) -> Response:
        feed.see(request.runtime, request.principal().id)
        return no_content()


def _add_slices(blueprint: Blueprint, runtime: Runtime) -> None:
    route = router(blueprint, runtime)

    @route("GET", "/refs/{ref}/actions")
    def list_of_ref(request: Request, ref: RefId) -> Response:
        me = request.principal().id
        return reply(slices.of_ref(request.runtime, me, ref, request.query(PageQuery)))

    @route("GET", "/tags/{tag}/actions")
    def list_of_tag(request: Request, tag: Tag) -> Response:
        me = request.principal().id
        return reply(slices.of_tag(request.runtime, me, tag, request.query(PageQuery)))

    @route("PUT", "/refs/{ref}")
    def rename_ref(request: Request, ref: RefId) -> Response:
        request.principal("admin")
        naming.put_ref(request.runtime, ref, request.body(RefSettings).name)
        return no_content()


def _add_mutes(blueprint: Blueprint, runtime: Runtime) -> None:
    route = router(blueprint, runtime)

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


def _add_places(blueprint: Blueprint, runtime: Runtime) -> None:
    """Add people's places, which an admin sets, and everyone may ask of themselves."""
    route = router(blueprint, runtime)

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
