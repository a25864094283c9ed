"""Stored documents of comments, nodes and sites, with the values and bounds of their fields."""

from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from bson import ObjectId
from pydantic import Field

from chalicelib.comments.mentions import MAX_MENTIONS, Mention
from chalicelib.database.validators import AtMost

StoreName = Literal["documents", "embedded", "buckets"]
Moderation = Literal["after", "before"]
# Votes of readers on comments: none, for a comment only, or for and against.
Votes = Literal["off", "up", "up_down"]
# The time when readers see the counts of votes; the orders use the counts at once.
VotesShown = Literal["always", "after_vote", "after_minutes"]
MAX_REACTIONS = 12
# The most comments that stand above the first page of a discussion.
MAX_PINNED = 3
# The most waiting comments of the caller that a ranked page adds.
MOST_WAITING = 10
# The orders by the votes on the roots of threads.
RankedOrder = Literal["best", "top", "controversial"]
# The fate of a text with a phrase that a publisher watches for.
PhraseAction = Literal["hold", "reject"]
MAX_PHRASES = 500
# The most prefixes in `first_visits`: a page below one gets its node at its first visit.
MAX_PREFIXES = 10
# The most hosts of people's pictures that a site allows.
MAX_AVATAR_HOSTS = 20
# Reasons why a comment waits for a moderator.
Reason = Literal[
    "decoy",
    "too_quick",
    "phrase",
    "links",
    "first",
    "repeated",
    "before",
    "flagged",
    # In this order: the spam service has not answered yet, gave no answer, called it spam.
    "checking",
    "unchecked",
    "spam_check",
    # Its author, a guest, has not confirmed an e-mail address.
    "unconfirmed",
]
MAX_REASONS = 8
# The queue of a comment that waits: its site held it back, or readers flagged it.
WaitingQueue = Literal["pending", "flagged"]
# `spam` needs no decision: the schedule wipes it.
Queue = Literal[WaitingQueue, "spam"]
# A reader's reason to flag a comment.
FlagReason = Literal["spam", "abuse", "off_topic", "personal_data", "other"]
# Repeated texts. `judge`: refuse a text that its author repeats; file it as spam from the third
# author on.
Repeats = Literal["allow", "judge"]
# Whether readers without an account write. `name`: under a name of their choice. `email`: their
# comments also wait until they confirm an e-mail address. `accounts`: no guests write; readers
# sign in by the site's providers alone.
Guests = Literal["off", "accounts", "name", "email"]
# OpenID Connect by discovery, or GitHub, whose sign-in is OAuth 2.0 alone.
ProviderKind = Literal["oidc", "github"]
MAX_PROVIDERS = 5
# The most origins of a site's pages.
MAX_ORIGINS = 20
MAX_BADGES = 5
MAX_BADGE_CHARACTERS = 20
# The longest note of a moderator about a person.
MAX_NOTE_CHARACTERS = 500
ShownBadge = Annotated[str, Field(max_length=MAX_BADGE_CHARACTERS)]
# An author's role at the site as readers see it.
AuthorRole = Literal["moderator", "publisher"]
# The number of levels of trust: 0, 1 and 2.
TRUSTS = 3
# The orders of a listing in the API.
ListingOrder = Literal["oldest", "newest", "best", "top", "controversial"]
# `featured` lists only some comments, so it cannot be the default order of a site.
PageOrder = Literal[ListingOrder, "featured"]
# The most comments in a node's own document, beside its bound in bytes.
MAX_EMBEDDED_COMMENTS = 1_000
# `removed` is a deleted comment without replies: it keeps its place and its id, and no reader sees
# it. The API shows all other states. `spam` hides a comment, too, until the schedule wipes it.
State = Literal["visible", "pending", "hidden", "spam", "deleted", "removed"]
# The states that a moderator gives a comment.
GivenState = Literal["visible", "pending", "hidden", "spam"]

# The state that a comment's author sees in place of `hidden` or `spam`.
Shadow = Literal["visible", "pending"]


class Author(TypedDict):
    """A comment's author, with their badges and role at its site at the time of the post."""

    id: str
    name: str
    badges: NotRequired[Annotated[list[str], AtMost(MAX_BADGES)]]
    role: NotRequired[AuthorRole]


