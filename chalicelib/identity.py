"""The caller of a request, by a bearer token, verified in process."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from chalicelib import account_tokens, guest_tokens, signing, site_tokens
from chalicelib.errors import Misconfigured, Unauthenticated
from chalicelib.people.ids import ID_PATTERN, IMPORTED_ID, ONE_SITE_ID
from chalicelib.people.names import acceptable
from chalicelib.settings import Settings
from chalicelib.site_tokens import Addressed, SiteIssuer
from chalicelib.texts import Line, at_most

if TYPE_CHECKING:
    from chalicelib.key_sets import KeySet

# - `moderator`: acts within sites;
# - `social_moderator`: acts on posts, actions and their fan-outs, which belong to no site;
# - `editor`: writes pages that a publisher publishes;
# - `application`: reports actions of other people to the activity feed.
Role = Literal[
    "moderator", "social_moderator", "publisher", "editor", "advertiser", "application", "admin"
]

# Roles that may have reserved names.
STAFF_ROLES = frozenset({"moderator", "social_moderator", "admin"})

# The prefix of an id that is a subject's hash: the subject is no valid id, or of a reserved form.
HASHED = "hashed|"
_ID = re.compile(ID_PATTERN)
_HASHED_ID = re.compile(re.escape(HASHED) + "[A-Za-z0-9_-]{43}")
# Stands in for a missing PLAZA_SUBJECT_KEY: ids are stable, but a guessed subject reveals its id.
_PUBLIC_KEY = SecretStr("plaza")

_ONE_SITE_BYTES = 16
_MOST_ADDRESS = 500
MOST_BADGES, MOST_BADGE_CHARACTERS = 5, 20
_BADGE: TypeAdapter[str] = TypeAdapter(Annotated[Line, at_most(MOST_BADGE_CHARACTERS)])
_MOST_EMAIL_CHARACTERS = 254
_HTTPS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]+)?(/[!-~]*)?")
# The greatest difference between the clocks of a provider and a container: a token is valid by this
# much earlier and longer.
LEEWAY_SECONDS = 30.0


class Claims(BaseModel):
    """The claims that Plaza reads; it ignores unknown roles and claims.

    A subject has up to 255 ASCII characters (OpenID Connect Core 1.0, section 2).
    Times are seconds, and may have fractions (NumericDate in RFC 7519, section 2). A name may be
    any value: `identify` checks it.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    sub: Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{1,255}$")]
    iss: str = ""
    exp: float
    nbf: float = 0
    name: Any = None
    picture: Any = None
    email: Any = None
    email_verified: Any = False
    roles: tuple[str, ...] = ()
    advertiser: str | None = None
    sites: tuple[str, ...] | None = None


class SiteClaims(Claims):
    """The claims of a token of a site's own issuer; Plaza ignores its roles."""

    badges: Any = None


ReadClaims = TypeVar("ReadClaims", bound=Claims)
# The issuers of a site.
IssuersOf = Callable[[str], Sequence[SiteIssuer]]


@dataclass(frozen=True)
class Principal:
    """The caller.

    - `advertiser`: the advertiser that they act for.
    - `sites`: the sites of a publisher, an editor or a moderator (`chalicelib.sites.permissions`).
      None: the token names no sites; empty: it allows no site.
    - `picture`: the https address of their picture.
    - `site`: the only site where they may act, as a guest, as a person of an issuer of the site,
      or by a sign-in with a provider; None: every site.
    - `is_guest`: whether they have no account.
    - `badges`: shown beside their name at their site.
    - `email`: their address, verified by the deployment's issuer, or by an issuer of a site that
      trusts this issuer's addresses; None: no verified address.
    """

    id: str
    name: str
    roles: frozenset[str] = frozenset()
    advertiser: str | None = None
    sites: frozenset[str] | None = None
    picture: str | None = None
    site: str | None = None
    is_guest: bool = False
    badges: tuple[str, ...] = ()
    email: str | None = field(default=None, repr=False)

    def has(self, *roles: Role) -> bool:
        """Return whether the caller has any of the roles; an admin has them all."""
        return "admin" in self.roles or not self.roles.isdisjoint(roles)


