"""Signing of cursors and tokens: HMAC-SHA256 (RFC 2104) and canonical base64url.

A message begins with its purpose and a zero byte, so that a signature for one purpose is invalid
for any other. The first key signs, every key verifies.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from functools import lru_cache

from pydantic import SecretStr

from chalicelib.errors import Misconfigured

TAG_BYTES = hashlib.sha256().digest_size


def signing_key(keys: Sequence[SecretStr]) -> SecretStr:
    """Return the key that signs; raises Misconfigured without keys."""
    if not keys:
        raise Misconfigured("PLAZA_SIGNING_KEYS is not set")
    return keys[0]


def tag(message: bytes, key: SecretStr, size_bytes: int = TAG_BYTES) -> bytes:
    """Return the first bytes of the HMAC-SHA256 of a message."""
    state = _keyed_state(key).copy()
    state.update(message)
    return state.digest()[:size_bytes]


@lru_cache(maxsize=8)
def _keyed_state(key: SecretStr) -> hmac.HMAC:
    """Return the initial state of every HMAC under a key (RFC 2104, section 4).

    Cached, since a key signs many messages; each message copies it.
    """
    return hmac.new(key.get_secret_value().encode(), digestmod=hashlib.sha256)


def signer(
    given: bytes, message: bytes, keys: Sequence[SecretStr], size_bytes: int = TAG_BYTES
) -> SecretStr | None:
    """Return the key that gives a message this tag of `size_bytes`; None: no key does."""
    return next((k for k in keys if hmac.compare_digest(given, tag(message, k, size_bytes))), None)


def encode(data: bytes) -> str:
    """Return bytes as base64url without padding (RFC 4648, section 5)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes | None:
    """Return the bytes of a text that `encode` returned; None for any other text.

    Base64 ignores the last character's spare bits, so several texts would give the same bytes.
    """
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    return data if encode(data) == text else None
