"""Reads files of other systems in tests."""

import io
from collections.abc import Iterable
from typing import Any

from chalicelib.comments.importing.formats.detection import PARSERS
from chalicelib.comments.importing.shapes import ImportedComment, ImportedThread, Item, Skipped
from tests.comments.importing.support.written_files import format_of, write


def read(name: str, data: bytes | str) -> list[Item]:
    """Return the items of a file."""
    raw = data.encode() if isinstance(data, str) else data
    return list(PARSERS[format_of(name)](io.BytesIO(raw)))


def written(name: str, count: int, words: str = "") -> bytes:
    """Return a file with a number of comments."""
    file = io.BytesIO()
    write(name, count, file, words)
    return file.getvalue()


def comments(items: Iterable[Item]) -> list[ImportedComment]:
    """Return the comments among items."""
    return [each for each in items if isinstance(each, ImportedComment)]


def comment(items: Iterable[Item]) -> ImportedComment:
    """Return the only comment among items."""
    (found,) = comments(items)
    return found


def threads(items: Iterable[Item]) -> list[ImportedThread]:
    """Return the threads among items."""
    return [each for each in items if isinstance(each, ImportedThread)]


def skipped(items: Iterable[Item]) -> list[tuple[str, str]]:
    """Return the reasons and samples of what was skipped."""
    return [(each.reason, each.sample) for each in items if isinstance(each, Skipped)]


def facts(found: ImportedComment, *names: str) -> tuple[Any, ...]:
    """Return some fields of a comment."""
    return tuple(getattr(found, name) for name in names)
