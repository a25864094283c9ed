"""Signatures of Stripe's webhooks: an HMAC over their time and their raw body.

Source: Stripe's documentation, "Verify webhook signatures manually".
"""

import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime

from pydantic import SecretStr

# The allowed age of a signature, and its allowed lead.
TOLERANCE_SECONDS = 300
# Stripe sends a tag for each active secret, and has two at most.
_MOST_TAGS = 8


def is_signed(body: bytes, header: str, secrets: Sequence[SecretStr], now: datetime) -> bool:
    """Return whether a secret signed the body, at most five minutes away from `now`."""
    parts = [part.partition("=")[::2] for part in header.split(",")]
    times = [value for name, value in parts if name.strip() == "t"]
    given = [value for name, value in parts if name.strip() == "v1"]
    if len(times) != 1 or not times[0].isascii() or not times[0].isdigit():
        return False
    if abs(now.timestamp() - int(times[0][:12])) > TOLERANCE_SECONDS:
        return False
    message = times[0].encode() + b"." + body
    # Each tag reads the whole body, so no caller chooses how many Plaza computes.
    tags = [_tag(message, secret) for secret in secrets]
    return any(
        hmac.compare_digest(tag, each.encode()) for tag in tags for each in given[:_MOST_TAGS]
    )


def _tag(message: bytes, secret: SecretStr) -> bytes:
    key = secret.get_secret_value().encode()
    return hmac.new(key, message, hashlib.sha256).hexdigest().encode()
