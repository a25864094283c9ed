"""Markdown into safe HTML, once, when a comment is written."""

import re
from collections.abc import Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import markdown_it
import nh3
from markdown_it import helpers
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from chalicelib.bounds import BOUNDS
from chalicelib.comments.errors import CommentTooLarge, UnreadableText
from chalicelib.runtime import Runtime
from chalicelib.texts import INVISIBLE, UNBALANCED, has_balanced_directions, is_visible

# Stored beside the HTML that it made. Change it with the libraries or the rules below, then
# run the command `rerender_comments`.
RENDERER = "markdown-it-py 4.3, nh3 0.3, rules 2"

_TAGS = frozenset(
    "a blockquote br code em h1 h2 h3 h4 h5 h6 hr li ol p pre s strong ul".split()  # noqa: SIM905
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_IMAGE_ATTRIBUTES = {**_ATTRIBUTES, "img": {"src", "alt", "title"}}
_SCHEMES = frozenset({"http", "https", "mailto"})
# Without two slashes and a host, a browser takes an http URL for a path on the page's own site.
_ABSOLUTE = re.compile(r"https?://[^/?#\\]|mailto:.", re.IGNORECASE)
# Tokens that show something whatever they contain: a bullet, a rule, a picture.
_VISIBLE_TOKENS = frozenset({"list_item_open", "hr", "image"})
# How many tokens the search for the ends of brackets passes in one text, nested searches
# included: enough for 1,250 links, the most that 10,000 characters hold.
MAX_LABEL_STEPS = 2_500
# Tables, since 10,000 characters of them can become 4.2 MB; the others do nothing as configured,
# and would be asked at every line or character.
_UNUSED = ["table", "html_block", "html_inline", "linkify", "replacements", "smartquotes"]
_DEEP = re.compile(r"(?:[^()\s<>\\]*\(){4}")
_parse_destination = helpers.parseLinkDestination
_NO_LINK = _parse_destination("", 0, 0)


def rendered(runtime: Runtime, site: str, text: str, *, is_new: bool = True) -> str:
    """Return the HTML of a text on a site, by the settings and bounds; see `render`."""
    images, most = site in runtime.settings.image_sites, runtime.bounds.comments.html_bytes
    return render(text, images=images, is_new=is_new, max_bytes=most)


def render(
    text: str,
    *,
    images: bool = False,
    is_new: bool = True,
    max_bytes: int = BOUNDS.comments.html_bytes,
) -> str:
    """Return the HTML of a Markdown text, without raw HTML, scripts, styles or tables.

    Links are absolute http, https and mailto URLs and carry rel="nofollow ugc noopener"; others
    stay text. Raises CommentTooLarge above `max_bytes` of HTML, and UnreadableText for a new text
    that shows nothing or whose directional controls are unbalanced once its entities are decoded.
    """
    parser = _markdown(images)
    env: dict[str, Any] = {}
    tokens = parser.parse(text, env)
    if is_new:
        _check_readable(tokens)
    html = nh3.clean(
        parser.renderer.render(tokens, parser.options, env),
        tags=set(_TAGS | {"img"} if images else _TAGS),
        attributes=_IMAGE_ATTRIBUTES if images else _ATTRIBUTES,
        url_schemes=set(_SCHEMES),
        url_relative="deny",
        link_rel="nofollow ugc noopener",
    )
    if len(html.encode()) > max_bytes:
        raise CommentTooLarge
    return html


@lru_cache(maxsize=2)
def _markdown(images: bool) -> markdown_it.MarkdownIt:  # noqa: FBT001
    """Return the parser, which is the same for all texts."""
    parser = markdown_it.MarkdownIt("js-default", {"html": False}).disable(_UNUSED)
    # markdown-it-py's types name a module and a method here; it calls any object and function.
    parser.helpers = SimpleNamespace(  # type: ignore[assignment]
        parseLinkDestination=_destination,
        parseLinkLabel=_label_end,
        parseLinkTitle=helpers.parseLinkTitle,
    )
    parser.validateLink = _is_absolute  # type: ignore[method-assign]
    return parser if images else parser.disable("image")


def _is_absolute(url: str) -> bool:
    return _ABSOLUTE.match(url) is not None


def _destination(text: str, start: int, end: int) -> Any:
    """Return the link destination at `start`, as markdown-it's `parseLinkDestination`.

    That one looks 32 parentheses deep from each bracket; CommonMark asks for three.
    """
    return _NO_LINK if _DEEP.match(text, start, end) else _parse_destination(text, start, end)


def _label_end(state: StateInline, start: int, disable_nested: bool = False) -> int:  # noqa: FBT001, FBT002
    """Return where the label of the bracket at `start` ends, or -1.

    As markdown-it's `parseLinkLabel`, which from every `[` looks through what follows, so that
    its time grows with the square of the brackets. Here all searches in a text share
    MAX_LABEL_STEPS; brackets after that are text.
    """
    before, end, level = state.pos, -1, 1
    state.pos = start + 1
    env = state.env
    while state.pos < state.posMax:
        marker, position = state.src[state.pos], state.pos
        if marker == "]":
            level -= 1
            if level == 0:
                end = position
                break
        env["label_steps"] = steps = env.get("label_steps", 0) + 1
        if steps > MAX_LABEL_STEPS:
            break
        state.md.inline.skipToken(state)
        if marker == "[":
            if position == state.pos - 1:
                # No token begins with this bracket: it needs a `]` of its own.
                level += 1
            elif disable_nested:
                break
    state.pos = before
    return end


def _check_readable(tokens: Sequence[Token]) -> None:
    """Check the text as it is shown, with entities decoded; raises UnreadableText."""
    leaves = [leaf for token in tokens for leaf in (token.children or (token,))]
    shown = "".join(leaf.content for leaf in leaves)
    if not has_balanced_directions(shown):
        raise UnreadableText("unbalanced_text", UNBALANCED)
    if not is_visible(shown) and all(leaf.type not in _VISIBLE_TOKENS for leaf in leaves):
        raise UnreadableText("invisible_text", INVISIBLE)
