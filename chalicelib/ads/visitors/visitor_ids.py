"""Visitor ids: the proof that a browser or page shows, and the part of it that Plaza stores.

A visitor's value is `<id>.<tag>`, the tag a MAC of the id under the signing keys. Plaza stores the
id alone, which is worth nothing to a thief. The value is a bearer secret: only the visitor's
browser, or the site's own server, receives it (docs/decisions/0086).
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
# An id without a tag names no visitor; such a page gets its ads all the same.
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
    """Return the value of a visitor's id; the first key signs. Raises Misconfigured."""
    tag = signing.tag(_message(visitor), signing.signing_key(keys), _BYTES)
    return f"{visitor}.{signing.encode(tag)}"


def verify(value: str | None, keys: Sequence[SecretStr]) -> str | None:
    """Return the id in a value that one of the keys signed; None for any other value."""
    visitor, _, text = (value or "").partition(".")
    tag = signing.decode(text) or b""
    if signing.signer(tag, _message(visitor), keys, _BYTES):
        return visitor
    return None


def _message(visitor: str) -> bytes:
    return b"visitor\0" + visitor.encode()
