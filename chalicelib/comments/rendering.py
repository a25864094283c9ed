"""Markdown into safe HTML, once for each text, before a comment is stored.

After a change of the rules below or of the libraries, change `rendered.RENDERER`.
"""

from collections.abc import Iterator
from dataclasses import replace

from chalicelib import markdown
from chalicelib.bounds import BOUNDS
from chalicelib.comments.dialect.blocks import BLOCKS, bold_headings
from chalicelib.comments.dialect.marks import TypedLine, escape, quote_code
from chalicelib.comments.dialect.urls import (
    START,
    STARTS,
    link_pictures,
    link_url,
)
from chalicelib.comments.errors import CommentTooLarge
from chalicelib.comments.mentions import Mentions, rule
from chalicelib.errors import UnreadableText
from chalicelib.markdown import Dialect

TAGS = frozenset(
    "a blockquote br code em h1 h2 h3 h4 h5 h6 hr li ol p pre s span strong ul".split()  # noqa: SIM905
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "span": {"data-person"}}
IMAGE_ATTRIBUTES = {**_ATTRIBUTES, "img": {"src", "alt", "title"}}
_REL = "nofollow ugc noopener"
_CLASSES = {"span": {"mention"}}
_RULES = {"mention": rule, "typed_escape": escape, "typed_code": quote_code, "url": link_url}
# No tables: 10,000 characters of them can become 4.2 MB. No underlined headings: "---" is a
# thematic break. Rules of `_RULES` replace escapes and backticks.
_WITHOUT = ("table", "lheading", "escape", "backticks")
_PLAIN = Dialect(
    TAGS,
    _ATTRIBUTES,
    _REL,
    without=_WITHOUT,
    classes=_CLASSES,
    rules=_RULES,
    edit=lambda tokens: bold_headings(link_pictures(tokens)),
    blocks=BLOCKS,
    stop=(STARTS, START),
    line=TypedLine,
    breaks=True,
)
_WITH_IMAGES = replace(_PLAIN, tags=TAGS | {"img"}, attributes=IMAGE_ATTRIBUTES, edit=bold_headings)


def render(
    text: str,
    mentions: Mentions | None = None,
    *,
    images: bool = False,
    is_new: bool = True,
    max_bytes: int = BOUNDS.comments.html_bytes,
) -> str:
    """Return the HTML of a Markdown text, without raw HTML, scripts, styles or tables.

    Links are absolute http, https and mailto URLs and carry rel="nofollow ugc noopener"; other
    URLs stay text. A mention becomes a `span.mention` with the person's id. Raises CommentTooLarge
    above `max_bytes` of HTML. Raises UnreadableText for a new text that shows nothing, or has
    unbalanced directional controls after the decoding of its entities.
    """
    env = mentions.env if mentions else None
    try:
        return markdown.render(
            text, _dialect(images=images), max_bytes=max_bytes, is_new=is_new, env=env
        )
    except markdown.TooLarge:
        raise CommentTooLarge from None
    except markdown.Unreadable as fault:
        raise UnreadableText("text", fault.code, fault.detail) from None


def places(text: str, mentions: Mentions, name: str, *, images: bool = False) -> Iterator[int]:
    """Yield the positions, ascending, where a text mentions a person by a name."""
    for place, token in markdown.places(text, _dialect(images=images), mentions.env):
        if token.meta["name"] == name:
            yield place


def _dialect(*, images: bool) -> Dialect:
    return _WITH_IMAGES if images else _PLAIN
