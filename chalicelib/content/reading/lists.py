"""Lists of visible pages, newest first: of a site, of a type, with a tag."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pymongo import DESCENDING
from pymongo.cursor import Cursor
from pymongo.database import Database

from chalicelib.content.nodes import EVER, NODES
from chalicelib.content.reading.forms import EntriesAnswer, ListQuery, entry_answer
from chalicelib.content.reading.views import Viewed
from chalicelib.content.shapes import ContentNode
from chalicelib.content.visibility import edition_at, shown_filter, with_tag
from chalicelib.database import Document
from chalicelib.http.paging import Cursors, page_of
from chalicelib.instants import milliseconds, moment
from chalicelib.runtime import Runtime

# A page's text may have 200,000 characters, and its HTML a megabyte.
WITHOUT_TEXTS = {
    "draft": 0,
    "live.assets": 0,
    "live.html": 0,
    "live.detail.text": 0,
    "next.assets": 0,
    "next.html": 0,
    "next.detail.text": 0,
}


class PageList(NamedTuple):
    """A list of a site's pages. `type` None: all types; `tag` None: any tags."""

    site: str
    type: str | None = None
    tag: str | None = None

    @property
    def scope(self) -> str:
        """Return the scope of the list's cursors, different for each list."""
        return f"content:{self.site}:{self.type or ''}:{self.tag or ''}"


class PagePosition(NamedTuple):
    """A page's place in lists, by the two fields that lists sort by, both descending."""

    published: datetime
    node_id: str


def entries(runtime: Runtime, views: Viewed, site: str, query: ListQuery) -> EntriesAnswer:
    """Return at most `query.limit` entries of a list; raises InvalidCursor."""
    listed, now = PageList(site, query.type, query.tag), runtime.now()
    cursors = Cursors(listed.scope, runtime.settings.signing_keys)
    after = position_of(cursors.position(query))
    limit = query.limit
    found = find(runtime.database, listed, now, after, limit + 1, WITHOUT_TEXTS)
    nodes, last = page_of(list(found), limit)
    answers = [
        entry_answer(node, edition)
        for node in nodes
        if (edition := edition_at(node, now)) is not None
    ]
    if query.include:
        counted = views.of(runtime, site, [each["address"] for each in answers])
        for each in answers:
            each["views"] = counted[each["address"]]
    return {"entries": answers, "next": cursors.following(place_of(last) if last else None)}


def find(  # noqa: PLR0913, PLR0917 - a list, its place and its size
    database: Database[Document],
    listed: PageList,
    now: datetime,
    after: PagePosition | None,
    limit: int,
    fields: Mapping[str, Any],
) -> Cursor[ContentNode]:
    """Return at most `limit` visible pages of a list after a position, newest first.

    after None: from the newest page.
    """
    order = [("published", DESCENDING), ("_id", DESCENDING)]
    found = NODES.of(database).find(where(listed, now, after), fields)
    return found.sort(order).limit(limit)


def where(listed: PageList, now: datetime, after: PagePosition | None = None) -> Document:
    """Return the filter of a list's pages after a position."""
    filters: Document = {"site": listed.site, **shown_filter(now)}
    if listed.type is not None:
        filters["type"] = listed.type
    if after is not None:
        # A separate range bounds the index scan; the range within `$or` does not.
        filters["published"] = {**EVER, "$lte": min(now, after.published)}
        same = {"published": after.published, "_id": {"$lt": after.node_id}}
        filters["$and"] = [{"$or": [{"published": {"$lt": after.published}}, same]}]
    if listed.tag is None:
        return filters
    # All filters in each branch: an index then sorts each branch, and the server merges them.
    return {"$or": [{**filters, **each} for each in with_tag(listed.tag, now)]}


def place_of(node: ContentNode) -> list[Any]:
    """Return a page's place for a cursor: `published` in milliseconds, and the id."""
    assert node["published"] is not None  # noqa: S101 - it is listed
    return [milliseconds(node["published"]), node["_id"]]


def position_of(place: Sequence[Any] | None) -> PagePosition | None:
    """Return the position that a cursor's place stands for. None: the beginning."""
    return PagePosition(moment(place[0]), place[1]) if place else None
