"""The signature of a sender to a push service: VAPID (RFC 8292).

A browser subscribes with a public key, and its service accepts only messages signed with the
matching private key. All Lambda functions have the public key; only the sender has the private key.
"""

from datetime import datetime, timedelta
from functools import lru_cache
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import SecretStr

from chalicelib import signing
from chalicelib.errors import Misconfigured
from chalicelib.settings import Settings

# The lifetime of a signature; a service refuses more than a day.
LIFETIME = timedelta(hours=12)


def authorization(settings: Settings, endpoint: str, now: datetime) -> str:
    """Return the header `Authorization` of a message to an endpoint.

    Raises Misconfigured if the private key is missing or does not match the public key.
    """
    secret, public_key = settings.vapid_private_key, settings.vapid_public_key
    if secret is None or _public_key(secret) != public_key:
        raise Misconfigured("PLAZA_VAPID_PRIVATE_KEY is not that of PLAZA_VAPID_PUBLIC_KEY")
    found = urlsplit(endpoint)
    claims = {
        "aud": f"{found.scheme}://{found.netloc}",
        "exp": int((now + LIFETIME).timestamp()),
        "sub": settings.vapid_contact,
    }
    token = jwt.encode(claims, _private_key(secret), algorithm="ES256")
    return f"vapid t={token}, k={public_key}"


@lru_cache(maxsize=1)
def _private_key(secret: SecretStr) -> ec.EllipticCurvePrivateKey:
    data = signing.decode(secret.get_secret_value().rstrip("=")) or b""
    return ec.derive_private_key(int.from_bytes(data), ec.SECP256R1())


@lru_cache(maxsize=1)
def _public_key(secret: SecretStr) -> str:
    point = _private_key(secret).public_key()
    return signing.encode(point.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))
