"""The route of frames: an HTML creative as a document of its own."""

from http import HTTPStatus
from typing import Annotated

from chalice.app import Response
from pydantic import StringConstraints

from chalicelib.ads.serving import frames
from chalicelib.http import Request, Route

Token = Annotated[str, StringConstraints(max_length=frames.MAX_CHARACTERS)]


def declare(route: Route) -> None:
    """Declare the route of frames, which reads neither cookies nor a caller's token."""

    @route("GET", "/creatives/{token}")
    def get_frame(request: Request, token: Token) -> Response:
        now = request.runtime.now()
        creative_id, expires_at = frames.verify(token, request.runtime.settings.signing_keys, now)
        kept_seconds = int((expires_at - now).total_seconds())
        headers: dict[str, str | list[str]] = {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": frames.CSP,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": f"public, max-age={kept_seconds}, immutable",
        }
        return Response(
            frames.markup(request.runtime.database, creative_id), headers, HTTPStatus.OK
        )
