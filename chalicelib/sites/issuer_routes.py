"""A site's own issuers over HTTP, for its publisher."""

from typing import Annotated, Self

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.http import Input, NoContent, Ok, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.limits import NODES
from chalicelib.site_tokens import AUDIENCE, audience_of
from chalicelib.sites import issuers
from chalicelib.sites.ids import SITE, SiteId
from chalicelib.sites.issuers import MAX_ISSUERS, StoredIssuer, TooManyIssuers
from chalicelib.sites.permissions import check_publisher
from chalicelib.texts import check_address

MAX_URL_CHARACTERS = 500
# As many bytes as the digest of HS256 has (RFC 7518, section 3.2).
MIN_SECRET_BYTES = 32

IssuerKey = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9-]{1,20}$"),
    Field(description="A name of the publisher's for an issuer.", examples=["accounts"]),
]
IssuerName = Annotated[
    str,
    StringConstraints(pattern=r"^[!-~]{1,255}$"),
    Field(
        description="The `iss` of its tokens. Several issuers of a site may have the same.",
        examples=["https://harbour.example"],
    ),
]
KeysUrl = Annotated[
    str,
    StringConstraints(pattern=r"^https://[!-~]+$", max_length=MAX_URL_CHARACTERS),
    AfterValidator(check_address),
    Field(examples=["https://harbour.example/jwks.json"]),
]
HmacSecret = Annotated[
    str, StringConstraints(pattern=rf"^[!-~]{{{MIN_SECRET_BYTES},512}}$", strip_whitespace=False)
]


class NewIssuer(Input):
    """An issuer whose tokens a site accepts: with a secret, or with published keys."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"iss": "https://harbour.example", "jwks_url": "https://harbour.example/jwks.json"}
            ]
        }
    )

    iss: IssuerName
    jwks_url: KeysUrl | None = Field(
        None,
        description="The https address of the keys that verify RS256 and ES256 tokens: a public "
        "server that answers 200 with at most 64 KiB.",
    )
    secret: HmacSecret | None = Field(
        None,
        description="The secret that verifies HS256 tokens, of 32 to 512 ASCII characters without "
        "blanks. It is never given back.",
    )
    trust_email: bool = Field(
        False,  # noqa: FBT003 - pydantic's default
        description="Whether the site believes that `email` with `email_verified` is the person's.",
    )

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        if (self.jwks_url is None) == (self.secret is None):
            raise ValueError("an issuer has either a secret or a jwks_url")
        return self

    def to_store(self, key: str) -> StoredIssuer:
        """Return the stored form of the issuer, under the publisher's key."""
        return {
            "key": key,
            "iss": self.iss,
            "jwks_url": self.jwks_url,
            "secret": self.secret,
            "trust_email": self.trust_email,
        }


class IssuerAnswer(TypedDict):
    """An issuer of a site, without its secret."""

    key: IssuerKey
    iss: IssuerName
    audience: Annotated[
        str,
        StringConstraints(pattern=f"^{AUDIENCE}{SITE}$"),
        Field(description="The `aud` of its tokens.", examples=["plaza:harbour-post"]),
    ]
    jwks_url: Annotated[str, Field(max_length=MAX_URL_CHARACTERS)] | None
    has_secret: bool
    trust_email: bool


class IssuersAnswer(TypedDict):
    """The issuers of a site."""

    issuers: Annotated[list[IssuerAnswer], Field(max_length=MAX_ISSUERS)]


def declare(route: Route) -> None:
    """Declare the routes."""

    @route("GET", "/sites/{site}/issuers")
    def list_issuers(request: Request, site: SiteId, publisher: Publisher) -> Ok[IssuersAnswer]:
        """List the issuers whose tokens a site accepts."""
        check_publisher(publisher, site)
        found = issuers.read(request.runtime, site)
        return Ok({"issuers": [_answer(site, each) for each in found]})

    @route("PUT", "/sites/{site}/issuers/{issuer}", limit=NODES, raises=(TooManyIssuers,))
    def put_issuer(
        request: Request, site: SiteId, issuer: IssuerKey, publisher: Publisher, body: NewIssuer
    ) -> Ok[IssuerAnswer]:
        """Accept the tokens of an issuer of the site's own, in place of the issuer under this key.

        Their `aud` is `plaza:{site}`. A `sub` is a person of this site alone, without any role. To
        replace a secret, set the new one under another key, and remove the old one later.
        """
        check_publisher(publisher, site)
        if body.iss == request.runtime.settings.jwt_issuer:
            message = "This is the deployment's issuer"
            raise InvalidRequest(errors=[FieldError("iss", "deployment_issuer", message)])
        stored = body.to_store(issuer)
        issuers.put(request.runtime, site, stored)
        return Ok(_answer(site, stored))

    @route("DELETE", "/sites/{site}/issuers/{issuer}")
    def remove_issuer(
        request: Request, site: SiteId, issuer: IssuerKey, publisher: Publisher
    ) -> NoContent:
        """Accept no more tokens of an issuer; its former tokens end within five seconds."""
        check_publisher(publisher, site)
        issuers.remove(request.runtime, site, issuer)
        return NoContent()


def _answer(site: str, stored: StoredIssuer) -> IssuerAnswer:
    return {
        "key": stored["key"],
        "iss": stored["iss"],
        "audience": audience_of(site),
        "jwks_url": stored["jwks_url"],
        "has_secret": stored["secret"] is not None,
        "trust_email": stored["trust_email"],
    }
