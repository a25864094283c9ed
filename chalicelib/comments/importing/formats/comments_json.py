"""Steps of all JSON formats: read records, skip and report unusable records, start threads."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO

from chalicelib.comments.importing.formats.cleaning import key_of, skip, text_of
from chalicelib.comments.importing.formats.json_values import TOO_LARGE, JsonFile, JsonPart, Path
from chalicelib.comments.importing.shapes import ImportedThread, Item
from chalicelib.foreign.html_markdown import markdown_of
from chalicelib.foreign.moments import moment_of
from chalicelib.foreign.spools import Seen

Record = Mapping[str, Any]
_IS_HTML = re.compile(
    r"\s*<(?:p|div|blockquote|ul|ol|pre|h[1-6]|span)\b.*>\s*", re.DOTALL | re.IGNORECASE
)


class Unusable(Exception):
    """The import leaves out a record; `reason` is a stable code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def record_of(found: JsonPart) -> Record:
    """Return a value as a record; raises Unusable."""
    if found.value is TOO_LARGE:
        raise Unusable("too_large")
    if not isinstance(found.value, Mapping):
        raise Unusable("no_record")
    return found.value


def items_of(found: JsonPart, make: Callable[[Record], Iterator[Item]]) -> Iterator[Item]:
    """Yield the items of a record; a Skipped with the reason if it is unusable."""
    try:
        yield from make(record_of(found))
    except Unusable as fault:
        yield skip(fault.reason, f"line {found.line}", found.sample)


def every_value(
    file: JsonFile, paths: Collection[Path], ends: Collection[Path] = ()
) -> Iterator[JsonPart]:
    """Yield the parts at these paths of each value of a file; raises BrokenFile for an empty file.

    `ends` as in `JsonFile.find`.
    """
    if not file.next_character():
        raise file.fail("the file is empty")
    while file.next_character():
        yield from file.find(paths, ends)


def every_record(stream: BinaryIO) -> Iterator[JsonPart]:
    """Yield the elements of an array, or the values of a file without an array.

    Raises BrokenFile for an empty file.
    """
    file = JsonFile(stream)
    return every_value(file, {("*",) if file.next_character() == "[" else ()})


def parse_records(
    stream: BinaryIO, make: Callable[[Record, "Threads"], Iterator[Item]]
) -> Iterator[Item]:
    """Yield the items of every record of a file; raises BrokenFile for an empty file."""
    threads = Threads()
    for found in every_record(stream):
        yield from items_of(found, lambda record: make(record, threads))


def id_and_time(key: Any, posted: Any) -> tuple[str, datetime]:
    """Return the id of a comment and the time of its posting; raises Unusable without them."""
    name, moment = key_of(key), moment_of(posted)
    if not name:
        raise Unusable("no_id")
    if moment is None:
        raise Unusable("no_time")
    return name, moment


class Threads:
    """Starts each thread once, in a file that repeats the page in every record."""

    def __init__(self) -> None:
        self._seen = Seen()

    def start(
        self, key: str, url: str | None, title: str = "", *, locked: bool = False
    ) -> Iterator[ImportedThread]:
        """Yield a thread at its first record; raises Unusable without a key."""
        if not key:
            raise Unusable("no_address")
        if self._seen.is_new(key):
            yield ImportedThread(key=key, url=url, title=title, locked=locked)


def markdown_or_html(value: Any) -> str:
    """Return a text as Markdown: converted if it is in HTML blocks, or else as it is."""
    text = text_of(value)
    return markdown_of(text) if _IS_HTML.fullmatch(text) else text
