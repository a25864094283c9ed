"""Encryption of a push message (RFC 8291): `aes128gcm` of RFC 8188, in one record.

The only Python library for it, http_ece, ships no wheel, and the build of Plaza's packages runs no
foreign code (docs/decisions/0256). The primitives come from `cryptography`.
"""

import hashlib
import hmac
import random

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chalicelib import signing
from chalicelib.push.browsers import Browser
from chalicelib.setting_types import P256_ORDER

# A push service takes 4,096 bytes of body (RFC 8030, section 7.2).
MAX_MESSAGE_BYTES = 3_000
_RECORD_BYTES = 4_096
_SALT_BYTES, _KEY_BYTES, _NONCE_BYTES = 16, 16, 12
_LAST_RECORD = b"\x02"


def encrypt(message: bytes, browser: Browser, rng: random.Random) -> bytes:
    """Return the body of a request; raises ValueError for a long message or keys of a wrong form.

    Each message has its own sender key and its own salt, drawn from `rng`.
    """
    if len(message) > MAX_MESSAGE_BYTES:
        raise ValueError("the message is too long")
    own_key = ec.derive_private_key(rng.randrange(1, P256_ORDER), ec.SECP256R1())
    return _encrypt(message, browser, own_key, rng.randbytes(_SALT_BYTES))


def _encrypt(
    message: bytes, browser: Browser, own_key: ec.EllipticCurvePrivateKey, salt: bytes
) -> bytes:
    point, auth = signing.decode(browser.p256dh), signing.decode(browser.auth)
    if point is None or auth is None:
        raise ValueError("the keys of the browser are no base64url")
    their_key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    own_point = own_key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    shared = own_key.exchange(ec.ECDH(), their_key)
    info = b"WebPush: info\0" + point + own_point
    secret = _derive(auth, shared, info, hashlib.sha256().digest_size)
    key = _derive(salt, secret, b"Content-Encoding: aes128gcm\0", _KEY_BYTES)
    nonce = _derive(salt, secret, b"Content-Encoding: nonce\0", _NONCE_BYTES)
    sealed = AESGCM(key).encrypt(nonce, message + _LAST_RECORD, None)
    return salt + _RECORD_BYTES.to_bytes(4) + bytes([len(own_point)]) + own_point + sealed


def _derive(salt: bytes, secret: bytes, info: bytes, size: int) -> bytes:
    """Return a key by HKDF-SHA-256 (RFC 5869), of up to 32 bytes."""
    return hmac.digest(hmac.digest(salt, secret, "sha256"), info + b"\x01", "sha256")[:size]
