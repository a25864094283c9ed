"""The network of a hold as a keyed digest, so that no entry stores an address."""

from typing import NamedTuple

from chalicelib import limits, signing
from chalicelib.http import Request
from chalicelib.identity import Principal

_DIGEST_BYTES = 8


class Buyer(NamedTuple):
    """A caller who uses a cart. `user` None: a guest.

    `source`: the digest of the call's network; None: unknown.
    """

    user: str | None = None
    source: str | None = None


GUEST = Buyer()


def buyer_of(request: Request, caller: Principal | None) -> Buyer:
    """Return the buyer of a request."""
    return Buyer(caller.id if caller else None, source_of(request))


def source_of(request: Request) -> str | None:
    """Return the digest of a request's network, as limits see it. None: no address."""
    settings = request.runtime.settings
    network = limits.source(request.raw.context, request.raw.headers, settings.trusted_hops)
    if network is None:
        return None
    key = signing.signing_key(settings.signing_keys)
    return signing.tag(b"hold address\0" + network.encode(), key, _DIGEST_BYTES).hex()
