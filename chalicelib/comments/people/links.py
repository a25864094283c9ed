"""Documents of unused links in letters, and of unused codes for tokens."""

import hashlib
from datetime import datetime, timedelta
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import IndexModel

from chalicelib import signing
from chalicelib.database import Collection
from chalicelib.database.validators import AtMost
from chalicelib.mail.rows import MAX_KEYS

# A reader may find a letter only the next morning.
LIFETIME = timedelta(days=1)
# A reader who signs in waits for the letter; the page that its link leads to loads at once.
SIGN_IN_LIFETIME = timedelta(minutes=15)
CODE_LIFETIME = timedelta(minutes=2)
TOKEN_BYTES = 32
# `TOKEN_BYTES` in base64url.
TOKEN_PATTERN = r"^[A-Za-z0-9_-]{43}$"  # noqa: S105 - a form, and no secret


# `sign_in`: a link that signs a returning guest in; `code`: the code that the site's page then
# exchanges for the guest's token; `account`: a code for the token of a person who has signed in by
# a provider; missing: a link that confirms an address.
LinkKind = Literal["sign_in", "code", "account"]


class Confirmation(TypedDict):
    """A link of a letter, or a code; `_id` is a hash of its token.

    `email_key` is the keyed hash of the address by the key that signs; the address itself is in
    the letter alone. `email_keys` has the hashes by all keys, since rows from before a rotation
    have the hash by a former key; missing: a code, or a link of an earlier release. `return_to` is
    a page of the site. `person` is "" for an address without a guest.
    """

    _id: str
    site: str
    person: str
    name: str
    email_key: str
    email_keys: NotRequired[Annotated[list[str], AtMost(MAX_KEYS)]]
    return_to: str
    language: str
    expires: datetime
    kind: NotRequired[LinkKind]


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
