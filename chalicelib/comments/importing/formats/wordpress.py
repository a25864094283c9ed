"""WordPress: WXR 1.0 to 1.2, which other systems write as well."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import BinaryIO

from chalicelib.comments.importing.formats.cleaning import (
    author_of,
    id_or_none,
    key_of,
    line_of,
    page_key_of,
    skip,
    text_of,
    url_of,
)
from chalicelib.comments.importing.shapes import (
    ImportedComment,
    ImportedState,
    ImportedThread,
    Item,
    Skipped,
)
from chalicelib.foreign.entities import unescape
from chalicelib.foreign.html_markdown import markdown_of
from chalicelib.foreign.moments import moment_of
from chalicelib.foreign.people import account_of
from chalicelib.foreign.xml_elements import Element, elements

_NAMESPACES = {
    "http://wordpress.org/export/": "wp:",
    "https://wordpress.org/export/": "wp:",
    "http://www.disqus.com/": "dsq:",
}
_ITEM = "rss/channel/item"
_COMMENT = f"{_ITEM}/wp:comment"
_FIELDS = (
    "title",
    "link",
    "pubDate",
    "dsq:thread_identifier",
    "wp:post_id",
    "wp:post_date",
    "wp:post_date_gmt",
    "wp:comment_status",
)
_PATHS = frozenset({_COMMENT, *(f"{_ITEM}/{name}" for name in _FIELDS)})
_STATES: dict[str, ImportedState] = {
    "1": "visible",
    "approve": "visible",
    "approved": "visible",
    "": "visible",
    "0": "pending",
    "hold": "pending",
    "spam": "spam",
    "trash": "deleted",
    "post-trashed": "deleted",
}
_OF_READERS = frozenset({"", "comment", "review"})
_OF_SITES = frozenset({"pingback", "trackback"})


@dataclass(slots=True)
class _Page:
    """An item of the channel: its fields so far, and its key once its thread has come."""

    fields: dict[str, str] = field(default_factory=dict)
    key: str | None = None

    def get(self, name: str) -> str:
        return self.fields.get(name, "").strip()

    @property
    def posted(self) -> datetime | None:
        return moment_of(self.get("wp:post_date_gmt")) or moment_of(self.get("pubDate"))

    @property
    def offset(self) -> timedelta:
        """The site's local time minus UTC, from the item's two times; 0 without them."""
        local, utc = moment_of(self.get("wp:post_date")), moment_of(self.get("wp:post_date_gmt"))
        return local - utc if local and utc else timedelta()

    def html(self, text: str) -> str:
        """Return a name or a title as plain text: WordPress stores both as HTML.

        Files of Disqus and Plaza, which have no `wp:post_id`, have plain texts already.
        """
        return unescape(text) if self.get("wp:post_id") else text

    def thread(self) -> ImportedThread:
        """Return the item as a thread, and note its key."""
        link = self.get("link")
        named = (self.get(each) for each in ("wp:post_id", "dsq:thread_identifier"))
        self.key = page_key_of(next(filter(None, named), link))
        is_closed = self.get("wp:comment_status").lower() == "closed"
        title = line_of(self.html(self.get("title")))
        return ImportedThread(key=self.key, url=url_of(link), title=title, locked=is_closed)


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield each item that has comments, and its comments."""
    page = _Page()
    for element in elements(stream, _NAMESPACES, _PATHS, {_ITEM}):
        if element.path == _ITEM:
            page = _Page()
        elif element.path != _COMMENT:
            page.fields.setdefault(element.name, element.text)
        else:
            if page.key is None:
                thread = page.thread()
                if thread.key:
                    yield thread
            yield _comment(element, page)


def _comment(element: Element, page: _Page) -> ImportedComment | Skipped:
    key = key_of(element.text_of("wp:comment_id"))
    where = f"line {element.line}, comment {key}"
    text = element.text_of("wp:comment_content")
    kind = element.text_of("wp:comment_type").strip().lower()
    if reason := _reason_to_skip(element, page, key, kind):
        return skip(reason, where, text)
    posted = _posted(element, page)
    state = _STATES.get(element.text_of("wp:comment_approved").strip().lower(), "pending")
    if posted is None:
        return skip("no_time", where, text)
    is_deleted = state == "deleted"
    account = id_or_none(element.text_of("wp:comment_user_id"))
    author = author_of(
        page.html(element.text_of("wp:comment_author")),
        account=account and account_of(page.get("link"), account),
        email=element.text_of("wp:comment_author_email"),
    )
    return ImportedComment(
        thread=page.key or "",
        key=key,
        parent=id_or_none(element.text_of("wp:comment_parent")),
        posted=posted,
        edited=None,
        author=None if is_deleted else author,
        text="" if is_deleted else markdown_of(text_of(text.strip()), breaks=True),
        state=state,
        ups=0,
        downs=0,
        votes=(),
    )


def _reason_to_skip(element: Element, page: _Page, key: str, kind: str) -> str | None:
    if element.is_too_large:
        return "too_large"
    if not page.key:
        return "no_address"
    if not key:
        return "no_id"
    if kind in _OF_SITES:
        return "pingback"
    return None if kind in _OF_READERS else "no_comment"


def _posted(element: Element, page: _Page) -> datetime | None:
    return (
        moment_of(element.text_of("wp:comment_date_gmt"))
        or moment_of(element.text_of("wp:comment_date"), page.offset)
        or page.posted
    )
