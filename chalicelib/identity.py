"""Who is calling: a bearer token verified in process, or nobody."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from json import JSONDecodeError
from typing import Annotated, Any, Literal

import jwt
from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError

from chalicelib.errors import Misconfigured, Unauthenticated, Unavailable
from chalicelib.settings import Settings
from chalicelib.texts import PersonName, drop_controls

UserId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_|-]{1,64}$")]
Role = Literal["moderator", "publisher", "advertiser", "admin"]

# The site of a publisher whose token names none, and of nodes that name none.
DEFAULT_SITE = "default"

_ASYMMETRIC = ("RS256", "ES256")


class Claims(BaseModel):
    """The claims that Plaza reads; an unknown role or claim is passed over.

    Times are seconds, and may have fractions (NumericDate in RFC 7519, section 2).
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    sub: UserId
    exp: float
    nbf: float = 0
    name: Annotated[PersonName | None, BeforeValidator(drop_controls)] = None
    roles: tuple[str, ...] = ()
    advertiser: str | None = None
    sites: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Principal:
    """The caller: `advertiser` is the one that an advertiser acts for.

    `sites` are those of a publisher or a moderator; None where the token names none, which is
    more than an empty list, from which the last site was taken away.
    """

    id: str
    name: str
    roles: frozenset[str] = frozenset()
    advertiser: str | None = None
    sites: frozenset[str] | None = None

    def has(self, *roles: Role) -> bool:
        """Tell whether the caller bears any of the roles; an admin bears them all."""
        return "admin" in self.roles or not self.roles.isdisjoint(roles)

    def owns(self, site: str) -> bool:
        """Tell whether the caller is the site's publisher; an admin owns every site."""
        own_sites = {DEFAULT_SITE} if self.sites is None else self.sites
        return "admin" in self.roles or ("publisher" in self.roles and site in own_sites)


def identify(headers: Mapping[str, str], settings: Settings, now: datetime) -> Principal | None:
    """Return the principal of the Authorization header, or None where there is no header.

    HS256 is verified with PLAZA_JWT_SECRET, RS256 and ES256 with the keys at PLAZA_JWKS_URL;
    a token's own `alg` never lets one stand for the other. Raises Unauthenticated for
    anything but a valid, unexpired token.
    """
    header = headers.get("authorization")
    if header is None:
        return None
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("The Authorization header is not a bearer token")
    claims = _claims(_verified(token.strip(), settings))
    # PyJWT reads the system's clock; Plaza's comes from the runtime.
    if not claims.nbf <= now.timestamp() < claims.exp:
        raise Unauthenticated("The token has expired or is not valid yet")
    return Principal(
        id=claims.sub,
        name=claims.name or claims.sub,
        roles=frozenset(claims.roles),
        advertiser=claims.advertiser,
        sites=None if claims.sites is None else frozenset(claims.sites),
    )


def _verified(token: str, settings: Settings) -> dict[str, Any]:
    try:
        algorithm = str(jwt.get_unverified_header(token).get("alg"))
        key = _key(token, algorithm, settings)
        return jwt.decode(
            token,
            key=key,
            algorithms=[algorithm],
            issuer=settings.jwt_issuer,
            audience=settings.jwt_audience,
            options={
                "require": ["sub", "exp"],
                "verify_exp": False,
                "verify_nbf": False,
                "verify_iat": False,
                "verify_aud": settings.jwt_audience is not None,
                "verify_iss": settings.jwt_issuer is not None,
            },
        )
    except (jwt.PyJWKClientConnectionError, JSONDecodeError):
        raise Unavailable("The identity provider's keys cannot be reached") from None
    except jwt.PyJWTError:
        raise Unauthenticated("The token's signature or claims are not valid") from None


def _key(token: str, algorithm: str, settings: Settings) -> Any:
    if settings.jwt_secret is None and settings.jwks_url is None:
        raise Misconfigured("Neither PLAZA_JWT_SECRET nor PLAZA_JWKS_URL is set")
    if algorithm == "HS256" and settings.jwt_secret is not None:
        return settings.jwt_secret.get_secret_value()
    if algorithm in _ASYMMETRIC and settings.jwks_url is not None:
        # With the algorithm that it is published for, so that it serves for no other.
        return _key_set(settings.jwks_url).get_signing_key_from_jwt(token)
    raise Unauthenticated("The token is signed with an algorithm that is not accepted here")


@lru_cache(maxsize=4)
def _key_set(url: str) -> jwt.PyJWKClient:
    """Return the key set of a URL; a container fetches it once and keeps it for five minutes.

    No key is kept beside it: one that is withdrawn would be good for the container's whole life.
    """
    return jwt.PyJWKClient(url, cache_keys=False, lifespan=300, timeout=5)


def _claims(payload: dict[str, Any]) -> Claims:
    try:
        return Claims.model_validate(payload)
    except ValidationError:
        raise Unauthenticated("The token's claims are not ones that Plaza can read") from None
