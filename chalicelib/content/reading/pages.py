"""A page by its address: the edition that readers see now, or its new address.

One query reads the address with its page. Each addition to the answer costs further queries.
"""

import hashlib
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from pymongo import ASCENDING, DESCENDING
from pymongo.database import Database

from chalicelib import __version__
from chalicelib.content.errors import ContentGone, PageMoved, UnknownContent
from chalicelib.content.nodes import EVER, NODES
from chalicelib.content.publishing import addresses
from chalicelib.content.publishing.discussions import Discussions
from chalicelib.content.reading.forms import (
    AddressQuery,
    DiscussionCountAnswer,
    NeighbourAnswer,
    NeighboursAnswer,
    ShownAnswer,
    entry_answer,
    feeds_of,
)
from chalicelib.content.reading.views import Viewed
from chalicelib.content.rendered import with_assets
from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.content.visibility import coming, edition_at, next_change, shown_filter
from chalicelib.database import Document
from chalicelib.http import Request
from chalicelib.runtime import Runtime

# Readers receive HTML, so the query omits the Markdown.
WITHOUT_DRAFT = {"draft": 0, "live.detail.text": 0, "next.detail.text": 0}
# The longest time that caches store a page.
_KEPT_SECONDS = 30


class ShownPage(NamedTuple):
    """A page and the edition that its readers see now."""

    node: ContentNode
    edition: Edition
    now: datetime

    def tag(self, public_url: str) -> str:
        """Return the entity tag; it changes with the page, and with Plaza's version and address.

        It stays when the schedule makes a next edition live that readers see already.
        """
        here = hashlib.sha256(f"{__version__} {public_url}".encode()).hexdigest()[:8]
        return f'"{self.node["_id"]}.{shown_number(self.node, self.now)}.{here}"'

    @property
    def cache_control(self) -> str:
        """Return `Cache-Control`: at most 30 s, and not beyond the next change by the clock."""
        change = next_change(self.node, self.now)
        left = int((change - self.now).total_seconds()) if change else _KEPT_SECONDS
        return f"public, max-age={min(left, _KEPT_SECONDS)}"


def find(request: Request, site: str, slug: str) -> ShownPage:
    """Return the page at an address; raises UnknownContent, ContentGone and PageMoved.

    The location of PageMoved has the other parameters of the request.
    """
    now = request.runtime.now()
    node = _read(request.runtime.database, site, slug, now)
    if node is None:
        raise UnknownContent
    if node["removed"] is not None:
        raise ContentGone
    edition = edition_at(node, now)
    if edition is None:
        raise UnknownContent
    if edition["slug"] != slug:
        raise PageMoved(edition["slug"], _location(request, site, edition["slug"]))
    return ShownPage(node, edition, now)


def _read(database: Database[Document], site: str, slug: str, now: datetime) -> ContentNode | None:
    """Return, by one query, the page to which an address leads now. None: to no page."""
    led_to = {"site": site, "$expr": {"$eq": ["$_id", "$$node"]}}
    page: Document = {
        "from": NODES.name,
        "let": {"node": addresses.page_id(now)},
        "pipeline": [{"$match": led_to}, {"$project": WITHOUT_DRAFT}],
        "as": "page",
    }
    here = {"_id": addresses.key(site, slug), **addresses.leads_somewhere(now)}
    stages: list[Document] = [{"$match": here}, {"$lookup": page}]
    rows: Any = addresses.ADDRESSES.of(database).aggregate(stages)
    found: list[ContentNode] = next(rows, {"page": []})["page"]
    return found[0] if found else None


def answer(
    runtime: Runtime, discussions: Discussions, views: Viewed, found: ShownPage, query: AddressQuery
) -> ShownAnswer:
    """Return a page as its readers see it, with the requested additions."""
    node, edition = found.node, found.edition
    public_url = runtime.settings.public_url
    counted: DiscussionCountAnswer | None = None
    if "discussion" in query.include and (discussion := node["discussion"]):
        counts = discussions.counts(runtime, [discussion])
        counted = {"id": discussion, "comments": counts[discussion]}
    slug = edition["slug"]
    viewed = views.of(runtime, node["site"], [slug]) if "views" in query.include else {}
    return {
        **entry_answer(node, edition),
        "views": viewed.get(slug),
        "site": node["site"],
        "html": with_assets(edition["html"], public_url),
        "discussion_id": node["discussion"],
        "feeds": feeds_of(public_url, node["site"]),
        "discussion": counted,
        "neighbours": _neighbours(runtime, found) if "neighbours" in query.include else None,
    }


def shown_number(node: ContentNode, now: datetime) -> int:
    """Return a number that rises with each change for readers."""
    return node["edition"] + (coming(node, now) is not None)


def _location(request: Request, site: str, slug: str) -> str:
    """Return the URL of the same call with another address."""
    given = request.raw.query_params
    names = [name for name in given or () if name != "address"]
    rest = {name: given.getlist(name) for name in names} if given is not None else {}
    query = urlencode({"address": slug, **rest}, doseq=True, safe="/,", quote_via=quote)
    return f"{request.runtime.settings.public_url}/content/{site}/page?{query}"


def _neighbours(runtime: Runtime, found: ShownPage) -> NeighboursAnswer:
    return {
        "previous": _neighbour(runtime, found, "$lt", DESCENDING),
        "next": _neighbour(runtime, found, "$gt", ASCENDING),
    }


def _neighbour(
    runtime: Runtime, found: ShownPage, beyond: str, order: int
) -> NeighbourAnswer | None:
    node, now = found.node, found.now
    published: Any = node["published"]
    bound = (
        {**EVER, "$lte": published} if beyond == "$lt" else {**EVER, "$gte": published, "$lte": now}
    )
    where: Document = {
        "site": node["site"],
        "type": node["type"],
        **shown_filter(now),
        "published": bound,
        "$or": [
            {"published": {beyond: published}},
            {"published": published, "_id": {beyond: node["_id"]}},
        ],
    }
    fields = {"live.html": 0, "live.detail": 0, "next.html": 0, "next.detail": 0, "draft": 0}
    rows = NODES.of(runtime.database).find(where, fields)
    beside = next(iter(rows.sort([("published", order), ("_id", order)]).limit(1)), None)
    edition = edition_at(beside, now) if beside else None
    return {"address": edition["slug"], "title": edition["title"]} if edition else None
