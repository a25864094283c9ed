"""Sealing of texts that only Plaza reads: AES-256-GCM (NIST SP 800-38D) in base64url.

The first of PLAZA_SIGNING_KEYS seals; every key opens. Each purpose derives its own key from a
signing key, so a text sealed for one purpose opens for no other.
"""

import random
from collections.abc import Sequence

from pydantic import SecretStr

from chalicelib import signing

_PURPOSE = b"sealing\0"
_NONCE_BYTES = 12


def seal(text: str, purpose: str, keys: Sequence[SecretStr], rng: random.Random) -> str:
    """Return a text sealed for a purpose; raises Misconfigured without keys."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = rng.randbytes(_NONCE_BYTES)
    cipher = AESGCM(_key(purpose, signing.signing_key(keys)))
    return signing.encode(nonce + cipher.encrypt(nonce, text.encode(), None))


def unseal(sealed: str, purpose: str, keys: Sequence[SecretStr]) -> str | None:
    """Return the text that `seal` sealed for a purpose; None: malformed, or no key opens it."""
    # Imported at the first sealed text: it would slow every cold start.
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    data = signing.decode(sealed) or b""
    nonce, rest = data[:_NONCE_BYTES], data[_NONCE_BYTES:]
    if len(nonce) < _NONCE_BYTES:
        return None
    for key in keys:
        try:
            return AESGCM(_key(purpose, key)).decrypt(nonce, rest, None).decode()
        except InvalidTag:
            continue
    return None


def _key(purpose: str, key: SecretStr) -> bytes:
    return signing.tag(_PURPOSE + purpose.encode(), key)
