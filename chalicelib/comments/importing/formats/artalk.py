"""Artalk: artrans, an array of comments whose fields are all texts."""

from collections.abc import Iterator
from typing import BinaryIO

from chalicelib.comments.importing.formats.cleaning import (
    author_of,
    id_or_none,
    is_true,
    line_of,
    number_of,
    page_key_of,
    text_of,
    url_of,
)
from chalicelib.comments.importing.formats.comments_json import (
    Record,
    Threads,
    id_and_time,
    markdown_or_html,
    parse_records,
)
from chalicelib.comments.importing.shapes import ImportedComment, Item


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield the comments of an export, each page before its first comment."""
    return parse_records(stream, _items)


def _items(record: Record, threads: Threads) -> Iterator[Item]:
    page = text_of(record.get("page_key")).strip()
    # Pages of several sites may have one key.
    thread = page_key_of(page and f"{text_of(record.get('site_name'))} {page}")
    comment = _comment(record, thread)
    locked = is_true(record.get("page_admin_only"))
    title = line_of(record.get("page_title"))
    yield from threads.start(thread, url_of(page), title, locked=locked)
    yield comment


def _comment(record: Record, thread: str) -> ImportedComment:
    key, posted = id_and_time(record.get("id"), record.get("created_at"))
    return ImportedComment(
        thread=thread,
        key=key,
        parent=id_or_none(record.get("rid")),
        posted=posted,
        # A vote changes the time of the last update, too.
        edited=None,
        author=author_of(record.get("nick"), email=record.get("email")),
        text=markdown_or_html(record.get("content")),
        state="pending" if is_true(record.get("is_pending")) else "visible",
        ups=max(number_of(record.get("vote_up")), 0),
        downs=max(number_of(record.get("vote_down")), 0),
        votes=(),
    )