class Comment(TypedDict):
    """A comment, the same from every store; a tombstone has no author, text or html.

    seq: its number in the node.
    slug: the path of ids from its root.
    full_slug: the same path with times and numbers: discussions sort by it (`comments.store`).
    reply_count: its direct replies.
    invisible_replies: its direct replies in another state than `visible`; missing: 0.
    reasons: the reasons of the last verdict to hold it; a moderator's decision empties them.
    shadow: the state that its author sees while it is hidden or spam without their knowledge.
    spam_since: the beginning of its time as spam.
    act: the id of the last act of a moderator on it (`chalicelib.comments.log`).
    mentions: the people whom its text mentions.
    reply_to: the id of the comment that it answers, if that is not its parent: a reply below the
        greatest depth stands beside the comment that it answers.
    """

    id: str
    seq: int
    parent_id: str | None
    slug: str
    full_slug: str
    depth: int
    posted: datetime
    edited: datetime | None
    author: Author | None
    text: str | None
    html: str | None
    renderer: str
    state: State
    reply_count: int
    invisible_replies: NotRequired[int]
    reasons: NotRequired[Annotated[list[Reason], AtMost(MAX_REASONS)]]
    shadow: NotRequired[Shadow | None]
    spam_since: NotRequired[datetime | None]
    act: NotRequired[str]
    mentions: NotRequired[Annotated[list[Mention], AtMost(MAX_MENTIONS)]]
    reply_to: NotRequired[str]


class CommentFields(TypedDict, total=False):
    """Fields of a comment that a change sets or relies on."""

    edited: datetime | None
    author: Author | None
    text: str | None
    html: str | None
    renderer: str
    state: State
    reasons: Annotated[list[Reason], AtMost(MAX_REASONS)]
    shadow: Shadow | None
    spam_since: datetime | None
    act: str
    mentions: Annotated[list[Mention], AtMost(MAX_MENTIONS)]


class EmbeddedComment(Comment):
    """A comment inside its node's document, with its replies inside it."""

    replies: NotRequired[list["EmbeddedComment"]]


class CommentCounts(TypedDict):
    """The numbers of a node's visible and pending comments."""

    visible: int
    pending: int


class NodeMove(TypedDict):
    """The mark of a running move to a new generation."""

    owner: str
    expires_at: datetime
    generation: int


class Vacancy(TypedDict):
    """An id without a node: deleted, reserved for a move, or forwarding to `moved_to`.

    `due`: the time of the next cleaning, when no request works on the former node any more. None:
    the cleaning is done.
    """

    since: datetime
    due: datetime | None
    moved_to: NotRequired[str]


class Embedded(TypedDict, total=False):
    """Comments that the embedded store has in a node: flat `comments`, or threaded `replies`.

    `authors`: the ids of their authors, so that a rename and an erasure find the node.
    """

    count: int
    authors: Annotated[list[str], AtMost(MAX_EMBEDDED_COMMENTS)]
    comments: Annotated[list[EmbeddedComment], AtMost(MAX_EMBEDDED_COMMENTS)]
    replies: Annotated[list[EmbeddedComment], AtMost(MAX_EMBEDDED_COMMENTS)]


class Reaction(TypedDict):
    """A way to react that a site offers; readers' reactions store the key alone."""

    key: str
    emoji: str


class Phrase(TypedDict):
    """A phrase that a publisher watches for, and the fate of a text with it."""

    phrase: str
    action: PhraseAction


class PostLimit(TypedDict):
    """The pace of a person's posts: `burst` at once, then a post each `every_seconds`."""

    burst: int
    every_seconds: int


class SiteLimits(TypedDict):
    """The pace of people's writes at a site; `posts`: the limits of trust 0, 1 and 2."""

    posts: Annotated[list[PostLimit], AtMost(TRUSTS)]
    votes_per_minute: int
    flags_per_hour: int


class SignInProvider(TypedDict):
    """A site's sign-in provider.

    `key` is its name at the site, and `client_secret` is sealed (`chalicelib.sealing`).
    """

    key: str
    name: str
    kind: ProviderKind
    issuer: str
    client_id: str
    client_secret: str


