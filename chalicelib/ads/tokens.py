"""Decision tokens: what was decided, signed, so that no request can name a price or an ad."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

import orjson
from pydantic import SecretStr

from chalicelib.errors import InvalidToken, Misconfigured, TokenExpired

Purpose = Literal["impression", "click"]
_TAG_BYTES = hashlib.sha256().digest_size
MAX_CHARACTERS = 1_024


class Offer(NamedTuple):
    """One ad of a decision: what an event of it costs, out of which lease, until when.

    A token holds the fields in this order.
    """

    decision: str
    slot: int
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str
    visitor: str | None
    price_micros: int
    lease_id: str | None
    expires_at: datetime


def sign(offer: Offer, purpose: Purpose, keys: Sequence[SecretStr]) -> str:
    """Return the token of an offer, good for one purpose; the first key signs.

    HMAC-SHA256 over the purpose and the offer (RFC 2104). Raises Misconfigured without a key.
    """
    if not keys:
        raise Misconfigured("PLAZA_SIGNING_KEYS is not set")
    *fields, expires_at = offer
    payload = orjson.dumps([*fields, int(expires_at.timestamp())])
    return _encoded(_tag(payload, purpose, keys[0]) + payload)


def verify(token: str, purpose: Purpose, keys: Sequence[SecretStr], now: datetime) -> Offer:
    """Return the offer that was signed for this purpose; every key verifies.

    Raises InvalidToken where it was altered, cut or made for another purpose, and
    TokenExpired.
    """
    signed = _decoded(token)
    tag, payload = signed[:_TAG_BYTES], signed[_TAG_BYTES:]
    if not any(hmac.compare_digest(tag, _tag(payload, purpose, key)) for key in keys):
        raise InvalidToken
    *fields, expiry = orjson.loads(payload)
    offer = Offer(*[*fields, datetime.fromtimestamp(expiry, UTC)])
    if now >= offer.expires_at:
        raise TokenExpired
    return offer


def _tag(payload: bytes, purpose: Purpose, key: SecretStr) -> bytes:
    message = b"ad\0" + purpose.encode() + b"\0" + payload
    return hmac.digest(key.get_secret_value().encode(), message, hashlib.sha256)


def _encoded(signed: bytes) -> str:
    return base64.urlsafe_b64encode(signed).rstrip(b"=").decode("ascii")


def _decoded(token: str) -> bytes:
    """Return the bytes of a token in its one canonical form; raises InvalidToken."""
    try:
        signed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (binascii.Error, ValueError):
        raise InvalidToken from None
    if _encoded(signed) != token:
        raise InvalidToken
    return signed
