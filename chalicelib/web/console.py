"""The console: a page for staff, whose scripts call this API with the user's token."""

import os
import re

from chalicelib.http import NotModified, Request, Route
from chalicelib.web.docs import FileName
from chalicelib.web.files import CONSOLE, HtmlPage, Script, Stylesheet, UnknownFile, file_answer

_PAGE = "index.html"
_FILE = re.compile(r"[a-z-]+\.(js|css)")
# The browser revalidates each file, mostly with a 304, so no page mixes files of two releases.
_ASKED_FOR = {"Cache-Control": "no-cache"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https:; "
    "connect-src {calls}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def policy_of(bucket: str) -> str:
    """Return the page's Content-Security-Policy.

    The page may call this API, and the bucket for uploads; an empty `bucket`: this API alone.
    """
    store = f" {origin_of(bucket)}" if bucket else ""
    return _POLICY.format(calls=f"'self'{store}")


def origin_of(bucket: str) -> str:
    """Return the origin of a bucket's signed S3 addresses, in the region of this function.

    The origin names the region, except us-east-1: the global S3 address does not reach buckets in
    regions that opened since 2019.
    """
    region = os.environ.get("AWS_REGION", "us-east-1")
    place = "s3" if region == "us-east-1" else f"s3.{region}"
    return f"https://{bucket}.{place}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}"


def declare(route: Route) -> None:
    """Declare the routes of the console's page and of its files."""

    @route("GET", "/console")
    def get_console(request: Request) -> HtmlPage | NotModified:
        """Open the console: pages for a site's moderators and publishers, and for admins."""
        policy = policy_of(request.runtime.settings.asset_bucket)
        headers = {**_ASKED_FOR, "Content-Security-Policy": policy}
        return file_answer(request, HtmlPage, CONSOLE / _PAGE, headers)

    @route("GET", "/console/{file}", raises=(UnknownFile,))
    def get_console_file(request: Request, file: FileName) -> Script | Stylesheet | NotModified:
        """Read a script or a style sheet of the console."""
        path = CONSOLE / file
        if not _FILE.fullmatch(file) or not path.is_file():
            raise UnknownFile
        kind = Script if path.suffix == ".js" else Stylesheet
        return file_answer(request, kind, path, _ASKED_FOR)
