"""Tokens that Plaza signs for people after a sign-in at a site's identity provider.

A token is a prefix, a payload in base64url, a point, and a signature (`chalicelib.signing`). No
JSON Web Token and no guest's token has this prefix.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from pydantic import SecretStr

from chalicelib import signing

LIFETIME = timedelta(days=90)
# Enough for a name of 100 characters and a picture's address of 500, with JSON's escapes.
MAX_TOKEN_CHARACTERS = 4_000
# The beginning of every token; `read` verifies the rest.
PREFIX = "account."
_PURPOSE = b"account token\0"


class SiteAccount(NamedTuple):
    """A person's account at a site; `picture` is an https URL, `expires_at` is in UTC."""

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
    return signing.issue(claims, PREFIX, _PURPOSE, keys)


def read(token: str, keys: Sequence[SecretStr], now: datetime) -> SiteAccount | None:
    """Return the account of a token; None: the token is forged or has expired."""
    found = signing.claims_of(token, PREFIX, _PURPOSE, keys, now)
    if found is None:
        return None
    return SiteAccount(found["sub"], found["name"], found["picture"], found["site"], found["exp"])
