"""A browser that subscribes and decrypts, written from RFC 8291 and RFC 8188."""

import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chalicelib.push.browsers import Browser

CURVE = ec.SECP256R1()


def encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point_of(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


class BrowserStandIn:
    """A browser with its own key; the same number gives the same one."""

    def __init__(self, endpoint: str, number: int = 1) -> None:
        self.endpoint = endpoint
        self.key = ec.derive_private_key(number, CURVE)
        self.auth = hashlib.sha256(str(number).encode()).digest()[:16]

    @property
    def keys(self) -> dict[str, str]:
        """The `keys` of `PushSubscription.toJSON()`."""
        return {"p256dh": encode(point_of(self.key.public_key())), "auth": encode(self.auth)}

    @property
    def browser(self) -> Browser:
        return Browser(self.endpoint, **self.keys)

    def decrypt(self, body: bytes) -> bytes:
        """Return the plaintext of a body of one record; raises for any other."""
        salt, size, length = body[:16], int.from_bytes(body[16:20]), body[20]
        sender, record = body[21 : 21 + length], body[21 + length :]
        assert size >= 18
        assert length == 65
        assert len(record) <= size
        # RFC 8291, section 3.4.
        shared = self.key.exchange(
            ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender)
        )
        first = hmac.new(self.auth, shared, hashlib.sha256).digest()
        about = b"WebPush: info\x00" + point_of(self.key.public_key()) + sender + b"\x01"
        material = hmac.new(first, about, hashlib.sha256).digest()
        # RFC 8188, sections 2.2 and 2.3.
        random = hmac.new(salt, material, hashlib.sha256).digest()
        key_info = b"Content-Encoding: aes128gcm\x00\x01"
        nonce_info = b"Content-Encoding: nonce\x00\x01"
        key = hmac.new(random, key_info, hashlib.sha256).digest()[:16]
        nonce = hmac.new(random, nonce_info, hashlib.sha256).digest()[:12]
        plain = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\x00")
        assert plain[-1:] == b"\x02", "the last record ends so"
        return plain[:-1]
