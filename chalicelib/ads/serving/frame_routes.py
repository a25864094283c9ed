"""The route of frames: each HTML creative as its own document."""

from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.ads.errors import InvalidToken, TokenExpired, UnknownCreative
from chalicelib.ads.serving import frames
from chalicelib.http import Request, Route
from chalicelib.web.files import HtmlPage

Token = Annotated[
    str,
    StringConstraints(max_length=frames.MAX_CHARACTERS),
    Field(description="What a `frame_url` ends with; it is good until the end of the next day."),
]


def declare(route: Route) -> None:
    """Declare the route of frames, which reads neither cookies nor a caller's token."""

    @route("GET", "/creatives/{token}", raises=(InvalidToken, TokenExpired, UnknownCreative))
    def get_creative_frame(request: Request, token: Token) -> HtmlPage:
        """Get an HTML creative, for an `iframe`: the `frame_url` of an ad.

        Its policy isolates it from the page, whatever its markup does.
        """
        now = request.runtime.now()
        creative_id, expires_at = frames.verify(token, request.runtime.settings.signing_keys, now)
        kept_seconds = int((expires_at - now).total_seconds())
        headers = {
            "Content-Security-Policy": frames.CSP,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": f"public, max-age={kept_seconds}, immutable",
        }
        return HtmlPage(frames.markup(request.runtime.database, creative_id), headers)
