"""The HTML of pages: rendered at publication; each answer makes addresses in it absolute."""

import re
from html import escape, unescape
from urllib.parse import urljoin

from pymongo import ASCENDING, IndexModel

from chalicelib.content.errors import PageTooLarge
from chalicelib.content.shapes import PageWords, RenderedDraft
from chalicelib.content.slugs import ASSETS
from chalicelib.content.types import markdown_of
from chalicelib.database import Collection
from chalicelib.errors import UnreadableText
from chalicelib.runtime import Runtime

# Stored beside each HTML. Change it with the libraries or the rules of `rendering`.
RENDERER = "markdown-it-py 4.3, nh3 0.3, content 2"

# The HTML of drafts. The server deletes it after its time.
RENDERED = Collection(
    "content.rendered",
    RenderedDraft,
    indexes=(IndexModel([("expires_at", ASCENDING)], expireAfterSeconds=0),),
)

# An attribute in the sanitiser's form: only a tag has an unescaped `<`.
_LINK = '(<(?:a href|img src)=")'
_OF_ASSET = re.compile(rf"{_LINK}(?={ASSETS})")
_OF_SITE = re.compile(rf'{_LINK}([/#][^"]*)')


def render(runtime: Runtime, kind: str, words: PageWords) -> str:
    """Return the HTML of a page's words; raises PageTooLarge and UnreadableText."""
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
    """Return HTML with the API's address before each asset."""
    return _OF_ASSET.sub(rf"\g<1>{public_url}", html) if public_url else html


def absolute(html: str, page_url: str, public_url: str) -> str:
    """Return HTML to show outside the site: assets and links within the site become absolute.

    A link leads where it leads on the page itself.
    """

    def join(link: re.Match[str]) -> str:
        return link[1] + escape(urljoin(page_url, unescape(link[2])))

    return _OF_SITE.sub(join, with_assets(html, public_url))
