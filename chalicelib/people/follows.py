"""How a feature follows a person: what it renames, erases and finds of them."""

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple, Protocol

from pydantic import Field
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from typing_extensions import TypedDict

from chalicelib.database import Document
from chalicelib.jobs.outbox import StoredJob
from chalicelib.runtime import Runtime
from chalicelib.texts import ShownName


class Step(enum.Enum):
    """How a step of an erasure ended."""

    DONE = "nothing is left"
    MORE = "another step has something to delete"
    BUSY = "something is being moved, or has only now stopped"


class ExportEntry(TypedDict):
    """Something that is stored of a person."""

    kind: Annotated[
        ShownName,
        Field(
            description="What it is: a comment, a post, a circle and so on.", examples=["comment"]
        ),
    ]
    data: Annotated[
        dict[str, Any],
        Field(
            description="Its fields, named as in the answers of the API.",
            examples=[{"post_id": "aaneGAECAwQFBgcI", "text": "Sounds good"}],
        ),
    ]


class Trace(NamedTuple):
    """The documents of a collection that are a person's or name the person.

    `show` returns what an export has of a document, and never what is others' alone. A trace of
    which nothing is shown says why in `not_shown`. `name` is unique, and part of cursors: it never
    changes.
    """

    name: str
    rows: MongoCollection[Any]
    where: Document
    show: Callable[[Any], Iterable[ExportEntry]] = lambda _document: ()
    not_shown: str = ""


def entry(kind: str, /, **data: Any) -> ExportEntry:
    """Return an entry of an export."""
    return {"kind": kind, "data": data}


def job_entries(job: StoredJob) -> list[ExportEntry]:
    """Return what an export has of a job."""
    return [entry("job", type=job["errand"]["type"], noted_at=job["noted"])]


class Follows(Protocol):
    """A feature's part of a person. Every step may be repeated, and repairs a crash."""

    def rename(self, runtime: Runtime, user_id: str, name: str) -> None:
        """Make every copy of a person's name this one."""
        ...

    def erase(self, runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
        """Delete what is a person's or names the person, at most one step of it.

        With `until`, only what was written by then.
        """
        ...

    def traces(self, database: Database[Document], user_id: str) -> list[Trace]:
        """Return where documents are that are a person's or name the person."""
        ...


@dataclass(frozen=True)
class People:
    """Every feature that follows a person, in the order of an erasure; and who has the names.

    `name_of` returns a person's name of today, or None if Plaza stores none.
    """

    name_of: Callable[[Database[Document], str], str | None]
    features: tuple[Follows, ...]
