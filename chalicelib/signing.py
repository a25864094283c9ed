"""Signing of cursors and tokens: HMAC-SHA256 (RFC 2104) and canonical base64url.

A message begins with its purpose and a zero byte, so that a signature for one purpose is invalid
for any other. The first key signs, every key verifies.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from pydantic import SecretStr

from chalicelib.errors import Misconfigured

TAG_BYTES = hashlib.sha256().digest_size


def signing_key(keys: Sequence[SecretStr]) -> SecretStr:
    """Return the key that signs; raises Misconfigured without keys."""
    if not keys:
        raise Misconfigured("PLAZA_SIGNING_KEYS is not set")
    return keys[0]


def tag(message: bytes, key: SecretStr, size_bytes: int = TAG_BYTES) -> bytes:
    """Return the HMAC-SHA256 of a message, cut to `size_bytes`."""
    state = _keyed_state(key).copy()
    state.update(message)
    return state.digest()[:size_bytes]


def state_tag(message: bytes, keys: Sequence[SecretStr], size_bytes: int) -> bytes:
    """Return a tag of a state and of the key that signs its cursors; without keys, of the state."""
    return tag(message, keys[0] if keys else SecretStr(""), size_bytes)


@lru_cache(maxsize=8)
def _keyed_state(key: SecretStr) -> hmac.HMAC:
    """Return the initial state of every HMAC under a key (RFC 2104, section 4).

    Cached, since a key signs many messages; each message copies it.
    """
    return hmac.new(key.get_secret_value().encode(), digestmod=hashlib.sha256)


def verifying_key(
    given: bytes, message: bytes, keys: Sequence[SecretStr], size_bytes: int = TAG_BYTES
) -> SecretStr | None:
    """Return the key that signed a message with the tag `given`. None: no key did."""
    return next((k for k in keys if hmac.compare_digest(given, tag(message, k, size_bytes))), None)


def issue(claims: Mapping[str, Any], prefix: str, purpose: bytes, keys: Sequence[SecretStr]) -> str:
    """Return a token: a prefix, the claims in base64url, a point, and their signature.

    The claims need `exp`, in seconds since 1970. Raises Misconfigured without keys.
    """
    payload = encode(json.dumps(claims, separators=(",", ":")).encode())
    signature = tag(purpose + payload.encode(), signing_key(keys))
    return f"{prefix}{payload}.{encode(signature)}"


def claims_of(
    token: str, prefix: str, purpose: bytes, keys: Sequence[SecretStr], now: datetime
) -> dict[str, Any] | None:
    """Return the claims of a token, with `exp` as a time; None: it is forged or has expired."""
    payload, _, given = token.removeprefix(prefix).partition(".")
    signature = decode(given)
    if signature is None or verifying_key(signature, purpose + payload.encode(), keys) is None:
        return None
    claims = json.loads(decode(payload) or b"{}")
    expires_at = datetime.fromtimestamp(claims["exp"], now.tzinfo)
    return {**claims, "exp": expires_at} if now < expires_at else None


def encode(data: bytes) -> str:
    """Return bytes as base64url without padding (RFC 4648, section 5)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes | None:
    """Return the bytes of a text that `encode` returned; None for any other text.

    Base64 ignores the last character's spare bits: without the comparison, several texts would
    decode to the same bytes.
    """
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    return data if encode(data) == text else None
