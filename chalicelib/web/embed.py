"""The files of the elements for a site's pages, at addresses with their release.

A page names the loader, and the loader's address never changes. The loader names the files of its
own release, which never change, so a page does not mix releases. A cached loader may be of another
release: its addresses then answer with the files of this release, each complete in itself
(docs/decisions/0122).
"""

from typing import Annotated

import orjson
from pydantic import Field, StringConstraints

from chalicelib.http import NotModified, Request, Route
from chalicelib.web.docs import FileName
from chalicelib.web.files import (
    EMBED,
    LOADER,
    MANIFEST,
    PAGE_STYLES,
    WORKER,
    Script,
    Stylesheet,
    UnknownFile,
    file_answer,
    static_file,
)

Version = Annotated[
    str,
    StringConstraints(pattern=r"^(v1|[0-9.]{1,20}-[0-9a-f]{12})$"),
    Field(description="`v1` for the loader and the worker; the loader names that of other files."),
]
STABLE, STABLE_FILES = "v1", {LOADER, PAGE_STYLES, WORKER}
_SHORTLY = "public, max-age=300, stale-while-revalidate=86400"
# Short: after a deployment or a rollback, the address may soon have the files of its own release.
_AS_ANOTHER = "public, max-age=300"
_FOREVER = "public, max-age=31536000, immutable"
# Any page may load them: they have no personal data.
_FOR_ANY_PAGE = {
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


def declare(route: Route) -> None:
    """Declare the route of the elements' files."""

    @route("GET", "/web/{version}/{file}", raises=(UnknownFile,))
    def get_web_file(
        request: Request, version: Version, file: FileName
    ) -> Script | Stylesheet | NotModified:
        """Read a script of the elements for web pages: `/web/v1/plaza.js` is the one to name."""
        manifest = orjson.loads(static_file(EMBED / MANIFEST).text)
        if file not in manifest["files"] or (version == STABLE) != (file in STABLE_FILES):
            raise UnknownFile
        caches = {STABLE: _SHORTLY, manifest["release"]: _FOREVER}
        headers = {"Cache-Control": caches.get(version, _AS_ANOTHER), **_FOR_ANY_PAGE}
        kind = Stylesheet if file == PAGE_STYLES else Script
        return file_answer(request, kind, EMBED / file, headers)
