"""Routes of sign-in providers: their settings for publishers, and sign-ins for readers."""

from chalicelib import account_tokens
from chalicelib.comments.errors import (
    SignInExpired,
    TooManyProviders,
    UnknownLink,
    UnknownProvider,
)
from chalicelib.comments.providers import accounts, flow, stored
from chalicelib.comments.providers.flow import Led
from chalicelib.comments.providers.forms import (
    GITHUB,
    AccountCode,
    BeginQuery,
    CallbackQuery,
    ProviderAnswer,
    ProvidersAnswer,
    ProviderSettings,
    SignedInAnswer,
    provider_answer,
)
from chalicelib.comments.shapes import SignInProvider
from chalicelib.comments.sign_in import addresses
from chalicelib.comments.sites import settings
from chalicelib.comments.sites.offered import ProviderKey
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.http import Found, NoContent, Ok, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.limits import NODES, SIGN_INS
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_settings(route)
    _declare_removal(route)
    _declare_sign_in(route)
    _declare_codes(route)


def _declare_settings(route: Route) -> None:
    @route("GET", "/sites/{site}/providers")
    def list_providers(request: Request, site: SiteId, publisher: Publisher) -> Ok[ProvidersAnswer]:
        """List the providers of a site, without their secrets."""
        check_publisher(publisher, site)
        found = stored.read(request.runtime, site)
        return Ok({"providers": [_answer(request, site, each) for each in found]})

    @route(
        "PUT",
        "/sites/{site}/providers/{provider}",
        limit=NODES,
        raises=(TooManyProviders,),
    )
    def put_provider(
        request: Request,
        site: SiteId,
        provider: ProviderKey,
        publisher: Publisher,
        body: ProviderSettings,
    ) -> Ok[ProviderAnswer]:
        """Add or replace a sign-in provider of a site, OpenID Connect or GitHub; at most five.

        Register the answer's `redirect_uri` with the provider. The change holds within five
        seconds. After a change of the issuer, readers sign in as new people.
        """
        check_publisher(publisher, site)
        wanted: SignInProvider = {
            "key": provider,
            "name": body.name,
            "kind": body.kind,
            "issuer": body.issuer or GITHUB,
            "client_id": body.client_id,
            "client_secret": "",
        }
        answer = _answer(request, site, wanted)
        stored.put(request.runtime, site, wanted, body.client_secret)
        return Ok(answer)


def _declare_removal(route: Route) -> None:
    @route("DELETE", "/sites/{site}/providers/{provider}", limit=NODES)
    def delete_provider(
        request: Request, site: SiteId, provider: ProviderKey, publisher: Publisher
    ) -> NoContent:
        """Remove a provider: readers cannot sign in by it any more, but their tokens stay valid."""
        check_publisher(publisher, site)
        stored.remove(request.runtime, site, provider)
        return NoContent()


def _answer(request: Request, site: str, provider: SignInProvider) -> ProviderAnswer:
    own = flow.redirect_uri(request.runtime, site, provider["key"])
    return provider_answer(site, provider, own)


def _declare_sign_in(route: Route) -> None:
    @route(
        "GET",
        "/sites/{site}/providers/{provider}/sign-in",
        limit=SIGN_INS,
        raises=(UnknownProvider,),
    )
    def begin_sign_in(
        request: Request, site: SiteId, provider: ProviderKey, query: BeginQuery
    ) -> Found:
        """Redirect a reader's browser to a provider; the sign-in then leads back to `return_to`.

        The browser returns with a code in the fragment, `#plaza-account=`, or with a failure,
        `#plaza-sign-in=`.
        """
        here = request.runtime
        if not addresses.is_of(query.return_to, settings.of(here, site).get("origins", [])):
            message = "This is no page of the site's origins"
            raise InvalidRequest(errors=[FieldError("return_to", "foreign", message)])
        return _lead(flow.begin(here, site, provider, query.return_to))

    @route(
        "GET",
        "/sites/{site}/providers/{provider}/callback",
        limit=SIGN_INS,
        raises=(SignInExpired,),
    )
    def finish_sign_in(
        request: Request, site: SiteId, provider: ProviderKey, query: CallbackQuery
    ) -> Found:
        """Take a provider's answer, and redirect to the page where the sign-in began."""
        cookies: str = request.raw.headers.get("cookie") or ""
        return _lead(flow.finish(request.runtime, site, provider, query, cookies))


def _declare_codes(route: Route) -> None:
    @route("POST", "/sites/{site}/sign-in/account", raises=(UnknownLink,))
    def exchange_account_code(
        request: Request, site: SiteId, body: AccountCode
    ) -> Ok[SignedInAnswer]:
        """Exchange a sign-in's code for a bearer token; the code works once, for two minutes."""
        here = request.runtime
        found = accounts.exchange(here, site, body.code)
        request.details["person"] = found.id
        token = account_tokens.issue(found, here.settings.signing_keys)
        return Ok(
            {
                "id": found.id,
                "name": found.name,
                "site": site,
                "token": token,
                "expires_at": found.expires_at,
            }
        )


def _lead(led: Led) -> Found:
    headers = {
        "Location": led.address,
        "Set-Cookie": led.cookie,
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
    return Found("", headers)
