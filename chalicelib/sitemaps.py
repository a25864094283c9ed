"""Sitemaps and indexes of them as documents (sitemaps.org, version 0.9)."""

from collections.abc import Iterable
from datetime import datetime
from xml.sax.saxutils import escape

from chalicelib.http import Text
from chalicelib.http.responses import MAX_BYTES

# The pages that an index plans for each file, and the most pages that a file shows.
FILE_PAGES, MOST_PAGES = 1_000, 5_000
# Search engines come once a day or less.
CACHING = "public, max-age=3600"
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


class Sitemap(Text):
    """200: a sitemap, or an index of sitemaps."""

    media_type = "application/xml"
    max_bytes = MAX_BYTES


def sitemap(pages: Iterable[tuple[str, datetime | None]]) -> str:
    """Return a sitemap of pages by their addresses, each with the time of its last change."""
    items = "".join(f"<url>{_item(url, changed)}</url>\n" for url, changed in pages)
    return f'{_HEAD}<urlset xmlns="{_NAMESPACE}">\n{items}</urlset>\n'


def sitemap_index(addresses: Iterable[str]) -> str:
    """Return an index of the sitemaps at these addresses."""
    items = "".join(f"<sitemap><loc>{escape(each)}</loc></sitemap>\n" for each in addresses)
    return f'{_HEAD}<sitemapindex xmlns="{_NAMESPACE}">\n{items}</sitemapindex>\n'


def _item(url: str, changed: datetime | None) -> str:
    lastmod = f"<lastmod>{changed:%Y-%m-%dT%H:%M:%SZ}</lastmod>" if changed else ""
    return f"<loc>{escape(url)}</loc>{lastmod}"
