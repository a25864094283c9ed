"""Atom documents of feeds (RFC 4287); entries may name the entry that they answer (RFC 4685)."""

import re
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.http import Text
from chalicelib.http.responses import MAX_BYTES

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class Answered(NamedTuple):
    """The entry that another entry answers: its permanent id, and its address."""

    id: str
    url: str


class FeedEntry(NamedTuple):
    """An entry of a feed, with its whole HTML and absolute links; `id` never changes, `url` may."""

    id: str
    url: str
    title: str
    summary: str | None
    html: str
    published: datetime
    updated: datetime
    author: str
    tags: tuple[str, ...] = ()
    answered: Answered | None = None


class Feed(NamedTuple):
    """A page of a feed.

    `first_url` None: the feed has no pages. `next_url` None: the last page. `author` empty: each
    entry names its own. `language` empty: unknown.
    """

    id: str
    title: str
    home_url: str
    url: str
    first_url: str | None
    next_url: str | None
    language: str
    author: str
    updated: datetime
    entries: tuple[FeedEntry, ...]
    home_type: str = "text/html"


class AtomFeed(Text):
    """200: a feed as Atom."""

    media_type = "application/atom+xml"
    max_bytes = MAX_BYTES


_NAMESPACE = "http://www.w3.org/2005/Atom"
_THREADING = "http://purl.org/syndication/thread/1.0"
# Characters that XML 1.0 cannot contain (section 2.2).
_NO_CHARACTER = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def atom_document(feed: Feed) -> str:
    """Return a feed as an XML document."""
    # Imported late: most containers make no feed.
    from xml.etree.ElementTree import Element, tostring

    root = Element("feed", _namespaces(feed))
    _add(root, "id", feed.id)
    _add(root, "title", feed.title)
    _add(root, "updated", _time(feed.updated))
    if feed.author:
        _person(root, feed.author)
    _link(root, "self", feed.url, "application/atom+xml")
    _link(root, "alternate", feed.home_url, feed.home_type)
    for rel, url in (("first", feed.first_url), ("next", feed.next_url)):
        if url:
            _link(root, rel, url, "application/atom+xml")
    for entry in feed.entries:
        _entry(root, entry)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode")


def _namespaces(feed: Feed) -> dict[str, str]:
    """Return the attributes of the root that every element inherits."""
    found = {"xmlns": _NAMESPACE, "xml:lang": feed.language}
    if any(entry.answered for entry in feed.entries):
        found["xmlns:thr"] = _THREADING
    return found


def _entry(root: "Element", entry: FeedEntry) -> None:
    element = _add(root, "entry")
    _add(element, "id", entry.id)
    _add(element, "title", entry.title)
    _add(element, "published", _time(entry.published))
    _add(element, "updated", _time(entry.updated))
    _person(element, entry.author)
    _link(element, "alternate", entry.url, "text/html")
    if entry.answered is not None:
        place, kind = entry.answered, "text/html"
        _add(element, "thr:in-reply-to", ref=place.id, href=place.url, type=kind)
    for tag in entry.tags:
        _add(element, "category", term=tag)
    if entry.summary:
        _add(element, "summary", entry.summary)
    _add(element, "content", entry.html, type="html")


def _person(parent: "Element", name: str) -> None:
    _add(_add(parent, "author"), "name", name)


def _link(parent: "Element", rel: str, href: str, kind: str) -> None:
    _add(parent, "link", rel=rel, href=href, type=kind)


def _add(parent: "Element", tag: str, text: str = "", **attributes: str) -> "Element":
    from xml.etree.ElementTree import SubElement

    told = {key: _NO_CHARACTER.sub("", value) for key, value in attributes.items()}
    element = SubElement(parent, tag, told)
    element.text = _NO_CHARACTER.sub("", text) or None
    return element


def _time(at: datetime) -> str:
    """Return a time in the format of RFC 3339."""
    return at.isoformat().replace("+00:00", "Z")