class CommentSite(TypedDict):
    """The settings of a site's discussions, by its publisher.

    hooked: whether the site has webhooks (`chalicelib.webhooks`).
    """

    _id: str
    votes: Votes
    votes_shown: VotesShown
    votes_shown_after_minutes: int
    reactions: Annotated[list[Reaction], AtMost(MAX_REACTIONS)]
    order: ListingOrder
    moderation: Moderation
    phrases: Annotated[list[Phrase], AtMost(MAX_PHRASES)]
    max_links: int | None
    approve_first: int
    repeats: Repeats
    limits: SiteLimits
    close_after_days: NotRequired[int | None]
    slow_seconds: NotRequired[int]
    flags_hold: int
    spam_check_url: NotRequired[str | None]
    avatar_hosts: NotRequired[Annotated[list[str], AtMost(MAX_AVATAR_HOSTS)] | None]
    first_visits: NotRequired[Annotated[list[str], AtMost(MAX_PREFIXES)]]
    guests: NotRequired[Guests]
    guests_vote: NotRequired[bool]
    origins: NotRequired[Annotated[list[str], AtMost(MAX_ORIGINS)]]
    search: NotRequired[bool]
    notifications: NotRequired[bool]
    hooked: NotRequired[bool]
    providers: NotRequired[Annotated[list[SignInProvider], AtMost(MAX_PROVIDERS)]]


class NodeGeneration(TypedDict):
    """A generation of a node's comments, and its store."""

    _id: str
    store: StoreName
    generation: int


class NodeLayout(NodeGeneration):
    """A generation of a node's comments with its layout: its store, flat or threaded."""

    threaded: bool


class Node(TypedDict):
    """A stored node.

    written: the time of the last write; a comparison of the counts is due until it is None.
    version: rises after each write that changes a page for readers.
    shadows: rises after each write that only a shadowed author and moderators see.
    unseen: the number of these writes for each `nodes.unseen_part`; few authors share a part.
    life: distinguishes the node from earlier and later nodes with the same id.
    url_key: the key of its page's address (`chalicelib.comments.page_urls`).
    counts_version, entries_version: for 0.3.0 alone.
    pinned: the ids of comments that moderators show above its first page.
    moderation, votes, order, slow_seconds: None or missing: the site's settings decide.
    opens_at, closes_at: None or missing: no bound.
    closes_after: the days between its page's appearance and `closes_at`, by its site's settings;
        missing: a person chose `closes_at`, or there is none.
    numbering: rises when an import numbers its comments anew; missing: 0.
    imported: the last thread that was imported into it (`chalicelib.comments.importing`).
    public_from, public_until: the time of its page in public; None or missing: no bound. At other
        times, only the site's staff sees the node.
    page_edition: the edition of its page that these are of; missing: of 0.3.0, or without a page.
    """

    _id: str
    site: str
    title: str
    url: str
    store: StoreName
    threaded: bool
    max_depth: int
    locked: bool
    moderation: Moderation | None
    last_seq: int
    last_posted: datetime | None
    generation: int
    last_generation: int
    moving: NodeMove | None
    wanted_store: StoreName | None
    written: datetime | None
    counts: CommentCounts
    metadata: NotRequired[Embedded]
    vacant: NotRequired[Vacancy]
    version: NotRequired[int]
    shadows: NotRequired[int]
    unseen: NotRequired[dict[str, Any]]
    life: NotRequired[ObjectId]
    url_key: NotRequired[str]
    counts_version: NotRequired[int]
    entries_version: NotRequired[int]
    wanted_id: NotRequired[str | None]
    votes: NotRequired[Votes | None]
    order: NotRequired[ListingOrder | None]
    pinned: NotRequired[Annotated[list[str], AtMost(MAX_PINNED)]]
    slow_seconds: NotRequired[int | None]
    opens_at: NotRequired[datetime | None]
    closes_at: NotRequired[datetime | None]
    closes_after: NotRequired[int]
    public_from: NotRequired[datetime | None]
    public_until: NotRequired[datetime | None]
    page_edition: NotRequired[int]
    numbering: NotRequired[int]
    imported: NotRequired[str]


class CommentPlace(NamedTuple):
    """The ids of a comment and of its node."""

    node_id: str
    comment_id: str


class PlacedComment(NamedTuple):
    """A comment with its node, as the caller read it."""

    node: Node
    comment: Comment
