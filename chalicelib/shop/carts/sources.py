"""The network of a hold as a keyed digest, so that no entry stores an address."""

from chalicelib import limits, signing
from chalicelib.http import Request

_DIGEST_BYTES = 8


def source_of(request: Request) -> str | None:
    """Return the digest of a request's network, as limits see it. None: no address."""
    settings = request.runtime.settings
    network = limits.source(request.raw.context, request.raw.headers, settings.trusted_hops)
    if network is None:
        return None
    key = signing.signing_key(settings.signing_keys)
    return signing.tag(b"hold address\0" + network.encode(), key, _DIGEST_BYTES).hex()
