"""The protocol of features that store personal data: to rename people, find and erase data."""

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
from chalicelib.identity import Principal
from chalicelib.jobs.outbox import StoredJob
from chalicelib.runtime import Runtime
from chalicelib.texts import ShownLine, ShownName

# Raises Unauthenticated for a guest after an account has claimed the guest's past.
CheckToken = Callable[[Runtime, Principal], None]


class Step(enum.Enum):
    """The result of a step of an erasure."""

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

    `where` is the filter in `rows`. `show` returns the export's entries of a document, without
    other people's private data. `not_shown` is the reason why the export shows none. `name` is
    unique and never changes, since cursors contain it.
    """

    name: str
    rows: MongoCollection[Any]
    where: Document
    show: Callable[[Any], Iterable[ExportEntry]] = lambda _document: ()
    not_shown: str = ""


class KeptText(TypedDict):
    """A kind of texts that an erasure leaves, although they may name the erased person."""

    where: Annotated[ShownLine, Field(description="The texts.")]
    reason: Annotated[ShownLine, Field(description="Why the erasure leaves them.")]


def entry(kind: str, /, **data: Any) -> ExportEntry:
    """Return an entry of an export."""
    return {"kind": kind, "data": data}


def job_entries(job: StoredJob) -> list[ExportEntry]:
    """Return the export's entry of a stored job: its type and the time of its note."""
    return [entry("job", type=job["errand"]["type"], noted_at=job["noted"])]


class PersonFeature(Protocol):
    """A feature with personal data. A repeated call is harmless, and repairs a crash."""

    def rename(self, runtime: Runtime, user_id: str, name: str) -> None:
        """Set every copy of a person's name."""
        ...

    def erase(self, runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
        """Delete documents that are a person's or name the person; one call is a bounded step.

        `until`: only documents written up to this time.
        """
        ...

    def traces(self, database: Database[Document], user_id: str) -> list[Trace]:
        """Return the traces of a person in this feature, also traces that match no document."""
        ...


@dataclass(frozen=True)
class People:
    """Every feature with personal data, in the order of an erasure.

    `name_of` returns a person's present name; None: Plaza stores none. `join` carries the past of a
    claimed person (site, id) to the claiming account. `check_token` raises Unauthenticated for a
    guest after an account has claimed the guest's past. `kept` lists the texts that no search by a
    person's id finds.
    """

    name_of: Callable[[Database[Document], str], str | None]
    join: Callable[[Runtime, str, str], None]
    check_token: CheckToken
    features: tuple[PersonFeature, ...]
    kept: tuple[KeptText, ...] = ()
