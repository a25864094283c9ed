"""Rules of Atom, written from RFC 4287 and RFC 4685, and not from the writer of feeds."""

import re
import xml.etree.ElementTree as ET
from datetime import datetime
from urllib.parse import urlsplit

ATOM = "{http://www.w3.org/2005/Atom}"
IN_REPLY_TO = "{http://purl.org/syndication/thread/1.0}in-reply-to"
# A time as RFC 3339 has it, with the capitals that RFC 4287 asks for (3.3).
TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
)


def check_atom(text: bytes) -> ET.Element:
    """Hold a document to RFC 4287: what elements must, and may, be there, and how often."""
    root = ET.fromstring(text)  # noqa: S314 - our own
    assert root.tag == f"{ATOM}feed"
    once = {"id", "title", "updated"}
    _check(root, once, once | {"author", "link", "entry"})
    # A feed without an author has entries that each have one (4.1.1).
    assert len(root.findall(f"{ATOM}author")) <= 1
    assert sum(link.get("rel") == "self" for link in root.findall(f"{ATOM}link")) == 1
    entries = root.findall(f"{ATOM}entry")
    for entry in entries:
        allowed = once | {"author", "link", "published", "category", "summary", "content"}
        _check(entry, once | {"content"}, allowed | {IN_REPLY_TO})
        assert len(entry.findall(f"{ATOM}author")) == 1
        for answered in entry.findall(IN_REPLY_TO):
            assert urlsplit(answered.get("ref") or "").scheme
        (alternate,) = entry.findall(f"{ATOM}link")
        assert alternate.get("rel") == "alternate"
        content = entry.find(f"{ATOM}content")
        assert content is not None
        assert content.get("type") == "html"
        assert not list(content)
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == len(ids)
    for link in root.iter(f"{ATOM}link"):
        assert link.get("href")
    return root


def _check(parent: ET.Element, once: set[str], allowed: set[str]) -> None:
    names = [child.tag.removeprefix(ATOM) for child in parent]
    assert set(names) <= allowed
    assert all(names.count(name) == 1 for name in once)
    for name in ("published", "summary"):
        assert names.count(name) <= 1
    assert all(author.findtext(f"{ATOM}name") for author in parent.findall(f"{ATOM}author"))
    own_id = parent.findtext(f"{ATOM}id") or ""
    # An absolute IRI (RFC 3987): a scheme, and none of the characters that it must encode.
    assert urlsplit(own_id).scheme in {"tag", "urn"}
    assert not re.search(r"[\s<>\"{}|\\^`]", own_id)
    for name in ("updated", "published"):
        for time in parent.findall(f"{ATOM}{name}"):
            assert TIME.fullmatch(time.text or "")
            assert datetime.fromisoformat(time.text or "").tzinfo is not None
    # Of one type and one language, there is one alternate (4.1.1 and 4.1.2).
    alternates = [
        (link.get("type"), link.get("hreflang"))
        for link in parent.findall(f"{ATOM}link")
        if link.get("rel", "alternate") == "alternate"
    ]
    assert len(set(alternates)) == len(alternates)
    assert all(category.get("term") for category in parent.findall(f"{ATOM}category"))
