"""The form in which the API answers about the settings of a site's discussions."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.models import SlowSeconds
from chalicelib.comments.shapes import (
    MAX_PHRASES,
    MAX_REACTIONS,
    TRUSTS,
    CommentSite,
    ListingOrder,
    Moderation,
    Node,
    PhraseAction,
    Repeats,
    Votes,
    VotesShown,
)
from chalicelib.comments.sites.models import (
    MAX_EMOJI_CHARACTERS,
    MAX_PHRASE_CHARACTERS,
    MOST_DAYS,
    MOST_FLAGS,
    MOST_LINKS,
    ReactionKey,
)
from chalicelib.sites.ids import SiteId


class ReactionOffered(TypedDict):
    """A way to react that a site offers."""

    key: ReactionKey
    emoji: Annotated[str, Field(max_length=MAX_EMOJI_CHARACTERS)]


class PhraseWatched(TypedDict):
    """A phrase that a publisher watches for."""

    phrase: Annotated[str, Field(max_length=MAX_PHRASE_CHARACTERS)]
    action: PhraseAction


class PostLimitAnswer(TypedDict):
    """How often somebody may post: `burst` at once, then one each `every_seconds`."""

    burst: int
    every_seconds: int


class LimitsAnswer(TypedDict):
    """How often people may write; `posts` are for those who are new, known, and long known."""

    posts: Annotated[list[PostLimitAnswer], Field(max_length=TRUSTS)]
    votes_per_minute: int
    flags_per_hour: int


class CommentSettingsAnswer(TypedDict):
    """What a publisher has decided on a site's discussions."""

    site: SiteId
    votes: Votes
    votes_shown: VotesShown
    votes_shown_after_minutes: int
    reactions: Annotated[list[ReactionOffered], Field(max_length=MAX_REACTIONS)]
    order: ListingOrder
    moderation: Moderation
    phrases: Annotated[list[PhraseWatched], Field(max_length=MAX_PHRASES)]
    max_links: Annotated[int, Field(ge=0, le=MOST_LINKS)] | None
    approve_first: int
    repeats: Repeats
    limits: LimitsAnswer
    close_after_days: Annotated[int, Field(ge=1, le=MOST_DAYS)] | None
    slow_seconds: SlowSeconds
    flags_hold: Annotated[int, Field(ge=1, le=MOST_FLAGS)]


class WritingAnswer(TypedDict):
    """When, and how often, readers may write in a node."""

    opens_at: Annotated[
        datetime | None, Field(description="From when on readers may write; null for always.")
    ]
    closes_at: Annotated[
        datetime | None, Field(description="Until when readers may write; null for always.")
    ]
    slow_seconds: SlowSeconds


def writing_answer(node: Node, settings: CommentSite) -> WritingAnswer:
    """Return when, and how often, readers may write in a node with these settings."""
    return {
        "opens_at": node.get("opens_at"),
        "closes_at": node.get("closes_at"),
        "slow_seconds": settings.get("slow_seconds", 0),
    }


def settings_answer(settings: CommentSite) -> CommentSettingsAnswer:
    """Return a site's settings as the API shows them."""
    return {
        "site": settings["_id"],
        "votes": settings["votes"],
        "votes_shown": settings["votes_shown"],
        "votes_shown_after_minutes": settings["votes_shown_after_minutes"],
        "reactions": reactions_offered(settings),
        "order": settings["order"],
        "moderation": settings["moderation"],
        "phrases": [
            {"phrase": each["phrase"], "action": each["action"]} for each in settings["phrases"]
        ],
        "max_links": settings["max_links"],
        "approve_first": settings["approve_first"],
        "repeats": settings["repeats"],
        "limits": {
            "posts": [
                {"burst": each["burst"], "every_seconds": each["every_seconds"]}
                for each in settings["limits"]["posts"]
            ],
            "votes_per_minute": settings["limits"]["votes_per_minute"],
            "flags_per_hour": settings["limits"]["flags_per_hour"],
        },
        "close_after_days": settings.get("close_after_days"),
        "slow_seconds": settings.get("slow_seconds", 0),
        "flags_hold": settings["flags_hold"],
    }


def reactions_offered(settings: CommentSite) -> list[ReactionOffered]:
    """Return the ways to react that a site offers, in its own order."""
    return [{"key": each["key"], "emoji": each["emoji"]} for each in settings["reactions"]]
