"""The documents of comments as they are stored: comments, and the nodes that they belong to."""

from datetime import datetime
from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict

from bson import ObjectId
from pydantic import Field

from chalicelib.comments.mentions import MAX_MENTIONS, Mention
from chalicelib.database.validators import AtMost

StoreName = Literal["documents", "embedded", "buckets"]
Moderation = Literal["after", "before"]
# Whether readers vote on comments: not at all, for them, or for and against.
Votes = Literal["off", "up", "up_down"]
# From when on readers are told the counts of votes; the orders know them at once.
VotesShown = Literal["always", "after_vote", "after_minutes"]
MAX_REACTIONS = 12
# Comments that stand above the first page of a discussion.
MAX_PINNED = 3
# Own comments that wait, beside a page by rank.
MOST_WAITING = 10
# The orders by the votes on the roots of threads.
RankedOrder = Literal["best", "top", "controversial"]
# What becomes of a text with a phrase that a publisher watches for.
PhraseAction = Literal["hold", "reject"]
MAX_PHRASES = 500
# Why a comment waits for a moderator.
Reason = Literal[
    "decoy",
    "too_quick",
    "phrase",
    "links",
    "first",
    "repeated",
    "before",
    "flagged",
    # A service is being asked about it; has not answered; has called it spam.
    "checking",
    "unchecked",
    "spam_check",
]
MAX_REASONS = 8
# Where a comment waits for a decision: held back by its site, or made pending by people's flags.
WaitingQueue = Literal["pending", "flagged"]
# With what is filed as spam, which waits for nobody: it is wiped by itself.
Queue = Literal[WaitingQueue, "spam"]
# Why somebody flags a comment.
FlagReason = Literal["spam", "abuse", "off_topic", "personal_data", "other"]
# Whether texts that come again are looked for.
Repeats = Literal["allow", "judge"]
MAX_BADGES = 5
MAX_BADGE_CHARACTERS = 20
# Of a moderator's note about a person.
MAX_NOTE_CHARACTERS = 500
ShownBadge = Annotated[str, Field(max_length=MAX_BADGE_CHARACTERS)]
# What readers are told of an author's rights at the site.
AuthorRole = Literal["moderator", "publisher"]
# A site trusts its people this much: 0, 1 or 2.
TRUSTS = 3
# The orders of a listing that the API gives.
ListingOrder = Literal["oldest", "newest", "best", "top", "controversial"]
# With one that lists some comments alone, so that no site begins with it.
PageOrder = Literal[ListingOrder, "featured"]
# What a node's own document holds at most, beside its bound in bytes.
MAX_EMBEDDED_COMMENTS = 1_000
# `removed` is a deleted comment that nobody had replied to: it keeps its place and its id,
# and is shown to nobody. The API knows the others. `spam` is hidden, too, and not for ever.
State = Literal["visible", "pending", "hidden", "spam", "deleted", "removed"]
# Those that a moderator gives a comment.
GivenState = Literal["visible", "pending", "hidden", "spam"]

# What the author of a hidden comment is shown in place of its state, if they are shadowed.
Shadow = Literal["visible", "pending"]


class Author(TypedDict):
    """Who wrote a comment, with the badges and the role that they had at its site then."""

    id: str
    name: str
    badges: NotRequired[Annotated[list[str], AtMost(MAX_BADGES)]]
    role: NotRequired[AuthorRole]


class Comment(TypedDict):
    """A comment, the same from every store; a tombstone has no author, text and html.

    `seq` is its number in the node, `slug` the path of ids from its root, and `full_slug` the
    same path in the order of a discussion (`chalicelib.comments.order`). `reply_count` counts
    every direct reply, `invisible_replies` those in another state than `visible`; left out is 0.
    `reasons` say why it was held when it was last judged; a moderator's decision empties them.
    `shadow` is the state that the author of a hidden comment or of spam is shown, who is not told.
    `spam_since` is since when it is spam. `act` is what a moderator last did with it
    (`chalicelib.comments.log`). `mentions` are those whom its text mentions.
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


class CommentFields(TypedDict, total=False):
    """Fields of a comment that a change sets, or that a change relies on."""

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
    """How many comments of a node are in these states."""

    visible: int
    pending: int


class Move(TypedDict):
    """The mark of a move that is under way, to the generation that it makes."""

    owner: str
    expires_at: datetime
    generation: int


class Vacancy(TypedDict):
    """Why an id has no node: it was deleted, or is kept for one, or has moved to `moved_to`.

    At `due` nobody can still be at work on it.
    """

    since: datetime
    due: datetime | None
    moved_to: NotRequired[str]


class Embedded(TypedDict, total=False):
    """What the embedded store keeps in a node: flat `comments`, or threaded `replies`.

    `authors` are all who wrote one of them, by which a rename and an erasure find the node.
    """

    count: int
    authors: Annotated[list[str], AtMost(MAX_EMBEDDED_COMMENTS)]
    comments: Annotated[list[EmbeddedComment], AtMost(MAX_EMBEDDED_COMMENTS)]
    replies: Annotated[list[EmbeddedComment], AtMost(MAX_EMBEDDED_COMMENTS)]


class Reaction(TypedDict):
    """A way to react that a site offers; what is stored of a reaction is the key alone."""

    key: str
    emoji: str


class Phrase(TypedDict):
    """A phrase that a publisher watches for, and what becomes of a text that has it."""

    phrase: str
    action: PhraseAction


class PostLimit(TypedDict):
    """How often somebody may post: `burst` at once, then one each `every_seconds`."""

    burst: int
    every_seconds: int


class SiteLimits(TypedDict):
    """How often people may write at a site; `posts` are for trust 0, 1 and 2."""

    posts: Annotated[list[PostLimit], AtMost(TRUSTS)]
    votes_per_minute: int
    flags_per_hour: int


class CommentSite(TypedDict):
    """What a site's publisher has decided on its discussions."""

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


class NodeGeneration(TypedDict):
    """A generation of a node's comments, and the store that has it."""

    _id: str
    store: StoreName
    generation: int


class NodeLayout(NodeGeneration):
    """A generation of a node's comments, and whether they are threaded."""

    threaded: bool


class Node(TypedDict):
    """A node as it is stored; `written` waits for the counts to be compared.

    `version` is raised by each write that changes a page, once that can be read; `shadows` by each
    that only changes what a shadowed author and moderators are shown.

    `life` tells it from other nodes that have had its id, and `counts_version` says by which
    rules its comments' replies are counted; with an `entries_version` each has its entry.

    `pinned` are the ids of comments that moderators show above its first page.
    `moderation`, `votes`, `order` and `slow_seconds` are None, or left out, where its site's
    settings decide; `opens_at` and `closes_at` where no time does.
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
    moving: Move | None
    wanted_store: StoreName | None
    written: datetime | None
    counts: CommentCounts
    metadata: NotRequired[Embedded]
    vacant: NotRequired[Vacancy]
    version: NotRequired[int]
    shadows: NotRequired[int]
    life: NotRequired[ObjectId]
    counts_version: NotRequired[int]
    entries_version: NotRequired[int]
    wanted_id: NotRequired[str | None]
    votes: NotRequired[Votes | None]
    order: NotRequired[ListingOrder | None]
    pinned: NotRequired[Annotated[list[str], AtMost(MAX_PINNED)]]
    slow_seconds: NotRequired[int | None]
    opens_at: NotRequired[datetime | None]
    closes_at: NotRequired[datetime | None]


class Placed(NamedTuple):
    """A comment, and the node that it is in as it was read."""

    node: Node
    comment: Comment
