"""The API's root: a welcome with links to the reference, the loader and the console."""

from chalicelib import __version__
from chalicelib.http import NotModified, Ok, Request, Route
from chalicelib.web.files import PAGES, HtmlPage, Welcome, file_answer

_VARY = {"Vary": "Accept"}
_HEADERS = {
    **_VARY,
    "Cache-Control": "public, max-age=300",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


def declare(route: Route) -> None:
    """Declare the route of the root."""

    @route("GET", "/")
    def get_welcome(request: Request) -> Ok[Welcome] | HtmlPage | NotModified:
        """Read what this is and where to go on, as JSON or, for a browser, as a page."""
        if request.accepts_html:
            return file_answer(request, HtmlPage, PAGES / "index.html", _HEADERS)
        base = request.runtime.settings.public_url
        return Ok(
            {
                "name": "Plaza",
                "version": __version__,
                "reference_url": f"{base}/docs",
                "document_url": f"{base}/openapi.json",
                "loader_url": f"{base}/web/v1/plaza.js",
                "console_url": f"{base}/console",
            },
            _VARY,
        )
