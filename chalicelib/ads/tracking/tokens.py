"""Decision tokens: signed decisions, so that no request can name a price or an ad."""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal, NamedTuple

import orjson
from pydantic import SecretStr

from chalicelib import signing
from chalicelib.ads.errors import InvalidToken, TokenExpired
from chalicelib.ads.visitors.histories import Served
from chalicelib.signing import TAG_BYTES

Purpose = Literal["impression", "click"]
MAX_CHARACTERS = 1_024
# The prefix of a sealed visitor.
_SEALED = "~"


class Offer(NamedTuple):
    """A served ad with the price of its event, the lease that pays it, and its expiry.

    A token holds the fields of `served` and then the other fields, in this order. The token seals
    the visitor's id, since pages can read their tokens.
    """

    served: Served
    visitor: str | None
    price_micros: int
    lease_id: str | None
    expires_at: datetime


def sign(offer: Offer, purpose: Purpose, keys: Sequence[SecretStr]) -> str:
    """Return the token of an offer, good for one purpose; the first key signs.

    HMAC-SHA256 over the purpose and the offer (RFC 2104). Raises Misconfigured without a key.
    """
    key = signing.signing_key(keys)
    served, visitor, price_micros, lease_id, expires_at = offer
    sealed = visitor and _seal(visitor, served.decision, key)
    fields = [*served, sealed, price_micros, lease_id, int(expires_at.timestamp())]
    payload = orjson.dumps(fields)
    return signing.encode(signing.tag(_message(payload, purpose), key) + payload)


def verify(token: str, purpose: Purpose, keys: Sequence[SecretStr], now: datetime) -> Offer:
    """Return the offer of a valid token for this purpose.

    Raises InvalidToken, and TokenExpired from `expires_at` on.
    """
    offer = read(token, purpose, keys)
    if now >= offer.expires_at:
        raise TokenExpired
    return offer


def read(token: str, purpose: Purpose, keys: Sequence[SecretStr]) -> Offer:
    """Return the offer of a token for this purpose, however old, signed by any of the keys.

    Raises InvalidToken for an altered or cut token, or another purpose.
    """
    signed = signing.decode(token) or b""
    tag, payload = signed[:TAG_BYTES], signed[TAG_BYTES:]
    signer = signing.verifying_key(tag, _message(payload, purpose), keys)
    if signer is None:
        raise InvalidToken
    *fields, sealed, price_micros, lease_id, expiry = orjson.loads(payload)
    served, expires_at = Served(*fields), datetime.fromtimestamp(expiry, UTC)
    visitor = _unseal(sealed, served.decision, signer)
    return Offer(served, visitor, price_micros, lease_id, expires_at)


# The cache serves all tokens of a decision: they have the same sealed visitor.
@lru_cache(maxsize=8)
def _seal(visitor: str, decision: str, key: SecretStr) -> str:
    """Return a visitor's id that only a holder of the key can read.

    XOR with a stream of HMAC-SHA256 blocks, a pseudorandom function in counter mode (NIST SP
    800-38A, section 6.5). A decision has its own id and one visitor, so no two visitors share a
    stream.
    """
    sealed = _mask(visitor.encode(), decision, key)
    return _SEALED + base64.urlsafe_b64encode(sealed).decode("ascii")


def _unseal(visitor: str | None, decision: str, key: SecretStr) -> str | None:
    """Return the id of a sealed visitor; None: the token names no visitor."""
    if visitor is None:
        return None
    sealed = base64.urlsafe_b64decode(visitor.removeprefix(_SEALED))
    return _mask(sealed, decision, key).decode()


def _mask(text: bytes, decision: str, key: SecretStr) -> bytes:
    nonce = b"ad visitor\0" + decision.encode()
    stream = b""
    while len(stream) < len(text):
        stream += signing.tag(nonce + bytes([len(stream) // TAG_BYTES]), key)
    masked = int.from_bytes(text) ^ int.from_bytes(stream[: len(text)])
    return masked.to_bytes(len(text))


def _message(payload: bytes, purpose: Purpose) -> bytes:
    return b"ad\0" + purpose.encode() + b"\0" + payload
