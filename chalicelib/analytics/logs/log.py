"""A log stores raw hits. It has four designs, and one contract suite tests all."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypedDict

from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection

from chalicelib.analytics.hits import Dimension, StoredHit
from chalicelib.analytics.settings import LogName
from chalicelib.database import Document


class Span(NamedTuple):
    """A site's hits from `start` on and before `end`; with a path, of this path alone."""

    site: str
    start: datetime
    end: datetime
    path: str | None = None


class HitPosition(NamedTuple):
    """A place among hits in the order of their time."""

    ts: datetime
    id: str


class LogUsage(TypedDict):
    """A site's part of a log.

    hits: at most `rows.MOST_COUNTED` for each collection.
    bytes: an estimate by the site's share of the documents, without compression. Except in a time
    series, the share comes from `hits`: beyond that bound the estimate is too small.
    """

    hits: int
    bytes: int
    index_bytes: int
    oldest: datetime | None


class Log(Protocol):
    """The stored hits of some sites.

    is_transactional: the transaction that counts hits stores them too, and their ids show which
    are new. Otherwise the worker appends the hits before the transaction, and receipts show which
    are new. Such a log may have a hit twice, and never lacks a counted hit.
    can_forget: it deletes single hits.
    """

    name: LogName
    is_transactional: bool
    can_forget: bool

    def prepare(self, days: Sequence[datetime]) -> None:
        """Make the collections for hits of these days."""
        ...

    def needs_receipt(self, hit: StoredHit) -> bool:
        """Return whether the rows of this log cannot show that a hit is new."""
        ...

    def find_known(self, session: ClientSession | None, hits: Sequence[StoredHit]) -> set[str]:
        """Return the ids of the stored hits among these; none if receipts decide."""
        ...

    def admit(self, session: ClientSession, hits: Sequence[StoredHit]) -> None:
        """Store new hits, within the transaction that counts them."""
        ...

    def append(self, hits: Sequence[StoredHit]) -> None:
        """Store hits, outside of any transaction; a repeat may make a second row."""
        ...

    def aggregate(self, span: Span, stages: Sequence[Document]) -> Iterator[Any]:
        """Run the stages of a pipeline over the hits of a span, each hit once.

        A log of several parts runs the stages over each part and yields all results. A part is a
        whole UTC day, or the whole log.
        """
        ...

    def read(self, span: Span, after: HitPosition | None, limit: int) -> list[StoredHit]:
        """Return the first hits of a span after a position, by time and id."""
        ...

    def holds(self, day: datetime) -> bool:
        """Return whether the log has all hits of a day: newer hits have pushed none out."""
        ...

    def forget(self, user: str, until: datetime | None = None) -> None:
        """Delete a user's hits up to `until`; None: all."""
        ...

    def of_user(self, user: str) -> list[tuple[MongoCollection[Any], Document]]:
        """Return the collections of a user's hits, each with its filter."""
        ...

    def remove(self, site: str, path: str | None = None) -> None:
        """Delete a site's hits, of one path or all. Raises LogCannotForget for one path."""
        ...

    def forget_source(self, span: Span, dimension: Dimension, value: str) -> None:
        """Remove a source from the hits of a span. Raises LogCannotForget."""
        ...

    def trim(self, now: datetime) -> int:
        """Delete hits older than their site's `keep_days`; return the number of dropped parts."""
        ...

    def size(self, site: str) -> LogUsage:
        """Return a site's part of the log."""
        ...
