"""Feeds with entity tags.

A poll of an unchanged feed reads only an index, or also pages if the feed is of a keyword.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import orjson
from pymongo.cursor import Cursor

from chalicelib import __version__, signing
from chalicelib.atom import Feed
from chalicelib.content import settings
from chalicelib.content.feeds.formats import entries_of, feed_id
from chalicelib.content.feeds.forms import FeedQuery
from chalicelib.content.reading import lists, pages
from chalicelib.content.reading.forms import feeds_of
from chalicelib.content.reading.lists import PageList, PagePosition
from chalicelib.content.shapes import ContentNode, ContentSite
from chalicelib.database import Document
from chalicelib.http import Request
from chalicelib.http.paging import Cursors
from chalicelib.http.responses import MAX_BYTES
from chalicelib.runtime import Runtime

Format = Literal["atom", "json"]
# The fields of an entity tag. The indexes have them all, except for the feed of a keyword tag: any
# other query for an entity tag reads no page.
OF_TAG = {"_id": 1, "published": 1, "until": 1, "next.shown_from": 1, "edition": 1}
_TAG_BYTES = 12
OF_FEED = {"draft": 0, "live.detail": 0, "next.detail": 0}


class Fetched(NamedTuple):
    """A part of a feed, with its entity tag. feed None: the caller has this entity tag already."""

    tag: str
    feed: Feed | None


def fetch(
    request: Request, site_id: str, form: Format, query: FeedQuery, held: Collection[str]
) -> Fetched:
    """Return a part of a feed, unless `held` has its entity tag.

    The part has at most `request.rows` entries.

    Raises UnknownContentSite and InvalidCursor.
    """
    runtime = request.runtime
    site = settings.recall(runtime, site_id)
    wanted = _Wanted(runtime, site, form, query, runtime.now())
    # The tag first: after a change in between, older pages must not have the newer tag.
    tag = wanted.tag()
    if tag in held:
        return Fetched(tag, None)
    return Fetched(tag, wanted.feed(request.rows))


class _Wanted:
    """A requested part of a feed: the entries after a cursor."""

    def __init__(
        self, runtime: Runtime, site: ContentSite, form: Format, query: FeedQuery, now: datetime
    ) -> None:
        self._runtime = runtime
        self._site = site
        self._form = form
        self._query = query
        self._now = now
        self._listed = PageList(site["_id"], query.type, query.tag)
        scope = f"feed:{self._listed.scope}"
        self._cursors = Cursors(scope, runtime.settings.signing_keys)
        position = self._cursors.place(query.cursor)
        self._after: PagePosition | None = lists.position_of(position)

    def _read(self, most: int, fields: Document) -> Cursor[ContentNode]:
        wanted = (self._runtime.database, self._listed, self._now, self._after, most, fields)
        return lists.find(*wanted)

    def _pages(self, most: int) -> tuple[list[ContentNode], ContentNode | None]:
        """Return up to `most` content pages of the feed, and the last of them if more follow.

        Stops once their HTML has more characters than an answer may have bytes: a hundred pages
        may have many times as much. None: no more pages follow.
        """
        found: list[ContentNode] = []
        room = MAX_BYTES
        with self._read(most + 1, OF_FEED) as rows:
            for row in map(_with_next, rows):
                if len(found) == most or (found and room < 0):
                    return found, found[-1]
                found.append(row)
                room -= sum(len(each["html"]) for each in (row["live"], row["next"]) if each)
        return found, None

    def tag(self) -> str:
        """Return the entity tag, from everything that affects the feed's bytes."""
        # Includes the first page beyond the feed: it decides whether the feed has a next link.
        rows = map(_with_next, self._read(self._site["feed_items"] + 1, OF_TAG))
        shown = [[row["_id"], pages.shown_number(row, self._now)] for row in rows]
        parts: list[Any] = [__version__, self._form, *self._listed, self._query.cursor]
        settings_here = self._runtime.settings
        parts += [self._site["version"], shown, settings_here.public_url]
        # The key signs the feed's cursors: another key outdates a stored copy.
        keys = settings_here.signing_keys
        digest = signing.state_tag(b"feed\0" + orjson.dumps(parts), keys, _TAG_BYTES)
        return f'"{digest.hex()}"'

    def feed(self, most: int) -> Feed:
        """Return the feed with at most `most` entries."""
        nodes, last = self._pages(min(most, self._site["feed_items"]))
        public_url, site = self._runtime.settings.public_url, self._site
        entries = entries_of(nodes, site, public_url, self._now)
        following = self._cursors.following(lists.place_of(last) if last else None)
        first_url = self._url()
        return Feed(
            id=feed_id(site, self._query.type, self._query.tag),
            title=self._title(),
            home_url=f"{site['base_url']}/",
            url=self._url(self._query.cursor),
            first_url=first_url,
            next_url=self._url(following) if following else None,
            language=site["language"],
            author=site["author"],
            updated=max((entry.updated for entry in entries), default=site["changed"]),
            entries=entries,
        )

    def _title(self) -> str:
        further = [each for each in (self._query.type, self._query.tag) if each]
        return ": ".join([self._site["title"], *further])

    def _url(self, cursor: str | None = None) -> str:
        base = feeds_of(self._runtime.settings.public_url, self._site["_id"])[self._form]
        given = {"type": self._query.type, "tag": self._query.tag, "cursor": cursor}
        query = urlencode({name: value for name, value in given.items() if value})
        return f"{base}?{query}" if query else base


def _with_next(row: ContentNode) -> ContentNode:
    """Return a page with `next` null if it has no next edition.

    A read from the index alone yields an object without an instant as `next`.
    """
    following = row.get("next")
    return row if following and following.get("shown_from") else {**row, "next": None}
