"""Documents of unused links in letters."""

import hashlib
from datetime import datetime, timedelta
from typing import TypedDict

from pymongo import IndexModel

from chalicelib import signing
from chalicelib.database import Collection

# Readers find a letter after a night.
LIFETIME = timedelta(days=1)
TOKEN_BYTES = 32
# `TOKEN_BYTES` in base64url.
TOKEN_PATTERN = r"^[A-Za-z0-9_-]{43}$"  # noqa: S105 - a form, and no secret


class Confirmation(TypedDict):
    """A link that confirms a guest's address; `_id` is a hash of the token in the link.

    `email_key` is the keyed hash of the address; the address itself is in the letter alone.
    `return_to` is a page of the site.
    """

    _id: str
    site: str
    person: str
    name: str
    email_key: str
    return_to: str
    language: str
    expires: datetime


CONFIRMATIONS = Collection(
    "comments.confirmation",
    Confirmation,
    indexes=(
        # Finds the links of a person to erase.
        IndexModel("person"),
        IndexModel("expires", expireAfterSeconds=0),
    ),
    shard_key={"_id": "hashed"},
)


def token_hash(token: str) -> str:
    """Return the hash of a token, 43 characters of base64url, without a key: a token is random."""
    return signing.encode(hashlib.sha256(b"confirmation\0" + token.encode()).digest())