def _no_issuers(_site: str) -> Sequence[SiteIssuer]:
    return ()


def identify(
    headers: Mapping[str, str],
    settings: Settings,
    now: datetime,
    issuers_of: IssuersOf = _no_issuers,
) -> Principal | None:
    """Return the principal of the Authorization header; None: no header.

    PLAZA_JWT_SECRET verifies HS256, and the keys at PLAZA_JWKS_URL verify RS256 and ES256; a
    token's own `alg` never selects the wrong kind of key. PLAZA_SIGNING_KEYS verify the tokens of
    guests and of people of providers; keys of a site's issuers verify the site's tokens. Raises
    Unauthenticated for an invalid or expired token, and Unavailable if the keys of its issuer
    cannot be read.
    """
    header = headers.get("authorization")
    if header is None:
        return None
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("The Authorization header is not a bearer token")
    if token.strip().startswith(guest_tokens.PREFIX):
        return _guest(token.strip(), settings, now)
    if token.strip().startswith(account_tokens.PREFIX):
        return _account(token.strip(), settings, now)
    addressed = site_tokens.read(token.strip(), settings.jwt_audience)
    if addressed is not None:
        return _of_site(token.strip(), addressed, settings, now, issuers_of(addressed.site))
    claims = _claims(_verify(token.strip(), settings, now), Claims, now)
    roles = frozenset(claims.roles)
    own_id = person_id(claims.iss, claims.sub, settings.subject_key)
    return Principal(
        id=own_id,
        name=_name(claims, roles, settings) or own_id,
        roles=roles,
        advertiser=claims.advertiser,
        sites=None if claims.sites is None else frozenset(claims.sites),
        picture=picture_of(claims.picture),
        email=_email(claims),
    )


def _guest(token: str, settings: Settings, now: datetime) -> Principal:
    """Return the guest of a token that Plaza has made; raises Unauthenticated."""
    guest = guest_tokens.read(token, settings.signing_keys, now)
    if guest is None:
        raise Unauthenticated("The guest's token is not valid or has expired")
    name = acceptable(guest.name, settings.reserved_names, is_staff=False)
    return Principal(id=guest.id, name=name or guest.id, site=guest.site, is_guest=True)


def _account(token: str, settings: Settings, now: datetime) -> Principal:
    """Return the person who signed in by a provider of a site; raises Unauthenticated."""
    found = account_tokens.read(token, settings.signing_keys, now)
    if found is None:
        raise Unauthenticated("The sign-in is not valid or has expired")
    name = acceptable(found.name, settings.reserved_names, is_staff=False)
    return Principal(
        id=found.id,
        name=name or found.id,
        sites=frozenset(),
        picture=picture_of(found.picture),
        site=found.site,
    )


def _of_site(
    token: str,
    addressed: Addressed,
    settings: Settings,
    now: datetime,
    issuers: Sequence[SiteIssuer],
) -> Principal:
    """Return the person of a site's own issuer; raises Unauthenticated and Unavailable."""
    if addressed.iss == settings.jwt_issuer:
        raise Unauthenticated("The deployment's issuer issues no tokens of one site")
    payload, issuer = site_tokens.verify(token, addressed, issuers, now)
    claims = _claims(payload, SiteClaims, now)
    site = addressed.site
    own_id = one_site_id("s", site, issuer.iss, claims.sub, settings.subject_key)
    name = acceptable(claims.name, settings.reserved_names, is_staff=False)
    return Principal(
        id=own_id,
        name=name or own_id,
        sites=frozenset(),
        picture=picture_of(claims.picture),
        site=site,
        badges=_badges(claims.badges),
        email=_email(claims) if issuer.trust_email else None,
    )


def _badges(claim: object) -> tuple[str, ...]:
    """Return the valid badges of a claim, each once, up to `MOST_BADGES`."""
    shown: dict[str, None] = {}
    for each in claim if isinstance(claim, list) else ():
        try:
            shown[_BADGE.validate_python(each, strict=True)] = None
        except ValidationError:
            continue
    return tuple(shown)[:MOST_BADGES]


