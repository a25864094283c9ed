"""Public shapes of a site's sign-in providers, and of sign-ins."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from chalicelib.account_tokens import MAX_TOKEN_CHARACTERS
from chalicelib.comments.people.links import TOKEN_PATTERN
from chalicelib.comments.shapes import MAX_PROVIDERS, ProviderKind, SignInProvider
from chalicelib.comments.sign_in.addresses import ReturnTo
from chalicelib.comments.sites.offered import MAX_NAME_CHARACTERS, ProviderKey
from chalicelib.http import Input
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import SiteId
from chalicelib.texts import Line, OwnUrl, ShownName, at_most

GITHUB = "https://github.com"
_MOST_ANSWERED = 4_000

# Printable ASCII, as client credentials are (RFC 6749, appendix A).
ClientId = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{1,255}$")]
ClientSecret = Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]{1,500}$")]
# Without a query and a fragment (OpenID Connect Discovery 1.0, section 4).
Issuer = Annotated[
    str,
    StringConstraints(
        pattern=r"^https?://[a-z0-9.-]{1,253}(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$", max_length=300
    ),
]


class ProviderSettings(Input):
    """A provider by which readers sign in at a site."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "Harbour accounts",
                    "kind": "oidc",
                    "issuer": "https://accounts.harbour.example",
                    "client_id": "plaza",
                    "client_secret": "a secret of the provider",
                }
            ]
        }
    )

    name: Annotated[Line, at_most(MAX_NAME_CHARACTERS)] = Field(
        description="The name that readers see."
    )
    kind: ProviderKind = Field(
        description="`oidc`: OpenID Connect, found by the discovery document of the issuer."
    )
    issuer: Issuer | None = Field(
        None, description="Needed for `oidc`, exactly as the provider's tokens name it."
    )
    client_id: ClientId
    client_secret: ClientSecret = Field(
        description="Never given back.", json_schema_extra={"writeOnly": True}
    )

    @model_validator(mode="after")
    def _check_issuer(self) -> Self:
        if (self.issuer is None) == (self.kind == "oidc"):
            raise ValueError("OpenID Connect needs an issuer, and GitHub has its own")
        return self


class ProviderAnswer(TypedDict):
    """A provider as the site's publisher sees it."""

    site: SiteId
    key: ProviderKey
    name: Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)]
    kind: ProviderKind
    issuer: Issuer
    client_id: ClientId
    redirect_uri: Annotated[
        OwnUrl, Field(description="The address to register with the provider, for this site.")
    ]


class ProvidersAnswer(TypedDict):
    """The providers of a site as its publisher sees them."""

    providers: Annotated[list[ProviderAnswer], Field(max_length=MAX_PROVIDERS)]


class BeginQuery(Input):
    """The page that a sign-in returns to."""

    return_to: ReturnTo


class CallbackQuery(Input):
    """The answer of a provider (RFC 6749, section 4.1.2; RFC 9207)."""

    state: Annotated[str, Field(max_length=100)] = ""
    code: Annotated[str, Field(max_length=_MOST_ANSWERED)] = ""
    error: Annotated[str, Field(max_length=_MOST_ANSWERED)] = ""
    iss: Annotated[str, Field(max_length=_MOST_ANSWERED)] | None = None


class AccountCode(Input):
    """The code of a finished sign-in, from the page's fragment `#plaza-account=`."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"code": "A" * 43}]})

    code: Annotated[str, StringConstraints(pattern=TOKEN_PATTERN), Field(examples=["A" * 43])]


class SignedInAnswer(TypedDict):
    """A person after a sign-in by a provider, with the bearer token of their calls."""

    id: UserId
    name: ShownName
    site: SiteId
    token: Annotated[
        str, Field(max_length=MAX_TOKEN_CHARACTERS, description="Sent as a bearer token.")
    ]
    expires_at: datetime


def provider_answer(site: str, provider: SignInProvider, redirect_uri: str) -> ProviderAnswer:
    """Return a provider as the site's publisher sees it, without the secret."""
    return {
        "site": site,
        "key": provider["key"],
        "name": provider["name"],
        "kind": provider["kind"],
        "issuer": provider["issuer"],
        "client_id": provider["client_id"],
        "redirect_uri": redirect_uri,
    }
