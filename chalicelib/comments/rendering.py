"""Markdown into safe HTML, once, when a comment is written."""

from functools import lru_cache

import markdown_it
import nh3

from chalicelib.errors import CommentTooLarge

MAX_HTML_BYTES = 64 * 1024
# Stands beside the HTML that it made. Change it with the libraries or the rules below, then
# run the command `rerender_comments`.
RENDERER = "markdown-it-py 4.3, nh3 0.3, rules 1"

_TAGS = frozenset(
    "a blockquote br code em h1 h2 h3 h4 h5 h6 hr li ol p pre s strong ul".split()  # noqa: SIM905
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_IMAGE_ATTRIBUTES = {**_ATTRIBUTES, "img": {"src", "alt", "title"}}
_SCHEMES = frozenset({"http", "https", "mailto"})


def render(text: str, *, images: bool = False) -> str:
    """Return the HTML of a Markdown text, without raw HTML, scripts, styles or tables.

    Links carry rel="nofollow ugc noopener". Raises CommentTooLarge above 64 KiB of HTML.
    """
    html = nh3.clean(
        _markdown(images).render(text),
        tags=set(_TAGS | {"img"} if images else _TAGS),
        attributes=_IMAGE_ATTRIBUTES if images else _ATTRIBUTES,
        url_schemes=set(_SCHEMES),
        link_rel="nofollow ugc noopener",
    )
    if len(html.encode()) > MAX_HTML_BYTES:
        raise CommentTooLarge
    return html


@lru_cache(maxsize=2)
def _markdown(images: bool) -> markdown_it.MarkdownIt:  # noqa: FBT001
    """Return the parser; tables are off, since 10,000 characters of them can become 4.2 MB."""
    parser = markdown_it.MarkdownIt("js-default", {"html": False}).disable("table")
    return parser if images else parser.disable("image")
