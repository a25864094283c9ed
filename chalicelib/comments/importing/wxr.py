"""The discussions of a site as WXR files, which Disqus and WordPress import.

Disqus takes files of at most 50 MB. A discussion that continues in the next file repeats its
identifier there. The numbers of comments rise through all files.
"""

import hashlib
import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from chalicelib.comments.errors import CommentTooLarge
from chalicelib.comments.importing.exporting import Line
from chalicelib.comments.rendered import render_text
from chalicelib.runtime import Runtime

MAX_FILE_BYTES = 50_000_000
_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"
  xmlns:content="http://purl.org/rss/1.0/modules/content/"
  xmlns:dsq="http://www.disqus.com/"
  xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:wp="http://wordpress.org/export/1.2/">
<channel>
<wp:wxr_version>1.2</wp:wxr_version>
"""
_ITEM_END = "</item>\n"
_FOOT = "</channel>\n</rss>\n"
_END_BYTES = len(_ITEM_END + _FOOT)
# WXR has no state for hidden comments: after the import, they wait like pending comments.
APPROVED = {"visible": "1", "pending": "0", "hidden": "0", "spam": "spam", "deleted": "trash"}
# XML 1.0 excludes these characters, even as references.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_DIGEST_CHARACTERS = 16


def html_of(runtime: Runtime, site: str, text: str) -> str:
    """Return the HTML of a comment's text; the escaped text if the HTML would be too large."""
    try:
        return render_text(runtime, site, text, is_new=False)
    except CommentTooLarge:
        return f"<p>{html.escape(text, quote=False)}</p>\n"


class FilePart(NamedTuple):
    """A part of a file's bytes; `file` is the file's number, from 1."""

    file: int
    content: bytes


def parts_of(
    lines: Iterable[Line], html_of: Callable[[str], str], most_bytes: int = MAX_FILE_BYTES
) -> Iterator[FilePart]:
    """Yield the parts of the WXR files for an export's lines; at least one file.

    `html_of` returns the HTML of a comment's text. The files omit removed comments, and discussions
    without other comments. A file exceeds `most_bytes` only if a single comment does not fit.
    """
    return _Writing(html_of, most_bytes).parts(lines)


class _Writing:
    def __init__(self, html_of: Callable[[str], str], most_bytes: int) -> None:
        self._html_of = html_of
        self._most_bytes = most_bytes
        self._file = 1
        self._bytes = 0
        # The opening of the current `<item>`, and whether the current file contains it.
        self._item = ""
        self._is_in_item = False
        self._numbers: dict[str, int] = {}
        self._last_number = 0

    def parts(self, lines: Iterable[Line]) -> Iterator[FilePart]:
        yield self._part(_HEAD)
        node: Line = {}
        for line in lines:
            if line["kind"] == "node":
                yield from self._end_item()
                node, self._item, self._numbers = line, "", {}
            elif line["kind"] == "comment" and line["state"] in APPROVED:
                self._item = self._item or _item(node, line)
                yield from self._comment(line)
        yield from self._end_item()
        yield self._part(_FOOT)

    def _comment(self, line: Line) -> Iterator[FilePart]:
        self._last_number += 1
        self._numbers[line["id"]] = self._last_number
        # Prefer the comment that this comment replies to; if no file has that comment, the parent.
        answered = (line.get("reply_to"), line["parent"])
        above = next((self._numbers[each] for each in answered if each in self._numbers), 0)
        text = _comment(line, self._last_number, above, self._html_of)
        more = len((text if self._is_in_item else self._item + text).encode())
        if self._bytes + more + _END_BYTES > self._most_bytes and self._bytes > len(_HEAD):
            yield from self._end_item()
            yield self._part(_FOOT)
            self._file, self._bytes = self._file + 1, 0
            yield self._part(_HEAD)
        if not self._is_in_item:
            self._is_in_item = True
            yield self._part(self._item)
        yield self._part(text)

    def _end_item(self) -> Iterator[FilePart]:
        if self._is_in_item:
            self._is_in_item = False
            yield self._part(_ITEM_END)

    def _part(self, text: str) -> FilePart:
        content = text.encode()
        self._bytes += len(content)
        return FilePart(self._file, content)


def _item(node: Line, first: Line) -> str:
    """Return the opening of a discussion's `<item>`, dated by its first comment."""
    is_closed = node["locked"]
    return (
        "<item>\n"
        f"<title>{_escape(node['title'])}</title>\n"
        f"<link>{_escape(node['url'] or '')}</link>\n"
        "<content:encoded></content:encoded>\n"
        f"<dsq:thread_identifier>{_escape(node['id'])}</dsq:thread_identifier>\n"
        f"<wp:post_date>{_time(first['posted'])}</wp:post_date>\n"
        f"<wp:post_date_gmt>{_time(first['posted'])}</wp:post_date_gmt>\n"
        "<wp:post_type>post</wp:post_type>\n"
        "<wp:status>publish</wp:status>\n"
        f"<wp:comment_status>{'closed' if is_closed else 'open'}</wp:comment_status>\n"
    )


def _comment(line: Line, number: int, above: int, html_of: Callable[[str], str]) -> str:
    by: Mapping[str, Any] = line["author"] or {"id": "", "name": ""}
    content = html_of(line["text"]) if line["text"] else ""
    return (
        "<wp:comment>\n"
        f"<wp:comment_id>{number}</wp:comment_id>\n"
        f"<wp:comment_author>{_escape(by['name'])}</wp:comment_author>\n"
        f"<wp:comment_author_email>{_address(by['id'])}</wp:comment_author_email>\n"
        "<wp:comment_author_url></wp:comment_author_url>\n"
        "<wp:comment_author_IP></wp:comment_author_IP>\n"
        f"<wp:comment_date>{_time(line['posted'])}</wp:comment_date>\n"
        f"<wp:comment_date_gmt>{_time(line['posted'])}</wp:comment_date_gmt>\n"
        f"<wp:comment_content>{_cdata(content)}</wp:comment_content>\n"
        f"<wp:comment_approved>{APPROVED[line['state']]}</wp:comment_approved>\n"
        f"<wp:comment_parent>{above}</wp:comment_parent>\n"
        "</wp:comment>\n"
    )


def _address(person: str) -> str:
    """Return an undeliverable address, the same for all comments of a person."""
    if not person:
        return ""
    digest = hashlib.sha256(person.encode(errors="replace")).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{digest}@people.invalid"


def _time(instant: str) -> str:
    """Return an ISO 8601 instant as WordPress writes it: `YYYY-MM-DD hh:mm:ss`, in UTC."""
    return instant[:19].replace("T", " ")


def _escape(text: str) -> str:
    return html.escape(_FORBIDDEN.sub("", text), quote=False)


def _cdata(text: str) -> str:
    """Return a text as CDATA; each `]]>` in the text splits the section in two."""
    return f"<![CDATA[{_FORBIDDEN.sub('', text).replace(']]>', ']]]]><![CDATA[>')}]]>"
