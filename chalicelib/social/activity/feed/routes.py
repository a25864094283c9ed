"""The routes of feeds, and of the listings by ref and by tag."""

from chalice.app import Response

from chalicelib.http import PageQuery, Request, Route, no_content, reply
from chalicelib.social.activity.feed import listings, reading
from chalicelib.social.activity.refs import RefId, Tag


def declare(route: Route) -> None:
    """Declare the routes of feeds, and of the listings by ref and by tag."""
    _add_feed(route)
    _add_slices(route)


def _add_feed(route: Route) -> None:
    @route("GET", "/feed")
    def read_feed(request: Request) -> Response:
        me = request.principal().id
        return reply(reading.read(request.runtime, me, request.query(PageQuery)))

    @route("GET", "/feed/unread")
    def count_unread(request: Request) -> Response:
        return reply({"unread": reading.unread(request.runtime, request.principal().id)})

    @route("PUT", "/feed/seen")
    def see_feed(request: Request) -> Response:
        reading.see(request.runtime, request.principal().id)
        return no_content()


def _add_slices(route: Route) -> None:
    @route("GET", "/refs/{ref}/actions")
    def list_of_ref(request: Request, ref: RefId) -> Response:
        me = request.principal().id
        return reply(listings.of_ref(request.runtime, me, ref, request.query(PageQuery)))

    @route("GET", "/tags/{tag}/actions")
    def list_of_tag(request: Request, tag: Tag) -> Response:
        me = request.principal().id
        return reply(listings.of_tag(request.runtime, me, tag, request.query(PageQuery)))
