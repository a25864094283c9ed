"""The HTML of pages: made when they become live, and made whole where it is read."""

import re

from chalicelib.content.errors import PageTooLarge
from chalicelib.content.shapes import Words
from chalicelib.content.slugs import ASSETS
from chalicelib.content.types import markdown_of
from chalicelib.errors import UnreadableText
from chalicelib.runtime import Runtime

# Stored beside the HTML that it made. Change it with the libraries or the rules of `rendering`.
RENDERER = "markdown-it-py 4.3, nh3 0.3, content 2"

# An attribute as the sanitiser writes it: a tag begins with an unescaped `<`, which no text has.
_LINK = '(<(?:a href|img src)=")'
_OF_ASSET = re.compile(rf"{_LINK}(?={ASSETS})")
_OF_SITE = re.compile(rf"{_LINK}(?=/)")


def render(runtime: Runtime, kind: str, words: Words) -> str:
    """Return the HTML of what a page says; raises PageTooLarge and UnreadableText."""
    # Imported for the first text: the parser and the sanitiser take 20 ms of a cold start, and
    # most containers render nothing.
    from chalicelib import markdown
    from chalicelib.content.rendering import DIALECT

    most, text = runtime.bounds.content.html_bytes, markdown_of(kind, words["detail"])
    try:
        return markdown.render(text, DIALECT, max_bytes=most)
    except markdown.TooLarge:
        raise PageTooLarge from None
    except markdown.Unreadable as fault:
        raise UnreadableText("detail", fault.code, fault.detail) from None


def with_assets(html: str, public_url: str) -> str:
    """Return HTML whose assets have the API's address."""
    return _OF_ASSET.sub(rf"\g<1>{public_url}", html) if public_url else html


def absolute(html: str, base_url: str, public_url: str) -> str:
    """Return HTML that can be read anywhere: its assets, and links within the site, absolute."""
    return _OF_SITE.sub(rf"\g<1>{base_url}", with_assets(html, public_url))
