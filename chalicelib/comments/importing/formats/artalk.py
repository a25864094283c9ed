"""Artalk: artrans, an array of comments whose fields are all texts."""

from collections.abc import Iterator
from typing import BinaryIO

from chalicelib.comments.importing.formats.cleaning import (
    author_of,
    is_true,
    key_of,
    line_of,
    number_of,
    page_key_of,
    text_of,
    url_of,
)
from chalicelib.comments.importing.formats.comments_json import (
    Record,
    Threads,
    every_record,
    id_and_time,
    items_of,
    markdown_or_html,
)
from chalicelib.comments.importing.shapes import ImportedComment, Item


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield the comments of an export, each page before its first comment."""
    threads = Threads()
    for found in every_record(stream):
        yield from items_of(found, lambda record: _items(record, threads))


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
    parent = key_of(record.get("rid"))
    return ImportedComment(
        thread=thread,
        key=key,
        parent=None if parent in {"", "0"} else parent,
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
