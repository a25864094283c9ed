"""The API's reference: a page that describes every operation and can call it."""

from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.http import NotModified, Request, Route
from chalicelib.web.files import (
    PAGES,
    HtmlPage,
    Image,
    Script,
    Stylesheet,
    UnknownFile,
    file_answer,
)

FileName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9.-]{1,64}$"),
    Field(description="A file that the page names.", examples=["docs.js"]),
]
_FIVE_MINUTES = "public, max-age=300"
_KINDS: dict[str, type[Script | Stylesheet | Image]] = {
    ".js": Script,
    ".css": Stylesheet,
    ".svg": Image,
}
_FILES = (
    *("docs.css", "docs.js", "docs-call.js", "docs-markup.js", "docs-schema.js"),
    *("docs.svg", "index.css"),
)


def declare(route: Route, public_url: str) -> None:
    """Declare the routes of the reference; its page may call the API at `public_url`."""
    headers = {"Content-Security-Policy": _policy(public_url), "Cache-Control": _FIVE_MINUTES}

    @route("GET", "/docs")
    def get_docs(request: Request) -> HtmlPage | NotModified:
        """Read the reference: a page about every operation, from which each can be tried."""
        return file_answer(request, HtmlPage, PAGES / "docs.html", headers)

    @route("GET", "/docs/{file}", raises=(UnknownFile,))
    def get_docs_file(
        request: Request, file: FileName
    ) -> Script | Stylesheet | Image | NotModified:
        """Read a script, a style sheet or a drawing of the reference."""
        if file not in _FILES:
            raise UnknownFile
        path = PAGES / file
        return file_answer(request, _KINDS[path.suffix], path, {"Cache-Control": _FIVE_MINUTES})


def _policy(public_url: str) -> str:
    """Return a Content-Security-Policy: own files, `data:` images, and calls to this API alone."""
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            f"connect-src 'self' {public_url}".rstrip(),
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