def _email(claims: Claims) -> str | None:
    """Return the verified address of a token; None: it has none."""
    given = claims.email if claims.email_verified is True else None
    return given if isinstance(given, str) and len(given) <= _MOST_EMAIL_CHARACTERS else None


def person_id(issuer: str, subject: str, key: SecretStr | None) -> str:
    """Return the id of an issuer's subject: the subject if it is an id, or else its keyed hash.

    It also hashes a subject in the form of a hash, of an id of one site or of an imported id, so
    that no person can choose another person's id.
    """
    is_reserved = any(made.fullmatch(subject) for made in (_HASHED_ID, ONE_SITE_ID, IMPORTED_ID))
    if _ID.fullmatch(subject) and not is_reserved:
        return subject
    named = json.dumps([issuer, subject]).encode()
    return HASHED + signing.encode(signing.tag(b"subject\0" + named, key or _PUBLIC_KEY))


def one_site_id(
    kind: Literal["s", "p"], site: str, issuer: str, subject: str, key: SecretStr | None
) -> str:
    """Return the id of an issuer's subject at one site: the kind, and 128 bits of a keyed hash.

    `s`: the issuer is the site's own; `p`: a provider that people sign in with there.
    """
    named = json.dumps([kind, site, issuer, subject]).encode()
    tag = signing.tag(b"person of one site\0" + named, key or _PUBLIC_KEY, _ONE_SITE_BYTES)
    return f"{kind}_{signing.encode(tag)}"


def picture_of(claim: object) -> str | None:
    """Return the address in a claim; None: it is not a plain https address."""
    is_address = isinstance(claim, str) and len(claim) <= _MOST_ADDRESS and _HTTPS.fullmatch(claim)
    return claim if is_address and isinstance(claim, str) else None


def _name(claims: Claims, roles: frozenset[str], settings: Settings) -> str | None:
    """Return a token's name; None: it has no acceptable name."""
    is_staff = not roles.isdisjoint(STAFF_ROLES)
    return acceptable(claims.name, settings.reserved_names, is_staff=is_staff)


def _verify(token: str, settings: Settings, now: datetime) -> Mapping[str, Any]:
    import jwt

    find_key = partial(_key, settings, now)
    try:
        return site_tokens.decode_signed(
            token, find_key, settings.jwt_issuer, settings.jwt_audience, now
        )
    except jwt.PyJWTError:
        raise Unauthenticated("The token's signature or claims are not valid") from None


def _key(settings: Settings, now: datetime, algorithm: str, kid: str | None) -> Any:
    if settings.jwt_secret is None and settings.jwks_url is None:
        raise Misconfigured("Neither PLAZA_JWT_SECRET nor PLAZA_JWKS_URL is set")
    if algorithm == "HS256" and settings.jwt_secret is not None:
        return settings.jwt_secret.get_secret_value()
    if algorithm in site_tokens.ASYMMETRIC and settings.jwks_url is not None:
        # PyJWT binds a key to its published algorithm, so the key verifies no other algorithm.
        return _key_set(settings.jwks_url).find(kid, now)
    raise Unauthenticated("The token is signed with an algorithm that is not accepted here")


@lru_cache(maxsize=4)
def _key_set(url: str) -> "KeySet":
    """Return the container's key set of a URL."""
    from chalicelib.key_sets import KeySet

    return KeySet(url)


def _claims(payload: Mapping[str, Any], model: type[ReadClaims], now: datetime) -> ReadClaims:
    """Return the claims of a verified token; raises Unauthenticated if they do not hold now."""
    try:
        claims = model.model_validate(payload)
    except ValidationError:
        raise Unauthenticated("The token's claims have the wrong form") from None
    # PyJWT reads the system's clock; Plaza's comes from the runtime.
    if not claims.nbf - LEEWAY_SECONDS <= now.timestamp() < claims.exp + LEEWAY_SECONDS:
        raise Unauthenticated("The token has expired or is not valid yet")
    return claims
