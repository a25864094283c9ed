"""Sign-ins by a provider: the authorization code flow with PKCE.

A sealed cookie in the reader's browser holds the state of a sign-in; Plaza stores none of it. Each
provider of each site has its own redirect address, so an answer cannot pass for another provider's
(RFC 9700, section 4.4).
"""

import hashlib
import hmac
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict

from chalicelib import sealing, signing
from chalicelib.comments.errors import SignInExpired, UnknownProvider
from chalicelib.comments.providers import accounts, github, openid, stored
from chalicelib.comments.providers.asking import Exchange, Profile, ProviderFailed
from chalicelib.comments.providers.forms import CallbackQuery
from chalicelib.comments.shapes import SignInProvider
from chalicelib.comments.sign_in import addresses
from chalicelib.comments.sites import settings
from chalicelib.runtime import Runtime

# Time for the reader to sign in at the provider, perhaps with a second device.
LIFETIME = timedelta(minutes=10)
FRAGMENT = "plaza-account="
FAILED = "plaza-sign-in="
_PURPOSE = "sign-in"
_SECRET_BYTES = 32
# With this prefix, no other host of the domain can set the cookie, and no page over plain http.
_COOKIE, _LOCAL_COOKIE = "__Host-plaza-sign-in", "plaza-sign-in"


class Begun(BaseModel):
    """The state of an unfinished sign-in, as the browser's sealed cookie holds it."""

    model_config = ConfigDict(frozen=True)

    site: str
    provider: str
    state: str
    nonce: str
    verifier: str
    return_to: str
    expires: datetime


class Led(NamedTuple):
    """A redirect of a browser: the next address, and the value of `Set-Cookie`."""

    address: str
    cookie: str


def redirect_uri(runtime: Runtime, site: str, key: str) -> str:
    """Return a provider's redirect URI; without PLAZA_PUBLIC_URL, a path alone."""
    return f"{runtime.settings.public_url}/sites/{site}/providers/{key}/callback"


def begin(runtime: Runtime, site: str, key: str, return_to: str) -> Led:
    """Return the redirect to a provider; after a failed discovery, to `return_to` with a failure.

    Raises UnknownProvider.
    """
    provider = stored.find(runtime, site, key)
    made = Begun(
        site=site,
        provider=key,
        state=_draw(runtime),
        nonce=_draw(runtime),
        verifier=_draw(runtime),
        return_to=return_to,
        expires=runtime.now() + LIFETIME,
    )
    asked = {
        "response_type": "code",
        "client_id": provider["client_id"],
        "redirect_uri": redirect_uri(runtime, site, key),
        "state": made.state,
        "code_challenge": _challenge(made.verifier),
        "code_challenge_method": "S256",
    }
    if provider["kind"] == "oidc":
        try:
            address = openid.endpoints_of(runtime, provider["issuer"]).authorization_endpoint
        except ProviderFailed:
            return Led(_with_failure(return_to, "provider_failed"), _end_cookie(runtime))
        asked |= {"scope": openid.SCOPE, "nonce": made.nonce}
    else:
        address = github.AUTHORIZE
        asked["scope"] = github.SCOPE
    joint = "&" if "?" in address else "?"
    return Led(f"{address}{joint}{urlencode(asked)}", _cookie_of(runtime, made))


def finish(runtime: Runtime, site: str, key: str, query: CallbackQuery, cookies: str) -> Led:
    """Redirect to the page of a sign-in, with a code or a failure in the fragment.

    Raises SignInExpired unless this browser began the sign-in in the last ten minutes, at a page
    that still has an origin of the site.
    """
    begun = _find_begun(runtime, cookies)
    if begun is None or (begun.site, begun.provider) != (site, key):
        raise SignInExpired
    if not hmac.compare_digest(begun.state.encode(), query.state.encode()):
        raise SignInExpired
    # The site's origins may have changed since the sign-in began.
    if not addresses.is_of(begun.return_to, settings.of(runtime, site).get("origins", [])):
        raise SignInExpired
    try:
        code = accounts.enter(runtime, site, _profile(runtime, begun, query))
    except UnknownProvider:
        return Led(_with_failure(begun.return_to, "unknown_provider"), _end_cookie(runtime))
    except ProviderFailed:
        refused = "access_denied" if query.error == "access_denied" else "provider_failed"
        return Led(_with_failure(begun.return_to, refused), _end_cookie(runtime))
    return Led(f"{begun.return_to}#{FRAGMENT}{code}", _end_cookie(runtime))


def _profile(runtime: Runtime, begun: Begun, query: CallbackQuery) -> Profile:
    """Exchange the code of an answer for a profile; raises UnknownProvider and ProviderFailed."""
    provider = stored.find(runtime, begun.site, begun.provider)
    _check_issuer(runtime, provider, query)
    if query.error or not query.code:
        raise ProviderFailed("the provider refuses")
    given = Exchange(
        query.code,
        begun.verifier,
        redirect_uri(runtime, begun.site, begun.provider),
        provider["client_id"],
        stored.secret_of(runtime, begun.site, provider),
    )
    if provider["kind"] == "github":
        return github.sign_in(runtime, given)
    return openid.sign_in(runtime, provider["issuer"], given, begun.nonce)


def _check_issuer(runtime: Runtime, provider: SignInProvider, query: CallbackQuery) -> None:
    """Raise ProviderFailed for the answer of another issuer (RFC 9207, section 2.4)."""
    if provider["kind"] != "oidc":
        return
    endpoints = openid.endpoints_of(runtime, provider["issuer"])
    is_needed = endpoints.authorization_response_iss_parameter_supported
    if (query.iss is not None or is_needed) and query.iss != endpoints.issuer:
        raise ProviderFailed("the answer is of another issuer")


def _draw(runtime: Runtime) -> str:
    return signing.encode(runtime.random.randbytes(_SECRET_BYTES))


def _challenge(verifier: str) -> str:
    """Return the challenge of a verifier (RFC 7636, section 4.2)."""
    return signing.encode(hashlib.sha256(verifier.encode()).digest())


def _with_failure(return_to: str, code: str) -> str:
    return f"{return_to}#{FAILED}{code}"


def _name_and_rules(runtime: Runtime) -> tuple[str, str]:
    # Lax: the provider's redirect is a navigation from another site.
    rules = "Path=/; HttpOnly; SameSite=Lax"
    if runtime.settings.public_url.startswith("http:"):
        return _LOCAL_COOKIE, rules
    return _COOKIE, f"{rules}; Secure"


def _cookie_of(runtime: Runtime, begun: Begun) -> str:
    keys = runtime.settings.signing_keys
    sealed = sealing.seal(begun.model_dump_json(), _PURPOSE, keys, runtime.random)
    name, rules = _name_and_rules(runtime)
    return f"{name}={sealed}; Max-Age={int(LIFETIME.total_seconds())}; {rules}"


def _end_cookie(runtime: Runtime) -> str:
    name, rules = _name_and_rules(runtime)
    return f"{name}=; Max-Age=0; {rules}"


def _find_begun(runtime: Runtime, cookies: str) -> Begun | None:
    """Return the sign-in of a `Cookie` header; None: it is missing, forged or expired."""
    name, _ = _name_and_rules(runtime)
    for each in cookies.split(";"):
        key, _, sealed = each.strip().partition("=")
        if key != name:
            continue
        text = sealing.unseal(sealed, _PURPOSE, runtime.settings.signing_keys)
        begun = None if text is None else Begun.model_validate_json(text)
        if begun is not None and runtime.now() < begun.expires:
            return begun
    return None
