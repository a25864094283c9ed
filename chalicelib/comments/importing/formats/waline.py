"""Waline: the JSON of its export, with a table of comments and a table of users."""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from chalicelib.comments.importing.formats.cleaning import (
    author_of,
    id_or_none,
    number_of,
    page_key_of,
    text_of,
    url_of,
)
from chalicelib.comments.importing.formats.comments_json import (
    Record,
    Threads,
    every_value,
    id_and_time,
    items_of,
    markdown_or_html,
)
from chalicelib.comments.importing.formats.json_values import JsonFile
from chalicelib.comments.importing.shapes import ImportedComment, ImportedState, Item

_COMMENTS = ("data", "Comment", "*")
# A plain array of comments, as a database exports them.
_BARE = ("*",)
_STATES: dict[str, ImportedState] = {
    "": "visible",
    "approved": "visible",
    "waiting": "pending",
    "spam": "spam",
}
# Waline begins a reply with a link: the name of the parent's author, and a fragment of the page.
_ANSWERED = re.compile(r"\A\s*\[@[^\]\n]*\]\(#[^)\n]*\)\s*[:\uff1a,\uff0c]?\s*")


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield the comments of an export, each page before its first comment."""
    threads = Threads()
    for found in every_value(JsonFile(stream), {_COMMENTS, _BARE}):
        yield from items_of(found, lambda record: _items(record, threads))


def _items(record: Record, threads: Threads) -> Iterator[Item]:
    path = text_of(record.get("url")).strip()
    thread = page_key_of(path)
    comment = _comment(record, thread)
    yield from threads.start(thread, url_of(path))
    yield comment


def _comment(record: Record, thread: str) -> ImportedComment:
    key, posted = id_and_time(
        _first(record, "objectId", "id", "_id"),
        _first(record, "insertedAt", "createdAt", "created_at"),
    )
    return ImportedComment(
        thread=thread,
        key=key,
        parent=id_or_none(record.get("pid")) or id_or_none(record.get("rid")),
        posted=posted,
        # A vote changes the time of the last update, too.
        edited=None,
        author=author_of(
            record.get("nick"), account=id_or_none(record.get("user_id")), email=record.get("mail")
        ),
        text=_ANSWERED.sub("", markdown_or_html(record.get("comment")), count=1)
        if record.get("pid")
        else markdown_or_html(record.get("comment")),
        state=_STATES.get(text_of(record.get("status")).lower(), "pending"),
        ups=max(number_of(record.get("like")), 0),
        downs=0,
        votes=(),
        # Waline deletes a comment with its direct replies, but leaves the replies to these.
        root=id_or_none(record.get("rid")),
    )


def _first(record: Record, *names: str) -> Any:
    return next((record[each] for each in names if record.get(each)), None)
