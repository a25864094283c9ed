"""Signatures of Stripe's webhooks: an HMAC over their time and their raw body.

Source: Stripe's documentation, "Verify webhook signatures manually".
"""

import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime

from pydantic import SecretStr

# How old, or how far ahead, a signature may be.
TOLERANCE_SECONDS = 300


def is_signed(body: bytes, header: str, secrets: Sequence[SecretStr], now: datetime) -> bool:
    """Return whether one of the secrets has signed a body within the last five minutes."""
    parts = [part.partition("=")[::2] for part in header.split(",")]
    times = [value for name, value in parts if name.strip() == "t"]
    given = [value for name, value in parts if name.strip() == "v1"]
    if len(times) != 1 or not times[0].isascii() or not times[0].isdigit():
        return False
    if abs(now.timestamp() - int(times[0][:12])) > TOLERANCE_SECONDS:
        return False
    message = times[0].encode() + b"." + body
    return any(
        hmac.compare_digest(_tag(message, secret), tag.encode())
        for secret in secrets
        for tag in given
    )


def _tag(message: bytes, secret: SecretStr) -> bytes:
    key = secret.get_secret_value().encode()
    return hmac.new(key, message, hashlib.sha256).hexdigest().encode()
