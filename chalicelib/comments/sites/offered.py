"""A site's offers to readers in a discussion: reactions, hours of writing, ways to sign in."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.comments.forms import SlowSeconds
from chalicelib.comments.shapes import MAX_PROVIDERS, CommentSite, Guests, Node

MAX_NAME_CHARACTERS = 50
# A family of four with skin tones has eleven code points; most emoji have one to eight.
MAX_EMOJI_CHARACTERS = 8
ReactionKey = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9_]{1,20}$"),
    Field(description="What is stored of a reaction.", examples=["heart"]),
]
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
    """The ways to write without an account of the site: as a guest, or by a provider."""

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
    """Return the mode of guests and the providers under these settings, without secrets."""
    providers = settings.get("providers", [])
    return {
        "guests": settings.get("guests", "off"),
        "providers": [{"key": each["key"], "name": each["name"]} for each in providers],
    }


class ReactionOffered(TypedDict):
    """A way to react that a site offers."""

    key: ReactionKey
    emoji: Annotated[str, Field(max_length=MAX_EMOJI_CHARACTERS)]


def reaction_answers(settings: CommentSite) -> list[ReactionOffered]:
    """Return a site's reactions, in its own order."""
    return [{"key": each["key"], "emoji": each["emoji"]} for each in settings["reactions"]]


class WritingAnswer(TypedDict):
    """The hours of writing in a node, and the pause between a reader's comments."""

    opens_at: Annotated[
        datetime | None, Field(description="From when on readers may write; null for always.")
    ]
    closes_at: Annotated[
        datetime | None, Field(description="Until when readers may write; null for always.")
    ]
    slow_seconds: SlowSeconds


def writing_answer(node: Node, settings: CommentSite) -> WritingAnswer:
    """Return a node's hours and pace of writing under these settings."""
    return {
        "opens_at": node.get("opens_at"),
        "closes_at": node.get("closes_at"),
        "slow_seconds": settings.get("slow_seconds", 0),
    }
