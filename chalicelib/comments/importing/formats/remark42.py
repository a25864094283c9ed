"""Remark42: its backup. The first line has users and pages; each further line has a comment."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from chalicelib.comments.importing.formats.cleaning import (
    author_of,
    email_of,
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
    every_value,
    id_and_time,
    items_of,
)
from chalicelib.comments.importing.formats.json_values import JsonFile
from chalicelib.comments.importing.shapes import ImportedComment, Item
from chalicelib.foreign.html_markdown import markdown_of
from chalicelib.foreign.moments import moment_of
from chalicelib.foreign.spools import Seen, Shelf

_USERS, _POSTS, _VERSION = ("users", "*"), ("posts", "*"), ("version",)
# The id of a guest is a hash of the name, and so no account: two Johns have the same id.
_GUEST = "anonymous_"
_DELETED_USER = "deleted"


def parse(stream: BinaryIO) -> Iterator[Item]:
    """Yield the comments of a backup, each page before its first comment."""
    file = JsonFile(stream)
    if not file.next_character():
        raise file.fail("the file is empty")
    has_version = False
    locked = Seen()
    with Shelf() as emails:
        for found in file.find({_USERS, _POSTS, _VERSION}):
            if found.path == _VERSION:
                has_version = True
            elif isinstance(found.value, Mapping):
                _note(found.path == _USERS, found.value, emails, locked)
        if not has_version:
            raise file.fail("the first line has no version")
        reader = _Reader(emails, locked)
        if file.next_character():
            for found in every_value(file, {()}):
                yield from items_of(found, reader.items)


def _note(is_user: bool, record: Record, emails: Shelf, locked: Seen) -> None:  # noqa: FBT001
    """Note the mail address of a user, or the key of a read-only page."""
    if not is_user:
        if is_true(record.get("read_only")):
            locked.is_new(page_key_of(record.get("url")))
        return
    details = record.get("details")
    email = email_of(details.get("email")) if isinstance(details, Mapping) else None
    if email:
        emails.put(key_of(record.get("id")), email)


class _Reader:
    def __init__(self, emails: Shelf, locked: Seen) -> None:
        self._emails, self._locked = emails, locked
        self._threads = Threads()

    def items(self, record: Record) -> Iterator[Item]:
        """Yield a comment; before the first comment of a thread, yield the thread."""
        locator = _part(record, "locator")
        thread = page_key_of(locator.get("url"))
        comment = self._comment(record, thread)
        title = line_of(record.get("title"))
        locked = thread in self._locked
        yield from self._threads.start(thread, url_of(locator.get("url")), title, locked=locked)
        yield comment

    def _comment(self, record: Record, thread: str) -> ImportedComment:
        key, posted = id_and_time(record.get("id"), record.get("time"))
        is_deleted = is_true(record.get("delete"))
        votes = tuple(
            (key_of(user), 1 if is_true(is_up) else -1)
            for user, is_up in _part(record, "votes").items()
            if key_of(user)
        )
        ups, downs = _totals(votes, number_of(record.get("score")))
        return ImportedComment(
            thread=thread,
            key=key,
            parent=key_of(record.get("pid")) or None,
            posted=posted,
            edited=moment_of(_part(record, "edit").get("time")),
            author=None if is_deleted else self._author(_part(record, "user")),
            text="" if is_deleted else _text(record),
            state="deleted" if is_deleted else "visible",
            ups=ups,
            downs=downs,
            votes=votes,
        )

    def _author(self, user: Record) -> Any:
        account = key_of(user.get("id"))
        if account == _DELETED_USER:
            return None
        return author_of(
            user.get("name"),
            account=None if account.startswith(_GUEST) else account,
            email=self._emails.get(account),
        )


def _text(record: Record) -> str:
    """Return the author's Markdown, or else the HTML converted to Markdown."""
    return text_of(record.get("orig")) or markdown_of(text_of(record.get("text")))


def _totals(votes: tuple[tuple[str, int], ...], score: int) -> tuple[int, int]:
    """Return the votes for and against; the rest of the score is from older, unnamed votes."""
    ups = sum(vote > 0 for _, vote in votes)
    downs = len(votes) - ups
    rest = score - (ups - downs)
    return ups + max(rest, 0), downs + max(-rest, 0)


def _part(record: Record, name: str) -> Record:
    value = record.get(name)
    return value if isinstance(value, Mapping) else {}
