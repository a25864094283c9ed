"""The visitor of a request, and the consent to remember them."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import SecretStr

from chalicelib.ads.visitors import visitor_ids
from chalicelib.ads.visitors.profiles import TTL_SECONDS

COOKIE = "plaza_visitor"
# Partitioned (CHIPS): each site that embeds Plaza has its own cookie, also in browsers that block
# the cookies of third parties.
_ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=None; Partitioned"


class Visitor(NamedTuple):
    """The visitor whose profile a request may use; None: none. `is_new`: needs a cookie."""

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
    """Return the visitor of a request; `named` and `consent` are its parameters.

    `consent=false` means no visitor. `Sec-GPC: 1` and `DNT: 1` mean the same if the page states
    no consent. The page's visitor goes before the cookie's; a signed value names either. Only
    `consent=true` makes a new visitor. Sources: Global Privacy Control (W3C), section 3.1;
    RFC 6265 for the cookie.
    """
    if consent is False or (consent is None and _objects(headers)):
        return Visitor()
    known = visitor_ids.verify(named, keys) or cookie_visitor(headers, keys)
    if known is None and consent:
        return Visitor(make_id(), is_new=True)
    return Visitor(known)


def _objects(headers: Mapping[str, str]) -> bool:
    return "1" in (headers.get("sec-gpc"), headers.get("dnt"))


def cookie_visitor(headers: Mapping[str, str], keys: Sequence[SecretStr]) -> str | None:
    """Return the visitor that the request's cookie names, or None without a signed one."""
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return visitor_ids.verify(value, keys)
    return None


def visitor_cookie(visitor: str, keys: Sequence[SecretStr]) -> str:
    """Return the Set-Cookie header that names the visitor; the page's scripts cannot read it."""
    return f"{COOKIE}={visitor_ids.sign(visitor, keys)}; Max-Age={TTL_SECONDS}; {_ATTRIBUTES}"


def expired_cookie() -> str:
    """Return the Set-Cookie header that makes the browser forget the visitor."""
    return f"{COOKIE}=; Max-Age=0; {_ATTRIBUTES}"
