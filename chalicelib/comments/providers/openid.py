"""OpenID Connect: discovery, keys, and the checks of an ID token.

Sources: OpenID Connect Core 1.0, section 3.1.3.7; Discovery 1.0, section 4.3; RFC 9700.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from chalicelib.comments.providers.asking import (
    Exchange,
    Profile,
    ProviderFailed,
    get,
    is_subject,
    tokens_of,
)
from chalicelib.runtime import Runtime

if TYPE_CHECKING:
    from jwt import PyJWK

SCOPE = "openid profile email"
DISCOVERY = "/.well-known/openid-configuration"
_ALGORITHMS = frozenset({"RS256", "ES256"})
_FRESH = timedelta(minutes=10)
# An unknown key id causes a new fetch only of keys that are at least this old.
_COOL_DOWN = timedelta(seconds=30)
_MOST_KEYS = 50
_MOST_TOKEN_CHARACTERS = 16_000
_LEEWAY_SECONDS = 60


class Endpoints(BaseModel):
    """The parts of a discovery document that Plaza reads."""

    model_config = ConfigDict(frozen=True)

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    # The default of the specification.
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False

    @property
    def is_basic(self) -> bool:
        """Whether the client sends its secret in a header, not in the form.

        Raises ProviderFailed if the provider supports neither.
        """
        methods = self.token_endpoint_auth_methods_supported
        if not {"client_secret_basic", "client_secret_post"}.intersection(methods):
            raise ProviderFailed("no way to name the client's secret")
        return "client_secret_basic" in methods


def endpoints_of(runtime: Runtime, issuer: str) -> Endpoints:
    """Return an issuer's endpoints, at most ten minutes old; raises ProviderFailed."""

    def read() -> Endpoints:
        is_near = runtime.settings.is_local
        found = get(issuer.rstrip("/") + DISCOVERY, is_near=is_near)
        try:
            made = Endpoints.model_validate(found)
        except ValidationError:
            raise ProviderFailed("the discovery document has another form") from None
        if made.issuer != issuer:
            raise ProviderFailed("the discovery document is of another issuer")
        addresses = [made.authorization_endpoint, made.token_endpoint, made.jwks_uri]
        if made.userinfo_endpoint is not None:
            addresses.append(made.userinfo_endpoint)
        if not all(_is_address(each, is_near=is_near) for each in addresses):
            raise ProviderFailed("an endpoint is no https address")
        return made

    return runtime.memory.recall(f"discovery {issuer}", runtime.now(), _FRESH, read)


def _is_address(text: str, *, is_near: bool) -> bool:
    if not text.isascii() or not text.isprintable() or any(each in text for each in ' "\\#'):
        return False
    try:
        found = urlsplit(text)
        port_is_there = found.port is None or found.port > 0
    except ValueError:
        return False
    has_user = "@" in found.netloc
    is_tls = found.scheme == "https" or (is_near and found.scheme == "http")
    return is_tls and bool(found.hostname) and port_is_there and not has_user


def sign_in(runtime: Runtime, issuer: str, given: Exchange, nonce: str) -> Profile:
    """Exchange a code, and return the person's profile; raises ProviderFailed.

    Asks the user info endpoint only if the ID token has no name.
    """
    endpoints = endpoints_of(runtime, issuer)
    is_near = runtime.settings.is_local
    found = tokens_of(endpoints.token_endpoint, given, is_basic=endpoints.is_basic, is_near=is_near)
    claims = _check(runtime, endpoints, given.client_id, found.get("id_token"), nonce)
    if endpoints.userinfo_endpoint is not None and "name" not in claims:
        told = get(endpoints.userinfo_endpoint, is_near=is_near, bearer=found["access_token"])
        # A swapped access token would return another person (section 5.3.2).
        if not isinstance(told, dict) or told.get("sub") != claims["sub"]:
            raise ProviderFailed("the user info is of another person")
        claims = {**told, **claims}
    names = tuple(claims.get(each) for each in ("name", "preferred_username", "nickname"))
    return Profile(issuer, claims["sub"], names, claims.get("picture"), _email(claims))


