"""The dialect of pages: tables, figures, assets, and links within the site.

With any change of the rules below or of the libraries, change `rendered.RENDERER`.
"""

import re
from collections.abc import Iterator

from markdown_it.token import Token

from chalicelib.content.slugs import ASSETS
from chalicelib.ids import ID_PATTERN
from chalicelib.markdown import Dialect, is_absolute

_TAGS = frozenset(
    "a blockquote br code em figcaption figure h1 h2 h3 h4 h5 h6 hr img li ol p pre s strong "  # noqa: SIM905
    "table tbody td th thead tr ul".split()
)
_ATTRIBUTES = {
    "a": {"href", "title"},
    "code": {"class"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align"},
}
_ASSET = re.compile(rf"asset:({ID_PATTERN.strip('^$')})")
_ALIGNED = re.compile(r"text-align:(left|center|right)")
# A path from the root of the publisher's site, or a place on the page. A browser reads two slashes,
# or a backslash, at the beginning as another host.
_OWN_PATH = re.compile(r"/(?![/\\])[^\\]*|#[^\\]*")


def _is_link(url: str) -> bool:
    return (
        is_absolute(url)
        or _OWN_PATH.fullmatch(url) is not None
        or _ASSET.fullmatch(url) is not None
    )


def _edit(tokens: list[Token]) -> list[Token]:
    """Set the addresses of assets, the alignment of cells, and the captions of single pictures."""
    for token in tokens:
        aligned = _ALIGNED.fullmatch(str(token.attrs.pop("style", "")))
        if aligned is not None:
            token.attrs["align"] = aligned[1]
        for leaf in token.children or ():
            for name in ("src", "href"):
                found = _ASSET.fullmatch(str(leaf.attrs.get(name, "")))
                if found is not None:
                    leaf.attrs[name] = f"{ASSETS}{found[1]}"
    return list(_figures(tokens))


def _figures(tokens: list[Token]) -> Iterator[Token]:
    """Turn each paragraph of a single titled picture into a figure with the title as caption."""
    for number, token in enumerate(tokens):
        inner = tokens[number + 1] if token.type == "paragraph_open" else tokens[number - 1]
        caption = _caption_of(inner)
        match token.type:
            case "paragraph_open" if caption is not None:
                yield Token("figure_open", "figure", 1)
            case "paragraph_close" if caption is not None:
                yield Token("figcaption_open", "figcaption", 1)
                text = Token("text", "", 0, content=caption)
                yield Token("inline", "", 0, content=caption, children=[text])
                yield Token("figcaption_close", "figcaption", -1)
                yield Token("figure_close", "figure", -1)
            case _:
                yield token


def _caption_of(token: Token) -> str | None:
    """Return the title of an inline token's only picture. None: no title, or other contents."""
    children = token.children or []
    is_picture = token.type == "inline" and len(children) == 1 and children[0].type == "image"
    return str(children[0].attrs.get("title", "")) or None if is_picture else None


DIALECT = Dialect(
    _TAGS,
    _ATTRIBUTES,
    "noopener",
    is_link=_is_link,
    edit=_edit,
    relative_links=True,
    label_steps=20_000,
)
