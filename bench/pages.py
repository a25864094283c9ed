"""Many pages at once, written as publishing writes them."""

from datetime import datetime, timedelta

from chalicelib.content import terms
from chalicelib.content.nodes import NODES
from chalicelib.content.publishing.addresses import ADDRESSES
from chalicelib.content.shapes import ContentNode, Edition, PageAddress, PageDraft
from chalicelib.database import insert_missing
from chalicelib.runtime import Runtime
from chalicelib.words import RULES

_BATCH = 1_000


def page(site: str, number: int, now: datetime, paragraphs: int = 1) -> ContentNode:
    """Return a page that was published `number` minutes ago; every third is a post.

    Every tenth has an edition to come and every eleventh an end; each hundredth is to come.
    """
    at = now - timedelta(minutes=number) if number % 100 else now + timedelta(hours=number + 1)
    text = "The ferry sails at nine now, and on Sundays at eight.\n\n" * paragraphs
    draft: PageDraft = {
        "slug": f"news/{number}",
        "title": f"Number {number}",
        "summary": "What it says in a line.",
        "tags": ["all", f"tag-{number % 7}"],
        "detail": {"text": text},
        "assets": [],
        "by": {"id": "edda", "name": "Edda"},
        "at": at,
    }
    live: Edition = {
        "slug": draft["slug"],
        "title": draft["title"],
        "summary": draft["summary"],
        "tags": draft["tags"],
        "detail": draft["detail"],
        "assets": [],
        "html": f"<p>{text}</p>",
        "renderer": "",
        "version": 1,
        "minor": False,
        "shown_from": at,
        "updated": at,
        "terms_rules": RULES,
    }
    following: Edition = {**live, "shown_from": now + timedelta(days=9), "tags": ["later"]}
    return {
        "_id": f"page{number:012d}",
        "site": site,
        "type": "page" if number % 3 else "blog",
        "version": 1,
        "created": at,
        "updated": at,
        "author": {"id": "edda", "name": "Edda"},
        "draft": draft,
        "live": live,
        "next": following if number % 10 == 1 else None,
        "published": at,
        "first_published": at,
        "until": now + timedelta(days=30) if number % 11 == 1 else None,
        "edition": 1,
        "discussion": None,
        "is_closed": False,
        "preview_key": "k" * 16,
        "removed": None,
    }


def seed(runtime: Runtime, site: str, count: int, paragraphs: int = 1) -> None:
    """Store pages of a site, with their addresses."""
    now = runtime.now()
    for start in range(0, count, _BATCH):
        numbers = range(start, min(start + _BATCH, count))
        pages = [page(site, number, now, paragraphs) for number in numbers]
        insert_missing(NODES.of(runtime.database), pages)
        rows = [row for each in pages for row in terms.rows_of(each)]
        insert_missing(terms.TERMS.of(runtime.database), rows)
        addresses: list[PageAddress] = [
            {
                "_id": f"{site}:news/{number}",
                "node": f"page{number:012d}",
                "current": True,
                "since": now - timedelta(days=9),
            }
            for number in numbers
        ]
        insert_missing(ADDRESSES.of(runtime.database), addresses)
