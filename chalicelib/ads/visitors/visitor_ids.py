"""Visitor ids: what a browser or page must present to be a visitor, and what is stored of it.

A visitor's value is `<id>.<tag>`, the tag a MAC of the id under the signing keys. The id alone is
stored, and worth nothing to anybody who learns it; the value is a bearer secret, and only its
visitor's browser, or the site's own server, is given it (docs/decisions/0086).
"""

import hashlib
import random
from collections.abc import Sequence
from typing import Annotated

from pydantic import SecretStr, StringConstraints

from chalicelib import signing

_BYTES = 15
_TAG_CHARACTERS = 20
_ID = "[A-Za-z0-9_-]{1,64}"
VisitorId = Annotated[str, StringConstraints(pattern=f"^{_ID}$")]
# A bare id, as the last release gave out, is read and names nobody.
VisitorValue = Annotated[
    str, StringConstraints(pattern=rf"^{_ID}(\.[A-Za-z0-9_-]{{{_TAG_CHARACTERS}}})?$")
]


def make(rng: random.Random) -> str:
    """Return the id of a new visitor: 120 random bits in 20 characters."""
    return signing.encode(rng.randbytes(_BYTES))


def of_member(site_id: str, name: str) -> str:
    """Return the id of a site's member, by name; each site's names are its own."""
    digest = hashlib.sha256(f"visitor\0{site_id}\0{name}".encode()).digest()
    return signing.encode(digest[:_BYTES])


def sign(visitor: str, keys: Sequence[SecretStr]) -> str:
    """Return the value of a visitor's id; the first key signs. Raises Misconfigured without one."""
    tag = signing.tag(_message(visitor), signing.signing_key(keys), _BYTES)
    return f"{visitor}.{signing.encode(tag)}"


def verify(value: str | None, keys: Sequence[SecretStr]) -> str | None:
    """Return the id that a value was signed for, by any of the keys; None for any other value."""
    visitor, _, text = (value or "").partition(".")
    tag = signing.decode(text) or b""
    if signing.signer(tag, _message(visitor), keys, _BYTES):
        return visitor
    return None


def _message(visitor: str) -> bytes:
    return b"visitor\0" + visitor.encode()
