"""Public shapes of a site's settings, with their bounds."""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from chalicelib.comments.forms import SlowSeconds
from chalicelib.comments.shapes import (
    MAX_AVATAR_HOSTS,
    MAX_ORIGINS,
    MAX_PHRASES,
    MAX_PREFIXES,
    MAX_REACTIONS,
    TRUSTS,
    CommentSite,
    Guests,
    ListingOrder,
    Moderation,
    PhraseAction,
    Repeats,
    Votes,
    VotesShown,
)
from chalicelib.comments.sites.offered import (
    MAX_EMOJI_CHARACTERS,
    ReactionKey,
    ReactionOffered,
    reaction_answers,
)
from chalicelib.http import Input, without_defaults
from chalicelib.limits import FLAGS, VOTES
from chalicelib.sites.ids import SiteId
from chalicelib.texts import Line, ShownUrl, Url, at_most

MAX_PHRASE_CHARACTERS = 100
MOST_LINKS = 100
MOST_APPROVED = 100
MOST_AT_ONCE = 1_000
_DAY_SECONDS = 24 * 60 * 60
# Ten years.
MOST_DAYS = 3_650
MOST_FLAGS = 1_000
_WEEK_MINUTES = 7 * 24 * 60


class OfferedReaction(Input):
    """A way to react that a site offers."""

    key: ReactionKey
    emoji: Annotated[Line, at_most(MAX_EMOJI_CHARACTERS)]


class WatchedPhrase(Input):
    """A phrase that a publisher watches for: whole words, in upper or lower case.

    A `*` at its beginning or end stands for the rest of the word there.
    """

    phrase: Annotated[Line, at_most(MAX_PHRASE_CHARACTERS)]
    action: PhraseAction = Field(
        "hold", description="`hold`: the comment waits for a moderator; `reject`: 422."
    )

    @model_validator(mode="after")
    def _check_words(self) -> Self:
        if not any(each.isalnum() for each in self.phrase):
            raise ValueError("a phrase has at least one letter or digit")
        if "*" in self.phrase.strip("*"):
            raise ValueError("a * stands at the beginning or at the end of a phrase")
        return self


class PostLimitSetting(Input):
    """The pace of a person's posts: `burst` at once, then a post each `every_seconds`."""

    burst: int = Field(ge=1, le=MOST_AT_ONCE)
    every_seconds: int = Field(ge=1, le=_DAY_SECONDS)


class LimitSettings(Input):
    """The pace of people's posts, votes and flags; omitted limits have their defaults."""

    posts: Annotated[
        tuple[PostLimitSetting, ...],
        Field(
            min_length=TRUSTS,
            max_length=TRUSTS,
            description="For people who are new, known, and long known.",
        ),
    ] = (
        PostLimitSetting(burst=3, every_seconds=60),
        PostLimitSetting(burst=5, every_seconds=20),
        PostLimitSetting(burst=10, every_seconds=5),
    )
    votes_per_minute: int = Field(VOTES.burst, ge=1, le=MOST_AT_ONCE)
    flags_per_hour: int = Field(FLAGS.burst, ge=1, le=MOST_AT_ONCE)


# An origin and whole segments of a path, without user and query. No segment begins with a dot:
# browsers resolve `.` and `..`.
Prefix = Annotated[
    str,
    StringConstraints(
        pattern=r"^https?://[a-z0-9.-]{1,253}(:[0-9]{1,5})?/([A-Za-z0-9_~-][A-Za-z0-9._~-]*/)*$",
        max_length=500,
    ),
]


# The name of a host in lower case, without a port.
AvatarHost = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){1,10}$", max_length=253)
]


# An origin as browsers write it.
Origin = Annotated[
    str,
    StringConstraints(pattern=r"^https?://[a-z0-9.-]{1,253}(:[0-9]{1,5})?$", max_length=270),
]


