"""The console: a page for staff, whose scripts call this API as who is signed in."""

import re

from chalicelib.http import NotModified, Request, Route
from chalicelib.web.docs import FileName
from chalicelib.web.files import CONSOLE, Page, Script, Stylesheet, UnknownFile, file_answer

_PAGE = "index.html"
_FILE = re.compile(r"[a-z-]+\.(js|css)")
# Files of two releases never meet in one page: each is asked for, and mostly not sent again.
_ASKED_FOR = {"Cache-Control": "no-cache"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def declare(route: Route) -> None:
    """Declare the routes of the console's page and of its files."""

    @route("GET", "/console")
    def get_console(request: Request) -> Page | NotModified:
        """Open the console: a page for moderators, advertisers, editors, publishers and admins."""
        headers = {**_ASKED_FOR, "Content-Security-Policy": _POLICY}
        return file_answer(request, Page, CONSOLE / _PAGE, headers)

    @route("GET", "/console/{file}", raises=(UnknownFile,))
    def get_console_file(request: Request, file: FileName) -> Script | Stylesheet | NotModified:
        """Read a script or a style sheet of the console."""
        path = CONSOLE / file
        if not _FILE.fullmatch(file) or not path.is_file():
            raise UnknownFile
        kind = Script if path.suffix == ".js" else Stylesheet
        return file_answer(request, kind, path, _ASKED_FOR)
