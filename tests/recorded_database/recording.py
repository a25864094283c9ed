"""A database as a release wrote it, with messages, cursors and answers of that release."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bson import json_util
from pymongo.database import Database

from chalicelib.database import Document

FOLDER = Path(__file__).parent
Caller = Mapping[str, Any] | None


@dataclass(frozen=True)
class RecordedCollection:
    """A collection's options, indexes and documents."""

    options: Document
    indexes: list[Document]
    documents: list[Document]


@dataclass(frozen=True)
class RecordedAnswer:
    """An answer to a GET of a caller, whose claims stand without `exp`."""

    caller: Caller
    path: str
    status: int
    body: Any


@dataclass(frozen=True)
class RecordedListing:
    """The first two pages of a listing at `limit=1`, and the cursor between them."""

    caller: Caller
    path: str
    cursor: str
    first: Any
    second: Any


@dataclass(frozen=True)
class RecordedAudit:
    """A command's answer, after all owed work was done."""

    command: str
    event: dict[str, Any]
    answer: dict[str, Any]


@dataclass(frozen=True)
class Recording:
    """All that a release left behind at an instant.

    `messages` are bodies by queue, as they lay there; `owed` are ids of things with work to do.
    """

    instant: datetime
    collections: dict[str, RecordedCollection]
    messages: dict[str, list[str]]
    owed: dict[str, Any]
    listings: dict[str, RecordedListing]
    reads: list[RecordedAnswer]
    audits: list[RecordedAudit]


def read(version: str) -> Recording:
    """Return the recording of a release."""
    collections = json_util.loads(_unpack(f"{version}.documents"))
    answers = json.loads(_unpack(f"{version}.answers"))
    return Recording(
        instant=datetime.fromisoformat(answers["instant"]),
        collections={name: RecordedCollection(**each) for name, each in collections.items()},
        messages=answers["messages"],
        owed=answers["owed"],
        listings={name: RecordedListing(**each) for name, each in answers["listings"].items()},
        reads=[RecordedAnswer(**each) for each in answers["reads"]],
        audits=[RecordedAudit(**each) for each in answers["audits"]],
    )


def _unpack(name: str) -> str:
    return gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()).decode()


def make_collections(database: Database[Document], recording: Recording) -> None:
    """Make the release's collections, with its validators and indexes."""
    for name, each in recording.collections.items():
        database.command({"create": name, **each.options})
        if each.indexes:
            database.command({"createIndexes": name, "indexes": each.indexes})


def fill_collections(database: Database[Document], recording: Recording) -> None:
    """Store the release's documents as they lay there, whatever a validator says."""
    for name, each in recording.collections.items():
        database[name].delete_many({})
        database[name].insert_many(each.documents, bypass_document_validation=True)


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield each place where a new answer lacks, or changes, a value of the old one."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            if name in new:
                yield from differences(value, new[name], f"{place}.{name}")
            else:
                yield f"{place}.{name} is gone"
    elif isinstance(old, list) and isinstance(new, list):
        yield from _differences_of_lists(old, new, place)
    elif old != new:
        yield f"{place}: {old!r:.200} -> {new!r:.200}"


def _differences_of_lists(old: list[Any], new: list[Any], place: str) -> Iterator[str]:
    """Pair elements in order; where lengths differ, an old element with the first that has it."""
    if len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, f"{place}[{number}]")
        return
    rest = list(new)
    for number, before in enumerate(old):
        fits = (at for at, after in enumerate(rest) if not any(differences(before, after)))
        at = next(fits, None)
        if at is None:
            yield f"{place}[{number}] is gone: {before!r:.200}"
            continue
        yield from (f"{place}: new {each!r:.200}" for each in rest[:at])
        rest = rest[at + 1 :]
    yield from (f"{place}: new {each!r:.200}" for each in rest)
