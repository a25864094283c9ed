"""Exports of WordPress, and what an import of them leaves."""

import io
from typing import Any

from chalicelib.content.importing import pages, wordpress
from chalicelib.content.nodes import NODES
from chalicelib.content.shapes import ContentNode
from chalicelib.foreign.outcomes import ImportReport
from chalicelib.runtime import Runtime
from chalicelib.wiring.pages import DISCUSSIONS
from tests.content.support.factories import BASE, SITE

HEAD = """<?xml version="1.0" encoding="UTF-8" ?>
<rss version="2.0"
  xmlns:excerpt="http://wordpress.org/export/{version}/excerpt/"
  xmlns:content="http://purl.org/rss/1.0/modules/content/"
  xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:wp="http://wordpress.org/export/{version}/">
<channel><title>Old</title><link>https://harbour.example</link>
<wp:author><wp:author_id>7</wp:author_id><wp:author_login><![CDATA[mara]]></wp:author_login>
<wp:author_display_name><![CDATA[Mara Lindqvist]]></wp:author_display_name></wp:author>
"""
FOOT = "</channel></rss>"
HTML = "<!-- wp:paragraph -->\n<p>It is <em>full</em>.</p>\n<!-- /wp:paragraph -->"


def item(number: int = 1, html: str = HTML, more: str = "", **fields: str) -> str:
    """Return an item: a published post, unless fields say otherwise."""
    given = {
        "title": f"Post {number}",
        "link": f"{BASE}/2024/05/post-{number}/",
        "dc:creator": "mara",
        "wp:post_id": str(number),
        "wp:post_date_gmt": "2024-05-06 07:08:09",
        "wp:post_name": f"post-{number}",
        "wp:status": "publish",
        "wp:post_type": "post",
        **{name.replace("__", ":"): value for name, value in fields.items()},
    }
    tags = "".join(f"<{name}><![CDATA[{value}]]></{name}>\n" for name, value in given.items())
    content = f"<content:encoded><![CDATA[{html}]]></content:encoded>"
    return f"<item>{tags}{content}{more}</item>\n"


def wxr(*items: str, version: str = "1.2") -> bytes:
    """Return a file with items."""
    return (HEAD.replace("{version}", version) + "".join(items) + FOOT).encode()


def bring(runtime: Runtime, *items: str, dry: bool = False, version: str = "1.2") -> ImportReport:
    """Import a file with items; return the report."""
    found = wordpress.parse(io.BytesIO(wxr(*items, version=version)))
    return pages.run(runtime, DISCUSSIONS, SITE, found, _tell_nobody, is_dry_run=dry)


def nodes(runtime: Runtime) -> list[ContentNode]:
    """Return all pages, by the slug of their draft."""
    return list(NODES.of(runtime.database).find().sort("draft.slug"))


def numbers(done: ImportReport) -> dict[str, Any]:
    """Return the numbers of a report, without zeros."""
    return {name: number for name, number in {**done.counts, **done.reasons}.items() if number}


def _tell_nobody(_done: int) -> None:
    pass
