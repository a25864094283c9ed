"""Atom: a feed as XML (RFC 4287), page by page (RFC 5005)."""

import re
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.content.feeds.entries import Feed, FeedEntry

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NAMESPACE = "http://www.w3.org/2005/Atom"
# What XML 1.0 has no way to write (section 2.2).
_NO_CHARACTER = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def document(feed: Feed) -> str:
    """Return a feed as an XML document."""
    # Imported for the first feed: most containers make none.
    from xml.etree.ElementTree import Element, tostring

    root = Element("feed", {"xmlns": _NAMESPACE, "xml:lang": feed.language})
    _add(root, "id", feed.id)
    _add(root, "title", feed.title)
    _add(root, "updated", _time(feed.updated))
    _person(root, feed.author)
    _link(root, "self", feed.url, "application/atom+xml")
    _link(root, "alternate", feed.home_url, "text/html")
    _link(root, "first", feed.first_url, "application/atom+xml")
    if feed.next_url:
        _link(root, "next", feed.next_url, "application/atom+xml")
    for entry in feed.entries:
        _entry(root, entry)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode")


def _entry(root: "Element", entry: FeedEntry) -> None:
    element = _add(root, "entry")
    _add(element, "id", entry.id)
    _add(element, "title", entry.title)
    _add(element, "published", _time(entry.published))
    _add(element, "updated", _time(entry.updated))
    _person(element, entry.author)
    _link(element, "alternate", entry.url, "text/html")
    for tag in entry.tags:
        _add(element, "category", term=tag)
    if entry.summary:
        _add(element, "summary", entry.summary)
    _add(element, "content", entry.html, type="html")


def _person(parent: "Element", name: str) -> None:
    _add(_add(parent, "author"), "name", name)


def _link(parent: "Element", rel: str, href: str, kind: str) -> None:
    _add(parent, "link", rel=rel, href=href, type=kind)


def _add(parent: "Element", name: str, text: str = "", **attributes: str) -> "Element":
    from xml.etree.ElementTree import SubElement

    told = {key: _NO_CHARACTER.sub("", value) for key, value in attributes.items()}
    element = SubElement(parent, name, told)
    element.text = _NO_CHARACTER.sub("", text) or None
    return element


def _time(at: datetime) -> str:
    """Return a time as RFC 3339 has it."""
    return at.isoformat().replace("+00:00", "Z")
