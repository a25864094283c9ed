"""Commento and Commento++: the JSON of their export, with the commenters after the comments."""

from collections.abc import Iterator
from typing import BinaryIO

from chalicelib.comments.importing.formats.cleaning import (
    author_of,
    is_true,
    key_of,
    number_of,
    page_key_of,
    text_of,
    url_of,
    votes_of_score,
)
from chalicelib.comments.importing.formats.comments_json import (
    Record,
    Threads,
    every_value,
    id_and_time,
    items_of,
)
from chalicelib.comments.importing.formats.json_values import TOO_LARGE, JsonFile, JsonPart
from chalicelib.comments.importing.shapes import (
    ImportedAuthor,
    ImportedComment,
    ImportedState,
    Item,
)
from chalicelib.foreign.html_markdown import markdown_of
from chalicelib.foreign.spools import Shelf, Spool

_COMMENTS, _COMMENTERS = ("comments", "*"), ("commenters", "*")
_ROOT = "root"
_ANONYMOUS = "anonymous"
_STATES: dict[str, ImportedState] = {
    "approved": "visible",
    "": "visible",
    "unapproved": "pending",
    "flagged": "pending",
}


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield the comments of an export, each page before its first comment."""
    with Shelf() as commenters, Spool() as comments:
        for found in every_value(JsonFile(stream), {_COMMENTS, _COMMENTERS}):
            if found.path == _COMMENTERS:
                # The file repeats a person for each of their comments.
                if isinstance(found.value, dict):
                    commenters.put(key_of(found.value.get("commenterHex")), found.value)
            else:
                is_too_large = found.value is TOO_LARGE
                value = None if is_too_large else found.value
                comments.add([found.line, found.sample, is_too_large, value])
        reader = _Reader(commenters)
        for line, sample, is_too_large, value in comments.take():
            found = JsonPart(_COMMENTS, TOO_LARGE if is_too_large else value, line, sample)
            yield from items_of(found, reader.items)


class _Reader:
    def __init__(self, commenters: Shelf) -> None:
        self._commenters = commenters
        self._threads = Threads()

    def items(self, record: Record) -> Iterator[Item]:
        """Yield a comment; before the first comment of a thread, yield the thread."""
        path = text_of(record.get("url")) or text_of(record.get("path"))
        # The path of a site's home page is empty.
        is_page = record.get("path") is not None or bool(path)
        path = path or "/"
        thread = page_key_of(f"{text_of(record.get('domain'))}{path}") if is_page else ""
        comment = self._comment(record, thread)
        yield from self._threads.start(thread, url_of(path))
        yield comment

    def _comment(self, record: Record, thread: str) -> ImportedComment:
        key, posted = id_and_time(record.get("commentHex"), record.get("creationDate"))
        is_deleted = is_true(record.get("deleted"))
        parent = key_of(record.get("parentHex"))
        ups, downs = votes_of_score(number_of(record.get("score")))
        state = _STATES.get(text_of(record.get("state")).lower(), "pending")
        text = text_of(record.get("markdown")) or markdown_of(text_of(record.get("html")))
        return ImportedComment(
            thread=thread,
            key=key,
            parent=None if parent in {"", _ROOT} else parent,
            posted=posted,
            edited=None,
            author=None if is_deleted else self._author(key_of(record.get("commenterHex"))),
            text="" if is_deleted else text,
            state="deleted" if is_deleted else state,
            ups=ups,
            downs=downs,
            votes=(),
        )

    def _author(self, account: str) -> ImportedAuthor | None:
        if account in {"", _ANONYMOUS}:
            return None
        known = self._commenters.get(account) or {}
        return author_of(known.get("name"), account=account, email=known.get("email"))
