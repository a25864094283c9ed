"""Tokens of guests: a name, an id and a site, signed by Plaza.

A token is a payload in base64url, a point, and its signature (`chalicelib.signing`), after a prefix
that no JSON Web Token has.
"""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import SecretStr

from chalicelib import signing

# A guest's token is valid for this long from its issue.
LIFETIME = timedelta(days=90)
# Enough for a name of 100 characters and a site of 64, with JSON's escapes.
MAX_TOKEN_CHARACTERS = 2_000
# The beginning of every token; `read` verifies the rest.
PREFIX = "guest."
_PURPOSE = b"guest token\0"
_ID_BYTES = 16


class Guest(NamedTuple):
    """A guest of a site: `expires_at` in whole seconds, UTC."""

    id: str
    name: str
    site: str
    expires_at: datetime


def new_guest(site: str, name: str, now: datetime, rng: random.Random) -> Guest:
    """Return a guest with an id of their own: 128 bits of randomness."""
    guest_id = f"g_{signing.encode(rng.randbytes(_ID_BYTES))}"
    return Guest(guest_id, name, site, (now + LIFETIME).replace(microsecond=0))


def issue(guest: Guest, keys: Sequence[SecretStr]) -> str:
    """Return a guest's token; raises Misconfigured without keys."""
    claims = {
        "sub": guest.id,
        "name": guest.name,
        "site": guest.site,
        "exp": int(guest.expires_at.timestamp()),
    }
    return signing.issue(claims, PREFIX, _PURPOSE, keys)


def read(token: str, keys: Sequence[SecretStr], now: datetime) -> Guest | None:
    """Return the guest of a token; None: Plaza has not made it, or it has expired."""
    found = signing.claims_of(token, PREFIX, _PURPOSE, keys, now)
    if found is None:
        return None
    return Guest(found["sub"], found["name"], found["site"], found["exp"])
