"""Pages of a listing: its start position, its rows, and the cursor of the next page."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import SecretStr

from chalicelib.http.cursors import decode_cursor, encode_cursor
from chalicelib.http.requests import PageQuery

Row = TypeVar("Row")


class Cursors(NamedTuple):
    """The cursors of one listing; `scope` is as for `encode_cursor`."""

    scope: str
    keys: Sequence[SecretStr]

    def position(self, query: PageQuery) -> tuple[Any, ...] | None:
        """Return the position after which a page begins; None for the first page.

        Raises InvalidCursor.
        """
        if query.cursor is None:
            return None
        return tuple(decode_cursor(query.cursor, self.scope, self.keys))

    def following(self, position: Sequence[Any] | None) -> str | None:
        """Return the cursor of the page after a position; None if no page follows."""
        return encode_cursor(position, self.scope, self.keys) if position else None


def paged(rows: Sequence[Row], limit: int) -> tuple[Sequence[Row], Row | None]:
    """Return the rows of a page, and the last of them if more rows follow.

    `rows` are up to `limit + 1`: the one beyond the page shows that there is more.
    """
    shown = rows[:limit]
    return shown, shown[-1] if len(rows) > limit else None
