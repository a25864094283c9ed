"""Opaque keyset cursors: a signed position in one listing.

A cursor is base64url of a tag, a version and the position as JSON. People scroll while one
release replaces another, so a release reads the cursors of the last one
(docs/decisions/0066): a position that changes its shape raises VERSION, and its listing goes on
reading the old shape too.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import SecretStr

from chalicelib.errors import InvalidCursor, Misconfigured, Unavailable

VERSION = 1
_TAG_BYTES = 9


def encode_cursor(position: Sequence[Any], scope: str, keys: Sequence[SecretStr]) -> str:
    """Return a cursor for `position`, a sequence of JSON values, within the listing `scope`.

    The scope names the listing and its order ("comments:page-1:oldest"), so that a cursor
    of one listing is refused by any other. Raises Misconfigured without a signing key.
    """
    if not keys:
        raise Misconfigured("PLAZA_SIGNING_KEYS is not set")
    payload = bytes([VERSION]) + orjson.dumps(list(position))
    tag = _tag(payload, scope, keys[0])
    return base64.urlsafe_b64encode(tag + payload).rstrip(b"=").decode("ascii")


def decode_cursor(cursor: str, scope: str, keys: Sequence[SecretStr]) -> list[Any]:
    """Return the position that `encode_cursor` was given.

    Raises InvalidCursor when the cursor was altered, cut, or made for another scope, and
    Unavailable for one of a newer release, which another container can read.
    """
    try:
        # The canonical form is compared, since base64 ignores the last character's spare bits.
        signed = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        canonical = base64.urlsafe_b64encode(signed).rstrip(b"=").decode("ascii")
    except (binascii.Error, ValueError):
        raise InvalidCursor from None
    tag, payload = signed[:_TAG_BYTES], signed[_TAG_BYTES:]
    authentic = any(hmac.compare_digest(tag, _tag(payload, scope, key)) for key in keys)
    if not authentic or canonical != cursor:
        raise InvalidCursor
    if payload[0] > VERSION:
        raise Unavailable("This cursor is from a newer release of Plaza; try again")
    position = orjson.loads(payload[1:])
    assert isinstance(position, list)  # noqa: S101 - we signed it, so we wrote it
    return position


def _tag(payload: bytes, scope: str, key: SecretStr) -> bytes:
    message = b"cursor\0" + scope.encode() + b"\0" + payload
    return hmac.digest(key.get_secret_value().encode(), message, hashlib.sha256)[:_TAG_BYTES]
