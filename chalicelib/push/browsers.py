"""A browser as a receiver of push messages: its address at a push service, and its keys."""

import hashlib
from typing import NamedTuple

from chalicelib import outgoing, signing
from chalicelib.runtime import Runtime

POINT_BYTES, AUTH_BYTES = 65, 16
MAX_ENDPOINT_CHARACTERS = 1_000
# The services of Chrome (and its relatives), Firefox, Safari and Edge. A caller names the endpoint:
# without this list, a caller could have Plaza post to every server of the internet.
SERVICES = (
    "fcm.googleapis.com",
    "push.services.mozilla.com",
    "push.apple.com",
    "notify.windows.com",
)


class Browser(NamedTuple):
    """The endpoint of a subscription, with the browser's public key and secret in base64url."""

    endpoint: str
    p256dh: str
    auth: str

    @property
    def id(self) -> str:
        """The SHA-256 of the endpoint in base64url; a browser computes it, too."""
        return signing.encode(hashlib.sha256(self.endpoint.encode()).digest())


def is_on(runtime: Runtime) -> bool:
    """Return whether the deployment sends push messages."""
    return bool(runtime.settings.vapid_public_key)


def is_served(runtime: Runtime, endpoint: str) -> bool:
    """Return whether Plaza sends to an endpoint: a host of `SERVICES`, or any in development."""
    is_local = runtime.settings.is_local
    try:
        host = outgoing.split_destination(endpoint, is_near=is_local).hostname or ""
    except ValueError:
        return False
    return is_local or any(host == each or host.endswith(f".{each}") for each in SERVICES)


def is_point(p256dh: str) -> bool:
    """Return whether a text is a point of P-256, uncompressed, in canonical base64url."""
    # Imported at the first subscription: it would slow every cold start.
    from cryptography.hazmat.primitives.asymmetric import ec

    data = signing.decode(p256dh)
    if data is None or len(data) != POINT_BYTES:
        return False
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), data)
    except ValueError:
        return False
    return True


def is_secret(auth: str) -> bool:
    """Return whether a text is 16 bytes in canonical base64url."""
    data = signing.decode(auth)
    return data is not None and len(data) == AUTH_BYTES
