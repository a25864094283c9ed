"""Twikoo: the comments of its database, as an array or with a comment on each line."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from chalicelib.comments.importing.formats.cleaning import (
    author_of,
    email_of,
    is_true,
    key_of,
    number_of,
    page_key_of,
    text_of,
    url_of,
)
from chalicelib.comments.importing.formats.comments_json import (
    Record,
    Threads,
    id_and_time,
    parse_records,
)
from chalicelib.comments.importing.shapes import ImportedAuthor, ImportedComment, Item
from chalicelib.foreign.html_markdown import markdown_of
from chalicelib.foreign.moments import moment_of


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield the comments of an export, each page before its first comment."""
    return parse_records(stream, _items)


def _items(record: Record, threads: Threads) -> Iterator[Item]:
    path, address = text_of(record.get("url")).strip(), text_of(record.get("href")).strip()
    thread = page_key_of(path or address)
    comment = _comment(record, thread)
    yield from threads.start(thread, url_of(path) or url_of(address))
    yield comment


def _comment(record: Record, thread: str) -> ImportedComment:
    key, posted = id_and_time(record.get("_id") or record.get("id"), record.get("created"))
    edited = moment_of(record.get("updated"))
    liked = record.get("ups") or record.get("like")
    ups, downs = _voters(liked, 1), _voters(record.get("downs"), -1)
    known = {voter for voter, _ in ups}
    return ImportedComment(
        thread=thread,
        key=key,
        parent=key_of(record.get("pid")) or key_of(record.get("rid")) or None,
        posted=posted,
        edited=edited if edited and edited > posted else None,
        author=_author(record),
        text=markdown_of(text_of(record.get("comment"))),
        state="spam" if is_true(record.get("isSpam")) else "visible",
        ups=len(ups) or _total(liked),
        downs=len(downs),
        votes=(*ups, *(each for each in downs if each[0] not in known)),
        root=key_of(record.get("rid")) or None,
    )


def _author(record: Record) -> ImportedAuthor | None:
    """Return the author; without a mail address, the browser's id stands for the account."""
    email = email_of(record.get("mail"))
    account = None if email else record.get("uid")
    return author_of(record.get("nick"), account=account, email=email)


def _voters(value: Any, vote: int) -> tuple[tuple[str, int], ...]:
    users = dict.fromkeys(map(key_of, value)) if isinstance(value, list) else {}
    return tuple((user, vote) for user in users if user)


def _total(value: Any) -> int:
    return 0 if isinstance(value, list) else max(number_of(value), 0)
