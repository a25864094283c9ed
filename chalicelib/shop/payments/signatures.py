"""Signatures of Stripe's webhooks: an HMAC over their time and their raw body.

Source: Stripe's documentation, "Verify webhook signatures manually".
"""

import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime

from pydantic import SecretStr

# The greatest difference between a signature's time and Plaza's clock, either way.
TOLERANCE_SECONDS = 300
# The most tags of a header to compare; Stripe sends one for each active secret, at most two.
_MOST_TAGS = 8


def is_signed(body: bytes, header: str, secrets: Sequence[SecretStr], now: datetime) -> bool:
    """Return whether one of the secrets signed the body, within five minutes of `now`."""
    parts = [part.partition("=")[::2] for part in header.split(",")]
    times = [value for name, value in parts if name.strip() == "t"]
    given = [value for name, value in parts if name.strip() == "v1"]
    if len(times) != 1 or not times[0].isascii() or not times[0].isdigit():
        return False
    if abs(now.timestamp() - int(times[0][:12])) > TOLERANCE_SECONDS:
        return False
    message = times[0].encode() + b"." + body
    # A tag costs a pass over the body: Plaza computes one a secret, whatever the header contains.
    tags = [_tag(message, secret) for secret in secrets]
    return any(
        hmac.compare_digest(tag, each.encode()) for tag in tags for each in given[:_MOST_TAGS]
    )


def _tag(message: bytes, secret: SecretStr) -> bytes:
    key = secret.get_secret_value().encode()
    return hmac.new(key, message, hashlib.sha256).hexdigest().encode()
