"""Answers to browsers: pages, scripts, style sheets and drawings, each a file of the package."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from typing_extensions import TypedDict

from chalicelib.http import NotModified, Request, Text, conditional
from chalicelib.texts import OwnUrl, ShownName
from chalicelib.web.files import static_file

# Files of the package, and pages of at most a megabyte of HTML, and each byte takes three.
MAX_BYTES = 3_500_000


class Page(Text):
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
    """Answer with a file, or say that the caller has it; `headers` have its Cache-Control."""
    file = static_file(path)
    told = {"ETag": file.tag, **headers}
    if file.tag in conditional.held_tags(request):
        return NotModified(headers=told)
    return kind(file.text, told)
