"""Pages of a listing: its start position, its rows, and the cursor of the next page."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import Field, SecretStr

from chalicelib.http.cursors import decode_cursor, encode_cursor
from chalicelib.http.requests import MAX_CURSOR_CHARACTERS, PageQuery

Row = TypeVar("Row")
# A cursor in an answer, which is as long as a query may have it.
Cursor = Annotated[str, Field(max_length=MAX_CURSOR_CHARACTERS, pattern=r"^[A-Za-z0-9_-]*$")]
# The field `next` of a page's answer.
Next = Annotated[
    Cursor | None, Field(description="The `cursor` of the next page; null on the last one.")
]


class Cursors(NamedTuple):
    """The cursors of one listing; `scope` is as for `encode_cursor`."""

    scope: str
    keys: Sequence[SecretStr]

    def position(self, query: PageQuery) -> tuple[Any, ...] | None:
        """Return the position after which a page begins; None for the first page.

        Raises InvalidCursor.
        """
        return self.place(query.cursor)

    def place(self, cursor: str | None) -> tuple[Any, ...] | None:
        """Return the position of a cursor; None without one. Raises InvalidCursor."""
        return None if cursor is None else tuple(decode_cursor(cursor, self.scope, self.keys))

    def following(self, position: Sequence[Any] | None) -> str | None:
        """Return the cursor of the page after a position; None if no page follows."""
        return encode_cursor(position, self.scope, self.keys) if position else None


def paged(rows: Sequence[Row], limit: int) -> tuple[Sequence[Row], Row | None]:
    """Return the rows of a page, and the last of them if more rows follow.

    `rows` are up to `limit + 1`: the one beyond the page shows that there is more.
    """
    shown = rows[:limit]
    return shown, shown[-1] if len(rows) > limit else None