def _email(claims: dict[str, Any]) -> str | None:
    """Return the address if verified, or else None; some providers write `true` as a text."""
    email, is_verified = claims.get("email"), claims.get("email_verified") in (True, "true")
    return email if is_verified and isinstance(email, str) else None


def _check(
    runtime: Runtime, endpoints: Endpoints, client_id: str, token: object, nonce: str
) -> dict[str, Any]:
    """Verify an ID token and return its claims; raises ProviderFailed for any fault."""
    # Imported at the first sign-in: it would slow every cold start.
    import jwt

    if not isinstance(token, str) or len(token) > _MOST_TOKEN_CHARACTERS:
        raise ProviderFailed("no ID token")
    try:
        header = jwt.get_unverified_header(token)
        algorithm = str(header.get("alg"))
        if algorithm not in _ALGORITHMS:
            raise ProviderFailed("the ID token is signed by another algorithm")
        key = _key(runtime, endpoints.jwks_uri, header.get("kid"), algorithm)
        claims: dict[str, Any] = jwt.decode(
            token,
            key=key,
            algorithms=[algorithm],
            issuer=endpoints.issuer,
            audience=client_id,
            options={
                "require": ["iss", "sub", "aud", "exp", "iat"],
                # PyJWT reads the system's clock; Plaza's comes from the runtime.
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
            },
        )
    except jwt.PyJWTError as error:
        raise ProviderFailed(type(error).__name__) from None
    _check_claims(claims, client_id, nonce, runtime.now())
    return claims


def _check_claims(claims: dict[str, Any], client_id: str, nonce: str, now: datetime) -> None:
    audience, party = claims["aud"], claims.get("azp")
    is_shared = isinstance(audience, list) and len(audience) > 1
    if (is_shared and party is None) or party not in (None, client_id):
        raise ProviderFailed("the ID token is for another client")
    expires, issued, at = claims["exp"], claims["iat"], now.timestamp()
    if not all(isinstance(each, int | float) for each in (expires, issued)):
        raise ProviderFailed("the ID token's times are no numbers")
    if not issued - _LEEWAY_SECONDS <= at < expires + _LEEWAY_SECONDS:
        raise ProviderFailed("the ID token is of another time")
    if claims.get("nonce") != nonce:
        raise ProviderFailed("the ID token is of another sign-in")
    if not is_subject(claims["sub"]):
        raise ProviderFailed("the ID token has no subject")


def _key(runtime: Runtime, url: str, kid: object, algorithm: str) -> "PyJWK":
    """Return the published key with an id and an algorithm; raises ProviderFailed.

    Fetches the keys again if the remembered keys lack it and are at least 30 seconds old.
    """
    memory_key = f"keys {url}"

    def read() -> tuple[datetime, list["PyJWK"]]:
        return runtime.now(), _fetch_keys(runtime, url)

    for attempt in range(2):
        fetched, keys = runtime.memory.recall(memory_key, runtime.now(), _FRESH, read)
        alike = [each for each in keys if each.algorithm_name == algorithm]
        named = [each for each in alike if each.key_id == kid] if kid is not None else alike
        # Without an id there has to be one key alone (Core 1.0, section 10.1).
        if len(named) == 1:
            return named[0]
        if attempt or runtime.now() - fetched < _COOL_DOWN:
            break
        runtime.memory.forget(memory_key)
    raise ProviderFailed("the ID token is signed with a key that is not published")


def _fetch_keys(runtime: Runtime, url: str) -> list["PyJWK"]:
    import jwt

    found = get(url, is_near=runtime.settings.is_local)
    published = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(published, list):
        raise ProviderFailed("the keys have another form")
    keys = []
    for each in published[:_MOST_KEYS]:
        if isinstance(each, dict) and each.get("use", "sig") == "sig":
            try:
                keys.append(jwt.PyJWK.from_dict(each))
            except (jwt.PyJWTError, AttributeError, LookupError, TypeError, ValueError):
                # A key that PyJWT cannot read is no key of this token.
                continue
    return keys
