"""The routes of a person's own erasure."""

from http import HTTPStatus

from chalice.app import Response

from chalicelib.http import Request, Route, reply
from chalicelib.social.personal_data import erasure


def declare(route: Route) -> None:
    """Declare the erasure of the caller, and how much of it is left."""

    @route("DELETE", "/users/me")
    def erase_me(request: Request) -> Response:
        remaining = erasure.ask(request.runtime, request.principal())
        return reply({"remaining": remaining}, HTTPStatus.ACCEPTED)

    @route("GET", "/users/me/erasure")
    def get_erasure(request: Request) -> Response:
        return reply({"remaining": erasure.remaining(request.runtime, request.principal().id)})
