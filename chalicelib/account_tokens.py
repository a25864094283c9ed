"""Tokens of people who have signed in by a provider of a site, signed by Plaza.

A token is a payload in base64url, a point, and its signature (`chalicelib.signing`), after a prefix
that no JSON Web Token and no guest's token has.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import SecretStr

from chalicelib import signing

LIFETIME = timedelta(days=90)
# The claims of a name of 100 characters and of a picture's address of 500, with JSON's escapes.
MAX_TOKEN_CHARACTERS = 4_000
# The beginning of every token; `read` verifies the rest.
PREFIX = "account."
_PURPOSE = b"account token\0"


class SiteAccount(NamedTuple):
    """A person of a provider at a site: `picture` is an https address, `expires_at` UTC."""

    id: str
    name: str
    picture: str | None
    site: str
    expires_at: datetime


def issue(account: SiteAccount, keys: Sequence[SecretStr]) -> str:
    """Return an account's token; raises Misconfigured without keys."""
    claims = {
        "sub": account.id,
        "name": account.name,
        "picture": account.picture,
        "site": account.site,
        "exp": int(account.expires_at.timestamp()),
    }
    payload = signing.encode(json.dumps(claims, separators=(",", ":")).encode())
    tag = signing.tag(_PURPOSE + payload.encode(), signing.signing_key(keys))
    return f"{PREFIX}{payload}.{signing.encode(tag)}"


def read(token: str, keys: Sequence[SecretStr], now: datetime) -> SiteAccount | None:
    """Return the account of a token; None: Plaza has not made it, or it has expired."""
    payload, _, given = token.removeprefix(PREFIX).partition(".")
    tag = signing.decode(given)
    if tag is None or signing.signer(tag, _PURPOSE + payload.encode(), keys) is None:
        return None
    claims = json.loads(signing.decode(payload) or b"{}")
    expires_at = datetime.fromtimestamp(claims["exp"], now.tzinfo)
    if expires_at <= now:
        return None
    return SiteAccount(claims["sub"], claims["name"], claims["picture"], claims["site"], expires_at)
