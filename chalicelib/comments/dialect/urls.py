"""Links in comments: plain URLs become links, and pictures become links to their addresses."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from chalicelib.scripts import SPACED, UNSPACED

# `START` matches behind the first character of a URL; the character is in `STARTS`.
STARTS = "hHwW"
_LETTER = rf"[^\W_{UNSPACED}]"
START = (
    rf"(?<=[hH])(?<!{_LETTER}.)(?=(?i:ttps?://)\w)"
    rf"|(?<=[wW])(?<!{_LETTER}.)(?<![./:@-].)(?=(?i:ww\.)[\w-]+\.\w)"
)
# A URL ends before a blank, a quotation mark, a bracket, a star, an arrow or emoji, an invisible
# character, and punctuation of other scripts than Latin.
_NOT_OF_URL = (
    r"\u0589\u060c\u061b\u061f\u06d4\u0964\u0965\u0f0b-\u0f14\u104a\u104b\u1361-\u1368\u17d4-\u17d6"
    r"\s<>\"`\[\]{}|\\^*\u200b-\u200f\u2026\u201c-\u201f\u202a-\u202e\u2060-\u206f\u2190-\u2bff"
    r"\u3000-\u3004\u3008-\u3020\u3030\ufe0f\ufeff\uff00-\uff65\U0001f000-\U0001faff"
)
_HOST = rf"(?:{_LETTER}(?:{SPACED}|[.-])*|[{UNSPACED}](?:\w|[.-])*)(?::[0-9]{{1,5}})?"
# "https://a.example/b很好" ends before the word, "https://a.example/很好" does not.
_TAIL = rf"(?:[^{_NOT_OF_URL}{UNSPACED}()]|(?<![A-Za-z0-9])[{UNSPACED}])"
# Brackets belong to a URL in pairs: "(https://a.example/b_(c))".
_PAIR = rf"\((?:{_TAIL}|\({_TAIL}*+\))*+\)"
_URL = re.compile(rf"(?:https?://|(?=www\.)){_HOST}(?:[/?#](?:{_TAIL}|{_PAIR})*+)?", re.IGNORECASE)
# Punctuation of the sentence around a URL.
_AFTER_URL = ".,:;!?'_~\u00bb\u2019"


def link_url(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Parse a plain URL as a link; an inline rule of markdown-it."""
    if state.src[state.pos] not in STARTS:
        return False
    found = _URL.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    typed = found[0].rstrip(_AFTER_URL)
    # Writers copy addresses out of HTML, where `&` is `&amp;`.
    shown = typed.replace("&amp;", "&")
    href = state.md.normalizeLink(shown if "://" in shown[:8] else f"http://{shown}")
    if not state.md.validateLink(href):
        return False
    if not silent:
        # A link within a link would lead to two places.
        is_link = state.linkLevel == 0
        if is_link:
            state.push("link_open", "a", 1).attrs = {"href": href}
        state.push("text", "", 0).content = shown
        if is_link:
            state.push("link_close", "a", -1)
    state.pos += len(typed)
    return True


def link_pictures(tokens: list[Token]) -> list[Token]:
    """Turn pictures into links to them, named by their alternative text or host."""
    for token in tokens:
        if token.children and any(leaf.type == "image" for leaf in token.children):
            token.children = list(_with_links(token.children))
    return tokens


def _with_links(leaves: Sequence[Token]) -> Iterator[Token]:
    links = 0
    for leaf in leaves:
        links += leaf.nesting if leaf.tag == "a" else 0
        if leaf.type != "image":
            yield leaf
            continue
        url = str(leaf.attrs["src"])
        named = "".join(_words(leaf.children or ())).strip() or urlsplit(url).hostname or url
        if not links:
            yield Token("link_open", "a", 1, attrs={"href": url})
        yield Token("text", "", 0, content=named)
        if not links:
            yield Token("link_close", "a", -1)


def _words(leaves: Sequence[Token]) -> Iterator[str]:
    """Yield the words of an alternative text."""
    for leaf in leaves:
        yield from _words(leaf.children or ())
        if not leaf.children:
            yield " " if leaf.type in {"softbreak", "hardbreak"} else leaf.content
