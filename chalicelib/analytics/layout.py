"""A layout: how a report's document holds the hits of a day, minute by minute."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from chalicelib.analytics.settings import LayoutName
from chalicelib.database import Document


class Layout(Protocol):
    """The fields of one layout. A document that two layouts have written to counts in both."""

    name: LayoutName

    def paths(self, minute: int) -> tuple[str, ...]:
        """Return the fields that a hit in a minute of the day (0 to 1,439) is added to."""
        ...

    def cells(self, *, by_minute: bool) -> Document:
        """Return the expression of a document's hits: an array of {at, hits}.

        `at` is a minute of the day: the exact one, or any of its hour.
        """
        ...

    def projection(self, *, by_minute: bool) -> Document:
        """Return the projection of what `hits` reads."""
        ...

    def hits(self, row: Mapping[str, Any], *, by_minute: bool) -> Iterator[tuple[int, int]]:
        """Give (at, hits) of a document that was read, as `cells` does on the server."""
        ...

    def fields(self) -> tuple[str, ...]:
        """Return the top-level fields of this layout."""
        ...

    def rewritten(self) -> Document:
        """Return what `$set` writes of the minutes in `cells`, an array of {at, hits}."""
        ...
