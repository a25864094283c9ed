"""Tokens of guests: a name, an id and a site, signed by Plaza.

A token is a payload in base64url, a point, and its signature (`chalicelib.signing`), after a prefix
that no JSON Web Token has.
"""

import json
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import SecretStr

from chalicelib import signing

# A guest is known for this long from their last name.
LIFETIME = timedelta(days=90)
# The claims of a name of 100 characters and a site of 64, with JSON's escapes.
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
    payload = signing.encode(json.dumps(claims, separators=(",", ":")).encode())
    tag = signing.tag(_PURPOSE + payload.encode(), signing.signing_key(keys))
    return f"{PREFIX}{payload}.{signing.encode(tag)}"


def read(token: str, keys: Sequence[SecretStr], now: datetime) -> Guest | None:
    """Return the guest of a token; None: Plaza has not made it, or it has expired."""
    payload, _, given = token.removeprefix(PREFIX).partition(".")
    tag, sent = signing.decode(given), payload.encode()
    if tag is None or signing.signer(tag, _PURPOSE + sent, keys) is None:
        return None
    claims = json.loads(signing.decode(payload) or b"{}")
    expires_at = datetime.fromtimestamp(claims["exp"], now.tzinfo)
    if expires_at <= now:
        return None
    return Guest(claims["sub"], claims["name"], claims["site"], expires_at)
