"""Tokens of sites' own issuers: JSON Web Tokens whose audience names their site.

Plaza reads the audience `plaza:{site}` before it checks the signature, only to choose the keys. A
token is valid if an issuer of that site has the token's `iss` and signed the token. No header of
the token chooses the address of the keys.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from pydantic import SecretStr

from chalicelib import signing
from chalicelib.errors import Unauthenticated, Unavailable
from chalicelib.memory import Memory
from chalicelib.sites.ids import is_site_id

if TYPE_CHECKING:
    from chalicelib.key_sets import PublicKeySet

# Returns the key of an algorithm and a key id, or raises Unauthenticated or Unavailable.
FindKey = Callable[[str, str | None], Any]

AUDIENCE = "plaza:"
ASYMMETRIC = ("RS256", "ES256")
_PARTS = 3
# Key sets that a container caches, over all sites.
_MOST_KEY_SETS = 256
# Most calls of a visit come within minutes: only the first call verifies the token.
_VERIFIED_FOR = timedelta(minutes=5)
_VERIFIED = Memory()


class SiteIssuer(NamedTuple):
    """An issuer whose tokens a site accepts; it has either a secret or published keys."""

    iss: str
    jwks_url: str | None
    secret: SecretStr | None
    trust_email: bool


class _Verified(NamedTuple):
    """A verified token: its claims, and the inputs of the verification."""

    algorithm: str
    kid: str | None
    key: Any
    issuer: str | None
    audience: str | None
    claims: Mapping[str, Any]


class Addressed(NamedTuple):
    """The site and the issuer that an unverified token names."""

    site: str
    iss: str


def audience_of(site: str) -> str:
    """Return the audience of the tokens of a site's own issuers."""
    return AUDIENCE + site


def read(token: str, own_audience: str | None) -> Addressed | None:
    """Return the site and the issuer that an unverified token names. None: it names no site.

    None also for a token with `own_audience`, which the deployment's own issuer signs. Raises
    Unauthenticated for a token of several sites: at each, its `sub` is a different person.
    """
    payload = _payload(token)
    audience = payload.get("aud")
    listed = audience if isinstance(audience, list) else [audience]
    if own_audience is not None and own_audience in listed:
        return None
    named = {each for each in listed if isinstance(each, str) and each.startswith(AUDIENCE)}
    sites = {site for each in named if is_site_id(site := each.removeprefix(AUDIENCE))}
    if len(sites) > 1:
        raise Unauthenticated("The token is for more than one site")
    issuer = payload.get("iss")
    return next(
        (Addressed(site, issuer if isinstance(issuer, str) else "") for site in sites), None
    )


def _payload(token: str) -> Mapping[str, Any]:
    """Return the claims of an unverified token; empty for a text that is no token."""
    parts = token.split(".")
    data = signing.decode(parts[1]) if len(parts) == _PARTS else None
    try:
        payload = orjson.loads(data or b"")
    except ValueError:
        return {}
    return payload if isinstance(payload, dict) else {}


def verify(
    token: str, addressed: Addressed, issuers: Sequence[SiteIssuer], now: datetime
) -> tuple[Mapping[str, Any], SiteIssuer]:
    """Return the claims of a site's token, and the issuer that signed it; the times are unchecked.

    Several issuers may have the same `iss`, for instance during a change of keys. Raises
    Unauthenticated, and Unavailable if the published keys that may verify the token cannot be read.
    """
    import jwt

    silent: Unavailable | None = None
    for issuer in issuers:
        if issuer.iss != addressed.iss:
            continue
        try:
            return _verify(token, addressed.site, issuer, now), issuer
        except (jwt.PyJWTError, Unauthenticated):
            continue
        except Unavailable as error:
            silent = error
    raise silent or Unauthenticated("No issuer of the site has signed the token")


def _verify(token: str, site: str, issuer: SiteIssuer, now: datetime) -> Mapping[str, Any]:
    find_key = partial(_key, site, issuer, now)
    return decode_signed(token, find_key, issuer.iss, audience_of(site), now)


def decode_signed(
    token: str, find_key: FindKey, issuer: str | None, audience: str | None, now: datetime
) -> Mapping[str, Any]:
    """Return the claims of a token that a key has signed, whatever its times.

    `issuer` or `audience` None: any. A container caches verified tokens for five minutes. A cached
    token counts only if its issuer and audience are these, and if `find_key` still returns its
    key. Raises PyJWTError, and the errors of `find_key`.
    """
    known: _Verified | None = _VERIFIED.look(token, now)
    if known is not None:
        named = find_key(known.algorithm, known.kid), issuer, audience
        if named == (known.key, known.issuer, known.audience):
            return known.claims
    return _verify_anew(token, find_key, issuer, audience, now)


def _verify_anew(
    token: str, find_key: FindKey, issuer: str | None, audience: str | None, now: datetime
) -> Mapping[str, Any]:
    """Verify and cache a token, and return its claims; as `decode_signed`."""
    # Imported late: at the top, `jwt` would slow every cold start, also of workers and schedules,
    # which read no token.
    import jwt

    header = jwt.get_unverified_header(token)
    algorithm, kid = str(header.get("alg")), header.get("kid")
    key = find_key(algorithm, kid)
    claims = jwt.decode(
        token,
        key=key,
        algorithms=[algorithm],
        issuer=issuer,
        audience=audience,
        options={
            "require": ["sub", "exp"],
            "verify_exp": False,
            "verify_nbf": False,
            "verify_iat": False,
            "verify_aud": audience is not None,
            "verify_iss": issuer is not None,
        },
    )
    verified = _Verified(algorithm, kid, key, issuer, audience, claims)
    return _VERIFIED.keep(token, now, _VERIFIED_FOR, verified).claims


def _key(site: str, issuer: SiteIssuer, now: datetime, algorithm: str, kid: str | None) -> Any:
    if algorithm == "HS256" and issuer.secret is not None:
        return issuer.secret.get_secret_value()
    if algorithm in ASYMMETRIC and issuer.jwks_url is not None:
        # PyJWT binds a key to its published algorithm, and refuses a token with another algorithm.
        return _key_set(site, issuer.jwks_url).find(kid, now)
    raise Unauthenticated


@lru_cache(maxsize=_MOST_KEY_SETS)
def _key_set(site: str, url: str) -> "PublicKeySet":  # noqa: ARG001 - a site has fetches of its own
    """Return the cached key set of a URL; each site has its own set, and its own fetches."""
    from chalicelib.key_sets import PublicKeySet

    return PublicKeySet(url)
