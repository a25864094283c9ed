"""How a site offers readers without an account of its own to write there."""

from typing import Annotated

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.comments.shapes import MAX_PROVIDERS, CommentSite, Guests

MAX_NAME_CHARACTERS = 50
ProviderKey = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9-]{1,20}$"),
    Field(description="The name of a provider at its site, in addresses.", examples=["github"]),
]


class OfferedProvider(TypedDict):
    """A provider as readers see it."""

    key: ProviderKey
    name: Annotated[str, Field(max_length=MAX_NAME_CHARACTERS)]


class OfferedSignIn(TypedDict):
    """How readers without an account of the site's own write."""

    guests: Annotated[Guests, Field(description="Whether readers without an account may write.")]
    providers: Annotated[
        list[OfferedProvider],
        Field(
            max_length=MAX_PROVIDERS,
            description="By what readers sign in, unless `guests` is `off` "
            "(`GET /sites/{site}/providers/{provider}/sign-in`).",
        ),
    ]


def offered_sign_in(settings: CommentSite) -> OfferedSignIn:
    """Return what a discussion offers under these settings."""
    providers = settings.get("providers", [])
    return {
        "guests": settings.get("guests", "off"),
        "providers": [{"key": each["key"], "name": each["name"]} for each in providers],
    }
