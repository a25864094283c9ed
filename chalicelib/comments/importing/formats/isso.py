"""Isso: its SQLite database, and the JSON of its generic import."""

import re
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any, BinaryIO, cast
from urllib.parse import unquote_plus

from chalicelib.comments.importing.formats.cleaning import (
    author_of,
    key_of,
    line_of,
    number_of,
    page_key_of,
    skip,
    text_of,
    url_of,
)
from chalicelib.comments.importing.formats.comments_json import Record, Unusable, id_and_time
from chalicelib.comments.importing.formats.json_groups import groups
from chalicelib.comments.importing.formats.json_values import MAX_VALUE_CHARACTERS
from chalicelib.comments.importing.shapes import (
    ImportedComment,
    ImportedState,
    ImportedThread,
    Item,
)
from chalicelib.foreign.broken import BrokenFile
from chalicelib.foreign.entities import unescape
from chalicelib.foreign.moments import moment_of
from chalicelib.foreign.streams import chunks

SQLITE = b"SQLite format 3\x00"
_PENDING, _DELETED = 2, 4
# Some files have form-encoded titles: these have no blanks, but a `%XX`, or a `+` between letters
# (`C++` has none).
_FORM_ENCODED = re.compile(r"(?!.*\s).*(?:%[0-9A-Fa-f]{2}|\w\+\w).*", re.DOTALL)
_COLUMNS = (
    *("tid", "uri", "title", "id", "parent", "created", "modified", "mode", "text", "author"),
    *("email", "likes", "dislikes"),
)
_ROWS = """
    SELECT threads.id, threads.uri, threads.title, comments.id, parent, created, modified, mode,
        text, author, email, likes, dislikes
    FROM comments LEFT JOIN threads ON threads.id = comments.tid
    ORDER BY comments.tid, comments.id
"""
_TABLES = "SELECT name, type FROM sqlite_master WHERE lower(name) IN ('comments', 'threads')"
# The bound of a value in the database, in bytes: as large as for a JSON value.
_MOST_BYTES = 4 * MAX_VALUE_CHARACTERS
# Less than the import's lease. The first row takes longest: SQLite sorts all rows before it.
_SECONDS_A_ROW, _STEPS_A_LOOK = 45.0, 100_000


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield the threads of a database or of a file of JSON, each with its comments."""
    parts = chunks(stream)
    first = next(parts, b"")
    if first.startswith(SQLITE):
        yield from _database(first, parts)
    else:
        yield from _generic(cast("BinaryIO", Joined(first, parts)))


class Joined:
    """Chunks of bytes as a stream."""

    def __init__(self, first: bytes, others: Iterator[bytes]) -> None:
        self._first = first
        self._others = others

    def read(self, _size: int = -1) -> bytes:
        """Return the next chunk."""
        first, self._first = self._first, b""
        return first or next(self._others, b"")


def _database(first: bytes, others: Iterator[bytes]) -> Iterator[Item]:
    with tempfile.NamedTemporaryFile(suffix=".db") as copy:
        copy.write(first)
        for chunk in others:
            copy.write(chunk)
        copy.flush()
        if copy.tell() < _bytes_of(first):
            raise BrokenFile("the database", "the file ends early")
        try:
            address = f"file:{copy.name}?mode=ro&immutable=1"
            with closing(sqlite3.connect(address, uri=True)) as database:
                yield from _rows(database)
        except sqlite3.Error as fault:
            raise BrokenFile("the database", str(fault)) from None


def _bytes_of(head: bytes) -> int:
    """Return the size of a database by its header: the number of pages, times their size."""
    page_bytes = int.from_bytes(head[16:18], "big")
    # The two bytes have no room for 65,536; SQLite writes 1.
    return int.from_bytes(head[28:32], "big") * (page_bytes if page_bytes > 1 else 1 << 16)


def _guard(database: sqlite3.Connection) -> None:
    """Guard against a hostile file: distrust its computed columns, bound values, refuse views."""
    database.execute("PRAGMA trusted_schema = OFF")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    kinds = dict(database.execute(_TABLES))
    if set(kinds.values()) - {"table"}:
        raise BrokenFile("the database", "comments and threads are tables in Isso")


def _in_time(database: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the query; interrupt the query if a row takes too long."""
    ends = time.monotonic() + _SECONDS_A_ROW
    database.set_progress_handler(lambda: time.monotonic() > ends, _STEPS_A_LOOK)
    for row in database.execute(_ROWS):
        yield row
        ends = time.monotonic() + _SECONDS_A_ROW


def _rows(database: sqlite3.Connection) -> Iterator[Item]:
    database.text_factory = lambda value: value.decode(errors="replace")
    _guard(database)
    thread = None
    for row in _in_time(database):
        record = dict(zip(_COLUMNS, row, strict=True))
        where = f"comment {record['id']}"
        # Isso stores names as HTML, and texts as they were written.
        record["author"] = unescape(text_of(record["author"]))
        record["email"] = unescape(text_of(record["email"]))
        if record["tid"] is None:
            yield skip("unknown_thread", where, record["text"])
            continue
        if thread is None or thread.key != str(record["tid"]):
            thread = ImportedThread(
                key=str(record["tid"]),
                url=url_of(record["uri"]),
                title=line_of(record["title"]),
                locked=False,
            )
            yield thread
        try:
            yield _comment(record, thread.key)
        except Unusable as fault:
            yield skip(fault.reason, where, record["text"])


def _generic(stream: BinaryIO) -> Iterator[Item]:
    for group in groups(stream, [("*",)], ("id", "title"), ("comments", "*")):
        uri = group.head.get("id")
        key = page_key_of(uri)
        if not key:
            yield skip("no_address", f"line {group.line}", group.head.get("title"))
            continue
        title = line_of(group.head.get("title"))
        title = line_of(unquote_plus(title)) if _FORM_ENCODED.fullmatch(title) else title
        yield ImportedThread(key=key, url=url_of(uri), title=title, locked=False)
        yield from group.items(partial(_items, thread=key))


def _items(record: Record, thread: str) -> Iterator[Item]:
    yield _comment(record, thread)


def _comment(record: Record, thread: str) -> ImportedComment:
    key, posted = id_and_time(record.get("id"), record.get("created"))
    state = _state(record)
    is_deleted = state == "deleted"
    edited = moment_of(record.get("modified"))
    return ImportedComment(
        thread=thread,
        key=key,
        parent=_parent(record.get("parent")),
        posted=posted,
        edited=edited if edited and edited > posted else None,
        author=None if is_deleted else author_of(record.get("author"), email=record.get("email")),
        text="" if is_deleted else text_of(record.get("text")),
        state=state,
        ups=max(number_of(record.get("likes")), 0),
        downs=max(number_of(record.get("dislikes")), 0),
        votes=(),
    )


def _state(record: Record) -> ImportedState:
    mode = number_of(record.get("mode", 1))
    return "pending" if mode == _PENDING else "deleted" if mode == _DELETED else "visible"


def _parent(value: Any) -> str | None:
    return key_of(value) or None
