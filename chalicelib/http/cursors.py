"""Opaque keyset cursors: a signed position in one listing.

A cursor is base64url of a tag, a version and the position as JSON. People scroll while one release
replaces another, so a release reads the cursors of the last one (docs/decisions/0066). To change a
position's shape, raise VERSION and let its listing read the old shape too.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import SecretStr

from chalicelib import signing
from chalicelib.errors import InvalidCursor, Unavailable

VERSION = 1
_TAG_BYTES = 9


def encode_cursor(position: Sequence[Any], scope: str, keys: Sequence[SecretStr]) -> str:
    """Return a cursor for `position`, a sequence of JSON values, within the listing `scope`.

    The scope names the listing and its order ("comments:page-1:oldest"), so that a cursor
    of one listing is refused by any other. Raises Misconfigured without a signing key.
    """
    key = signing.signing_key(keys)
    payload = bytes([VERSION]) + orjson.dumps(list(position))
    return signing.encoded(signing.tag(_message(payload, scope), key, _TAG_BYTES) + payload)


def decode_cursor(cursor: str, scope: str, keys: Sequence[SecretStr]) -> list[Any]:
    """Return the position that `encode_cursor` was given.

    Raises InvalidCursor if the cursor was altered, cut, or made for another scope. Raises
    Unavailable for a cursor of a newer release, which another container can read.
    """
    signed = signing.decoded(cursor) or b""
    tag, payload = signed[:_TAG_BYTES], signed[_TAG_BYTES:]
    if signing.signer(tag, _message(payload, scope), keys, _TAG_BYTES) is None:
        raise InvalidCursor
    if payload[0] > VERSION:
        raise Unavailable("This cursor is from a newer release of Plaza; try again")
    position = orjson.loads(payload[1:])
    assert isinstance(position, list)  # noqa: S101 - we signed it, so we wrote it
    return position


def _message(payload: bytes, scope: str) -> bytes:
    return b"cursor\0" + scope.encode() + b"\0" + payload