class CommentSettings(Input):
    """A publisher's settings of a site's discussions; omitted settings have their defaults."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "votes": "up_down",
                    "reactions": [{"key": "heart", "emoji": "\N{HEAVY BLACK HEART}"}],
                    "moderation": "after",
                }
            ]
        }
    )

    votes: Votes = "off"
    votes_shown: VotesShown = Field(
        "always",
        description="When readers are told the counts: always, once they have voted, or some "
        "minutes after the comment was posted. Its author and moderators are always told.",
    )
    votes_shown_after_minutes: int = Field(
        60, ge=1, le=_WEEK_MINUTES, description="The minutes of `after_minutes`."
    )
    reactions: Annotated[
        tuple[OfferedReaction, ...],
        Field(max_length=MAX_REACTIONS, description="What readers can react with; none for none."),
    ] = ()
    order: ListingOrder = Field("oldest", description="How a discussion is listed at first.")
    moderation: Moderation = Field(
        "after", description="`before`: comments wait for a moderator; `after`: they are shown."
    )
    phrases: Annotated[
        tuple[WatchedPhrase, ...],
        Field(
            max_length=MAX_PHRASES,
            description="What comments are searched for, other than those of moderators.",
        ),
    ] = ()
    max_links: Annotated[int, Field(ge=0, le=MOST_LINKS)] | None = Field(
        None,
        description="Comments with more links wait for a moderator, of people who are new with "
        "any; null for no bound.",
    )
    approve_first: int = Field(
        0,
        ge=0,
        le=MOST_APPROVED,
        description="Comments of people with fewer visible ones wait for a moderator.",
    )
    repeats: Repeats = Field(
        "allow",
        description="`judge`: a text of 20 characters or more is taken once a day from each "
        "person (409 `duplicate`), and is filed as spam from the third on.",
    )
    limits: LimitSettings = LimitSettings()
    close_after_days: Annotated[int, Field(ge=1, le=MOST_DAYS)] | None = Field(
        None,
        description="After how many days a node closes that is made from now on; null for never.",
    )
    slow_seconds: SlowSeconds = 0
    flags_hold: int = Field(
        3,
        ge=1,
        le=MOST_FLAGS,
        description="The weight of flags from which on a comment is hidden until a moderator has "
        "decided. A known person's flag weighs 1, a long known person's 2, a moderator's 10; less "
        "where moderators were of another mind. A newcomer's weighs nothing. Any flag puts a "
        "comment into the queue.",
    )

    spam_check_url: Annotated[Url, Field(min_length=1)] | None = Field(
        None,
        description="The address of the site's front page, by which Akismet is asked about each "
        "comment of people who do not moderate the site: it waits until there is an answer. "
        "Akismet is told the address and the browser that it came from. Null for asking nobody.",
    )

    first_visits: Annotated[tuple[Prefix, ...], Field(max_length=MAX_PREFIXES)] = Field(
        (),
        description="The beginnings of addresses whose pages make their nodes by their first visit "
        "(`POST /nodes/{node}/visit`), such as `https://harbour.example/articles/`. A node's name "
        "is the rest of the address, with `:` for `/`. Empty: only you and moderators make nodes.",
    )

    avatar_hosts: Annotated[tuple[AvatarHost, ...], Field(max_length=MAX_AVATAR_HOSTS)] | None = (
        Field(
            None,
            description="The hosts of the pictures of people, such as `pictures.harbour.example`: "
            "to no other does the address of an avatar lead. Empty: initials are drawn for all. "
            "Null: any host, for images in pages alone, and for no browser that opens it.",
        )
    )

    guests: Guests = Field(
        "off",
        description="`name`: readers without an account write under a name of their choice "
        "(`POST /sites/{site}/guests`), with the trust of new people for ever. `email`: their "
        "comments wait until they have opened a link in a letter, too. `accounts`: readers are "
        "offered the site's providers alone, which a discussion names. `off` and `accounts` end "
        "the rights of all guests.",
    )

    guests_vote: bool = Field(
        True,  # noqa: FBT003 - pydantic's default
        description="Whether guests vote and react, too: whoever has several networks is several "
        "guests. Off: their earlier votes and reactions stay.",
    )

    origins: Annotated[tuple[Origin, ...], Field(max_length=MAX_ORIGINS)] = Field(
        (),
        description="The origins of the site's pages, such as `https://harbour.example`: links in "
        "letters to guests, and sign-ins, lead back to these alone.",
    )

    search: bool = Field(
        False,  # noqa: FBT003 - pydantic's default
        description="Whether readers may search the visible comments "
        "(`GET /sites/{site}/search`). Comments from before are found within minutes, of a large "
        "site within hours. Off: all stored words are removed.",
    )

    notifications: bool = Field(
        False,  # noqa: FBT003 - pydantic's default
        description="Whether people get notifications of replies to their comments and of "
        "comments that mention them (`GET /notifications`), from now on.",
    )

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        keys = [each.key for each in self.reactions]
        if len(set(keys)) < len(keys):
            raise ValueError("duplicate keys of reactions are not allowed")
        return self


def _as_a_change(schema: dict[str, Any]) -> None:
    without_defaults(schema)
    schema["examples"] = [{"phrases": [{"phrase": "casino"}]}]


class LimitChange(LimitSettings):
    """Changes of the pace of writing; omitted limits stay."""

    model_config = ConfigDict(json_schema_extra=without_defaults)


class CommentSettingsChange(CommentSettings):
    """Changes of a site's settings; others stay. Moderators change only phrases and limits."""

    model_config = ConfigDict(json_schema_extra=_as_a_change)

    limits: LimitChange = LimitChange()


class PhraseWatched(TypedDict):
    """A phrase that a publisher watches for."""

    phrase: Annotated[str, Field(max_length=MAX_PHRASE_CHARACTERS)]
    action: PhraseAction


class PostLimitAnswer(TypedDict):
    """The pace of a person's posts: `burst` at once, then a post each `every_seconds`."""

    burst: int
    every_seconds: int


class LimitsAnswer(TypedDict):
    """The pace of people's posts, votes and flags; `posts`: the limits of trust 0, 1 and 2."""

    posts: Annotated[list[PostLimitAnswer], Field(max_length=TRUSTS)]
    votes_per_minute: int
    flags_per_hour: int


class CommentSettingsAnswer(TypedDict):
    """A site's settings of discussions, as its publisher and moderators read them."""

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
    spam_check_url: ShownUrl | None
    avatar_hosts: Annotated[list[AvatarHost], Field(max_length=MAX_AVATAR_HOSTS)] | None
    first_visits: Annotated[list[ShownUrl], Field(max_length=MAX_PREFIXES)]
    guests: Guests
    guests_vote: bool
    origins: Annotated[list[Origin], Field(max_length=MAX_ORIGINS)]
    search: bool
    notifications: bool


def settings_answer(settings: CommentSite) -> CommentSettingsAnswer:
    """Return a site's settings as the API shows them."""
    return {
        "site": settings["_id"],
        "votes": settings["votes"],
        "votes_shown": settings["votes_shown"],
        "votes_shown_after_minutes": settings["votes_shown_after_minutes"],
        "reactions": reaction_answers(settings),
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
        "spam_check_url": settings.get("spam_check_url"),
        "avatar_hosts": settings.get("avatar_hosts"),
        "first_visits": settings.get("first_visits", []),
        "guests": settings.get("guests", "off"),
        "guests_vote": settings.get("guests_vote", True),
        "origins": settings.get("origins", []),
        "search": settings.get("search", False),
        "notifications": settings.get("notifications", False),
    }
