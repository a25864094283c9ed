"""A log: how raw hits are kept. Four designs keep them, and one contract suite tests all."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypedDict

from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection

from chalicelib.analytics.hits import Dimension, StoredHit
from chalicelib.analytics.settings import LogName
from chalicelib.database import Document


class Span(NamedTuple):
    """Whose hits are read: a site's, from one instant on and before another, of one path or all."""

    site: str
    start: datetime
    end: datetime
    path: str | None = None


class Position(NamedTuple):
    """A place among hits in the order of their time."""

    ts: datetime
    id: str


class Size(TypedDict):
    """What a site has in a log; bytes are the site's share of the log's, without compression."""

    hits: int
    bytes: int
    index_bytes: int
    oldest: datetime | None


class Log(Protocol):
    """Where the hits of some sites are.

    `is_transactional` says that hits are kept in the transaction that counts them, where their ids
    say what is new. A log that cannot be written to in one is appended to before it, and receipts
    decide: it may hold a hit twice, and never lacks one that was counted. `can_forget` says that it
    deletes single hits.
    """

    name: LogName
    is_transactional: bool
    can_forget: bool

    def prepare(self, days: Sequence[datetime]) -> None:
        """Have everything there that hits of these days are written to."""
        ...

    def needs_receipt(self, hit: StoredHit) -> bool:
        """Return whether a row of this log cannot say by itself that a hit is new."""
        ...

    def known(self, session: ClientSession | None, hits: Sequence[StoredHit]) -> set[str]:
        """Return the ids of those hits that are kept; nothing where receipts decide."""
        ...

    def admit(self, session: ClientSession, hits: Sequence[StoredHit]) -> None:
        """Keep hits that are new, within the transaction that counts them."""
        ...

    def append(self, hits: Sequence[StoredHit]) -> None:
        """Keep hits, outside of any transaction; one that is kept already may be kept twice."""
        ...

    def aggregate(self, span: Span, stages: Sequence[Document]) -> Iterator[Any]:
        """Run the stages of a pipeline over the hits of a span, each of them once.

        A log of several parts runs them over each part, which are whole UTC days or all of them.
        """
        ...

    def read(self, span: Span, after: Position | None, limit: int) -> list[StoredHit]:
        """Return the first hits of a span after a position, by time and id."""
        ...

    def holds(self, day: datetime) -> bool:
        """Return whether nothing of a day has been pushed out by newer hits."""
        ...

    def forget(self, user: str, until: datetime | None = None) -> None:
        """Delete a user's hits; with `until`, only those up to then."""
        ...

    def of_user(self, user: str) -> list[tuple[MongoCollection[Any], Document]]:
        """Return where hits of a user may be, each with its filter."""
        ...

    def remove(self, site: str, path: str | None = None) -> None:
        """Delete a site's hits, of one path or all. Raises LogCannotForget for one path."""
        ...

    def forget_source(self, span: Span, dimension: Dimension, value: str) -> None:
        """Take a source out of the hits of a span. Raises LogCannotForget."""
        ...

    def trim(self, now: datetime) -> int:
        """Delete what is past its site's days; return how many parts were dropped."""
        ...

    def size(self, site: str) -> Size:
        """Return what a site has in the log."""
        ...
