"""The shapes that all parsers yield, whatever system wrote the file.

A parser reads a stream once and holds a part of it at a time. A thread comes before its comments.
A comment may come before its parent, and its parent may be missing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Literal

ImportedState = Literal["visible", "pending", "hidden", "spam", "deleted"]
MAX_SAMPLE_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedThread:
    """A page with its discussion.

    key: unique in the file.
    url: an absolute https or http address, or a path; None: the file has none.
    own: the fields that only Plaza's own lines have (docs/imports.md).
    """

    key: str
    url: str | None
    title: str
    locked: bool
    own: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedAuthor:
    """A comment's author; `account` is a stable id in the other system, if there is an account."""

    account: str | None
    name: str
    email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedComment:
    """A comment of a thread that came earlier in the same stream.

    thread: the key of its thread. key: unique in its thread. parent: the key of a comment there.
    posted, edited: in UTC, to the second or more precise.
    author: None if the comment is deleted or anonymous.
    text: Markdown; empty if the comment is deleted.
    ups, downs: all votes, `votes` among them.
    votes: the voters that the file names, as pairs of an account and 1 or -1.
    root: the key of the topmost comment above; a reply whose parent is missing goes below it.
    own: the fields that only Plaza's own lines have (docs/imports.md).
    """

    thread: str
    key: str
    parent: str | None
    posted: datetime
    edited: datetime | None
    author: ImportedAuthor | None
    text: str
    state: ImportedState
    ups: int
    downs: int
    votes: tuple[tuple[str, int], ...]
    root: str | None = None
    own: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A part of the file that does not come over.

    reason: a stable code. where: its line or id. sample: its first MAX_SAMPLE_CHARACTERS.
    """

    reason: str
    where: str
    sample: str


Item = ImportedThread | ImportedComment | Skipped
# Yields the items of a file; raises BrokenFile at the first place that breaks the format.
Parser = Callable[[BinaryIO], Iterator[Item]]
