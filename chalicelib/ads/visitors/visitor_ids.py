"""The visitor of a request: the consent to remember them, and their id.

A visitor's value is `<id>.<tag>`, the tag a MAC of the id under the signing keys. Plaza stores the
id alone, which is worth nothing to a thief. The value is a bearer secret: only the visitor's
browser, or the site's own server, receives it (docs/decisions/0086).
"""

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, NamedTuple

from pydantic import SecretStr, StringConstraints

from chalicelib import signing
from chalicelib.ads.visitors.profiles import TTL_SECONDS

_BYTES = 15
_TAG_CHARACTERS = 20
_ID = "[A-Za-z0-9_-]{1,64}"
# The tag is optional: an id without a tag names no visitor, but its page still gets ads.
VisitorValue = Annotated[
    str, StringConstraints(pattern=rf"^{_ID}(\.[A-Za-z0-9_-]{{{_TAG_CHARACTERS}}})?$")
]
COOKIE = "plaza_visitor"
# Partitioned (CHIPS): each site that embeds Plaza has its own cookie, also in browsers that block
# the cookies of third parties.
_ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=None; Partitioned"


def make(rng: random.Random) -> str:
    """Return the id of a new visitor: 120 random bits in 20 characters."""
    return signing.encode(rng.randbytes(_BYTES))


def of_member(site_id: str, name: str) -> str:
    """Return the id of a site's member by name; on another site, the name has another id."""
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
    if signing.verifying_key(tag, _message(visitor), keys, _BYTES):
        return visitor
    return None


def _message(visitor: str) -> bytes:
    return b"visitor\0" + visitor.encode()


class Visitor(NamedTuple):
    """The visitor of a request; `id` None: use no profile. `is_new`: the visitor needs a cookie."""

    id: str | None = None
    is_new: bool = False


def identify_visitor(
    headers: Mapping[str, str],
    named: str | None,
    keys: Sequence[SecretStr],
    make_id: Callable[[], str],
    *,
    consent: bool | None,
) -> Visitor:
    """Return the visitor of a request with the parameters `named` and `consent`.

    `consent=false` means no visitor. If the page states no consent, `Sec-GPC: 1` and `DNT: 1` mean
    the same. A signed `named` takes precedence over the cookie. Only `consent=true` makes a new
    visitor. Sources: Global Privacy Control (W3C), section 3.1; RFC 6265 for the cookie.
    """
    if consent is False or (consent is None and _objects(headers)):
        return Visitor()
    known = verify(named, keys) or cookie_visitor(headers, keys)
    if known is None and consent:
        return Visitor(make_id(), is_new=True)
    return Visitor(known)


def _objects(headers: Mapping[str, str]) -> bool:
    return "1" in (headers.get("sec-gpc"), headers.get("dnt"))


def cookie_visitor(headers: Mapping[str, str], keys: Sequence[SecretStr]) -> str | None:
    """Return the visitor of the request's cookie; None without a signed cookie."""
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return verify(value, keys)
    return None


def visitor_cookie(visitor: str, keys: Sequence[SecretStr]) -> str:
    """Return the Set-Cookie header that names the visitor; the page's scripts cannot read it."""
    return f"{COOKIE}={sign(visitor, keys)}; Max-Age={TTL_SECONDS}; {_ATTRIBUTES}"


def expired_cookie() -> str:
    """Return the Set-Cookie header that makes the browser forget the visitor."""
    return f"{COOKIE}=; Max-Age=0; {_ATTRIBUTES}"
