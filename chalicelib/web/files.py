"""Files of the package as answers to browsers: pages, scripts, style sheets and drawings."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from typing_extensions import TypedDict

from chalicelib.errors import Problem
from chalicelib.http import NotModified, Request, Text, conditional
from chalicelib.texts import OwnUrl, ShownName

PAGES = Path(__file__).with_name("pages")
# `script/web` builds it from web/embed, for the package and for the local server.
EMBED = Path(__file__).with_name("embed")
# `script/web` builds it from web/console.
CONSOLE = Path(__file__).with_name("console")
LOADER, MANIFEST = "plaza.js", "manifest.json"
# The script that a site's own service worker imports.
WORKER = "worker.js"
# The style sheet of pages that the server writes.
PAGE_STYLES = "page.css"


class StaticFile(NamedTuple):
    """The text of a file, and its entity tag with quotation marks."""

    text: str
    tag: str


def static_file(path: Path) -> StaticFile:
    """Return a file's text and tag; the process caches them until the file changes."""
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: Path, _written_at_ns: int) -> StaticFile:
    text = path.read_text()
    return StaticFile(text, f'"{hashlib.sha256(text.encode()).hexdigest()[:20]}"')


# The bound of files of the package, and of pages with up to a megabyte of HTML, at three bytes for
# each byte of HTML.
MAX_BYTES = 3_500_000


class HtmlPage(Text):
    """200: an HTML page."""

    media_type = "text/html"
    max_bytes = MAX_BYTES


class Stylesheet(Text):
    """200: a style sheet."""

    media_type = "text/css"
    max_bytes = MAX_BYTES


class Script(Text):
    """200: a script."""

    media_type = "text/javascript"
    max_bytes = MAX_BYTES


class Image(Text):
    """200: a drawing."""

    media_type = "image/svg+xml"
    max_bytes = MAX_BYTES


class Welcome(TypedDict):
    """What this is, and where to go on."""

    name: ShownName
    version: ShownName
    reference_url: OwnUrl
    document_url: OwnUrl
    loader_url: OwnUrl
    console_url: OwnUrl


Kind = TypeVar("Kind", bound=Text)


def file_answer(
    request: Request,
    kind: type[Kind],
    path: Path,
    headers: Mapping[str, str],
) -> Kind | NotModified:
    """Return the answer with a file, or 304 if the caller's `If-None-Match` has its tag.

    `headers`: further headers, such as Cache-Control.
    """
    file = static_file(path)
    tagged = {"ETag": file.tag, **headers}
    if file.tag in conditional.held_tags(request):
        return NotModified(headers=tagged)
    return kind(file.text, tagged)


class UnknownFile(Problem):
    """The page has no file of this name."""

    status = 404
    code = "unknown_file"
    title = "There is no file of this name"
