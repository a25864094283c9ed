"""Pages of a listing, and the signed cursors between them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypeVar

import orjson
from pydantic import Field, SecretStr

from chalicelib import signing
from chalicelib.errors import InvalidCursor, Unavailable
from chalicelib.http.requests import MAX_CURSOR_CHARACTERS, PageQuery
from chalicelib.instants import milliseconds, moment

# A cursor is base64url of a tag, a version and the position as JSON. People scroll during a
# deployment, so a release reads the cursors of its predecessor (docs/decisions/0066). To change a
# position's shape, raise VERSION and let its listing read the old shape too.

VERSION = 1
_TAG_BYTES = 9


def encode_cursor(position: Sequence[Any], scope: str, keys: Sequence[SecretStr]) -> str:
    """Return a cursor for `position`, a sequence of JSON values, within the listing `scope`.

    The scope names the listing and its order ("comments:page-1:oldest"), so that other listings
    refuse the cursor. Raises Misconfigured without a signing key.
    """
    key = signing.signing_key(keys)
    payload = bytes([VERSION]) + orjson.dumps(list(position))
    return signing.encode(signing.tag(_message(payload, scope), key, _TAG_BYTES) + payload)


def decode_cursor(cursor: str, scope: str, keys: Sequence[SecretStr]) -> list[Any]:
    """Return the position of a cursor.

    Raises InvalidCursor for an altered or cut cursor, or for a cursor of another scope. Raises
    Unavailable for a cursor of a newer release: another container can read it.
    """
    signed = signing.decode(cursor) or b""
    tag, payload = signed[:_TAG_BYTES], signed[_TAG_BYTES:]
    if signing.verifying_key(tag, _message(payload, scope), keys, _TAG_BYTES) is None:
        raise InvalidCursor
    if payload[0] > VERSION:
        raise Unavailable("This cursor is from a newer release of Plaza; try again")
    position = orjson.loads(payload[1:])
    assert isinstance(position, list)  # noqa: S101 - the signature proves that we wrote it
    return position


def _message(payload: bytes, scope: str) -> bytes:
    return b"cursor\0" + scope.encode() + b"\0" + payload


Row = TypeVar("Row")
# A cursor in an answer, which the next query may send.
Cursor = Annotated[str, Field(max_length=MAX_CURSOR_CHARACTERS, pattern=r"^[A-Za-z0-9_-]*$")]
# The field `next` of a page's answer.
Next = Annotated[
    Cursor | None, Field(description="The `cursor` of the next page; null on the last one.")
]


class Cursors(NamedTuple):
    """The cursors of a listing; `scope` is as for `encode_cursor`."""

    scope: str
    keys: Sequence[SecretStr]

    def position(self, query: PageQuery) -> tuple[Any, ...] | None:
        """Return the position that a page follows; None: the first page.

        Raises InvalidCursor, and Unavailable for a cursor of a newer release.
        """
        return self.place(query.cursor)

    def place(self, cursor: str | None) -> tuple[Any, ...] | None:
        """Return the position of a cursor; None without a cursor. Raises as `position`."""
        return None if cursor is None else tuple(decode_cursor(cursor, self.scope, self.keys))

    def following(self, position: Sequence[Any] | None) -> str | None:
        """Return the cursor of the page after a position; None: no page follows."""
        return encode_cursor(position, self.scope, self.keys) if position else None


# A row of a listing in order of time: its time and its id.
Position = tuple[datetime, str]


def position_of(place: Sequence[Any] | None) -> Position | None:
    """Return a row's time and id from a cursor's position; None for None."""
    return None if place is None else (moment(place[0]), place[1])


def place_of(position: Position | None) -> list[Any] | None:
    """Return the position of a row as JSON values; None for None."""
    return None if position is None else [milliseconds(position[0]), position[1]]


def page_of(rows: Sequence[Row], limit: int) -> tuple[Sequence[Row], Row | None]:
    """Return the rows of a page, and its last row if more rows follow.

    `rows` are up to `limit + 1` rows: the last of them only shows that more follow.
    """
    shown = rows[:limit]
    return shown, shown[-1] if len(rows) > limit else None
