"""Disqus: the XML of its export."""

from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import parse_qs, urlsplit

from chalicelib.comments.importing.formats.cleaning import (
    author_of,
    is_true,
    key_of,
    line_of,
    skip,
    text_of,
    url_of,
)
from chalicelib.comments.importing.shapes import (
    ImportedAuthor,
    ImportedComment,
    ImportedState,
    ImportedThread,
    Item,
    Skipped,
)
from chalicelib.foreign.html_markdown import markdown_of
from chalicelib.foreign.moments import moment_of
from chalicelib.foreign.spools import Seen
from chalicelib.foreign.xml_elements import Element, elements

_NAMESPACES = {"http://disqus.com/disqus-internals": "dsq:", "http://disqus.com": ""}
_ID = "dsq:id"
_PATHS = frozenset({"disqus/thread", "disqus/post"})
_REDIRECT_HOSTS = frozenset({"disq.us", "disqus.com"})


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield the threads and the posts of an export."""
    threads, left_out = Seen(), Seen()
    for element in elements(stream, _NAMESPACES, _PATHS):
        key = key_of(element.attributes.get(_ID))
        where = f"line {element.line}, {element.name} {key}"
        if element.is_too_large:
            yield skip("too_large", where, "")
        elif element.name == "thread":
            item = _thread(element, key, where)
            (left_out if isinstance(item, Skipped) else threads).is_new(key)
            yield item
        else:
            thread = _reference(element, "thread")
            sample = element.text_of("message")
            if thread in threads:
                yield _comment(element, key, thread, where)
            else:
                reason = "thread_skipped" if thread in left_out else "unknown_thread"
                yield skip(reason, where, sample)


def _thread(element: Element, key: str, where: str) -> ImportedThread | Skipped:
    url = url_of(element.text_of("link"))
    title = line_of(element.text_of("title"))
    if not key or url is None:
        return skip("no_address", where, element.text_of("link") or title)
    if is_true(element.text_of("isDeleted")):
        return skip("thread_deleted", where, url)
    locked = is_true(element.text_of("isClosed"))
    return ImportedThread(key=key, url=url, title=title, locked=locked)


def _comment(element: Element, key: str, thread: str, where: str) -> ImportedComment | Skipped:
    posted = moment_of(element.text_of("createdAt"))
    if not key:
        return skip("no_id", where, element.text_of("message"))
    if posted is None:
        return skip("no_time", where, element.text_of("createdAt"))
    state = _state(element)
    is_deleted = state == "deleted"
    return ImportedComment(
        thread=thread,
        key=key,
        parent=_reference(element, "parent") or None,
        posted=posted,
        edited=None,
        author=None if is_deleted else _author(element),
        text="" if is_deleted else markdown_of(text_of(element.text_of("message")), link=_unwrap),
        state=state,
        ups=0,
        downs=0,
        votes=(),
    )


def _state(element: Element) -> ImportedState:
    if is_true(element.text_of("isDeleted")):
        return "deleted"
    if is_true(element.text_of("isSpam")):
        return "spam"
    is_approved = element.text_of("isApproved")
    return "pending" if is_approved and not is_true(is_approved) else "visible"


def _author(element: Element) -> ImportedAuthor | None:
    author = element.child("author")
    if author is None:
        return None
    is_anonymous = is_true(author.text_of("isAnonymous"))
    return author_of(
        author.text_of("name"),
        account=None if is_anonymous else author.text_of("username"),
        email=author.text_of("email"),
    )


def _reference(element: Element, name: str) -> str:
    found = element.child(name)
    return "" if found is None else key_of(found.attributes.get(_ID))


def _unwrap(url: str) -> str:
    """Return the address inside a Disqus redirect, without the signature; other addresses as is."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.hostname not in _REDIRECT_HOSTS or not parts.path.startswith("/url"):
        return url
    target = parse_qs(parts.query).get("url", [""])[0]
    plain, colon, _signature = target.rpartition(":")
    return (plain if colon and "//" in plain else target) or url
