"""Requests of the comments API with their bounds."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from chalicelib.comments.mentions import MAX_MENTIONS
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.shapes import (
    CommentFields,
    GivenState,
    ListingOrder,
    Moderation,
    PageOrder,
    Queue,
    StoreName,
    Votes,
)
from chalicelib.http import Input, PageQuery
from chalicelib.http.batches import batch_of
from chalicelib.instants import Instant
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import DEFAULT_SITE, SiteId
from chalicelib.texts import Line, Paragraphs, TypedText, Url, at_most

MAX_TEXT_CHARACTERS = 10_000
# The largest depth of a comment. Its path has one segment more, and has to fit into a cursor.
DEEPEST = 16
MAX_COUNTS = 100
MAX_DECOY_CHARACTERS = 1_000
# About 25 days, the bound of `written_ms`: a form that was open for longer sends this bound.
MOST_MS = 2**31 - 1
# The site's settings that a node may override.
OVERRIDES = ("moderation", "votes", "order", "slow_seconds")
# The bounds of the time when readers may comment.
TIMES = ("opens_at", "closes_at")
LONGEST_SLOW_SECONDS = 86_400
MAX_ACT_REASON_CHARACTERS = 500

# Wider than the ids that Plaza makes: an id from elsewhere is then unknown, not malformed.
CommentId = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9A-Za-z_-]{1,32}$"),
    Field(description="A comment's id, unique within its node.", examples=["j4qqq5sm0f"]),
]


def _example(**body: Any) -> ConfigDict:
    """Return a model's configuration with one example body."""
    return ConfigDict(json_schema_extra={"examples": [body]})


SlowSeconds = Annotated[
    int,
    Field(
        ge=0,
        le=LONGEST_SLOW_SECONDS,
        description="How long readers wait between two comments of their own; 0 for not at all.",
    ),
]
Text = Annotated[TypedText, at_most(MAX_TEXT_CHARACTERS)]
ActReason = Annotated[
    Paragraphs,
    at_most(MAX_ACT_REASON_CHARACTERS),
    Field(description="Why, for the log: moderators alone read it. Null for nothing said."),
]


class NodeSettings(Input):
    """A node as its publisher wants it. An omitted field stays, or gets its default.

    `site` may repeat the node's site. `moderation`, `votes`, `order` and `slow_seconds` override
    the site's settings; null removes the override. Null also removes `opens_at` and `closes_at`.
    """

    model_config = _example(
        title="The new ferry timetable",
        url="https://harbour-post.example/ferry-timetable",
        moderation="after",
    )

    title: Line
    url: Url
    site: SiteId | None = None
    store: StoreName | None = None
    threaded: bool | None = None
    max_depth: Annotated[int, Field(ge=1, le=DEEPEST)] | None = None
    locked: bool | None = None
    moderation: Moderation | None = None
    votes: Votes | None = None
    order: ListingOrder | None = None
    slow_seconds: SlowSeconds | None = None
    opens_at: Instant | None = Field(None, description="From when on readers may write.")
    closes_at: Instant | None = Field(
        None,
        description="Until when readers may write; a new node closes as its site's settings say.",
    )

    @property
    def overrides(self) -> dict[str, str | int | datetime | None]:
        """The overrides and times that the body has; a null removes the stored value."""
        said = self.model_fields_set
        return {name: getattr(self, name) for name in (*OVERRIDES, *TIMES) if name in said}

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        if self.opens_at and self.closes_at and self.closes_at <= self.opens_at:
            raise ValueError("a discussion closes after it has opened")
        return self


class SoughtPage(Input):
    """The address of a page, and the site that it belongs to."""

    url: Url = Field(
        description="As a browser has it: a fragment and parameters `utm_…` make no difference."
    )
    site: SiteId = DEFAULT_SITE


class VisitedPage(Input):
    """A page that shows a discussion."""

    model_config = _example(
        title="The new ferry timetable", url="https://harbour-post.example/ferry-timetable"
    )

    title: Line
    url: Annotated[Url, Field(description="Its canonical address.")]


PersonIds = Annotated[
    tuple[UserId, ...],
    Field(
        max_length=MAX_MENTIONS,
        description="Ids of people whom the text mentions: `@` and their name, as it stands in the "
        "text. Who does not take part in the discussion is not mentioned: their name is text.",
    ),
]


class NewComment(Input):
    """A comment as its author sends it."""

    model_config = _example(text="The last boat leaves at *nine* now?", parent="j4qqq5sm0f")

    text: Text
    parent: CommentId | None = None
    mentions: PersonIds = ()
    website: str = Field(
        "",
        max_length=MAX_DECOY_CHARACTERS,
        description="For a field that people do not see and programs fill in: what comes with "
        "anything in it is filed as spam, and answered like a comment that waits.",
    )
    written_ms: int | None = Field(
        None,
        ge=0,
        le=MOST_MS,
        description="For how long the form was open, in milliseconds. Less than three seconds is "
        "spam, too, but for moderators and for people with a visible comment at the site. Left "
        "out, nothing is concluded.",
    )


class Preview(Input):
    """A comment that its author previews; its node decides whether images appear."""

    model_config = _example(
        text="The last boat leaves at *nine* now?", node="harbour-post:ferry-timetable"
    )

    text: Text
    node: NodeId | None = None
    mentions: PersonIds = ()


class AsShown(Input):
    """A comment as the caller was shown it."""

    state: GivenState
    edited_at: Instant | None = Field(description="Null if it was never edited.")


Shown = Annotated[
    AsShown | None,
    Field(
        description="`state` and `edited_at` of the comment as it was shown. If it is another by "
        "now, nothing changes: 409 `comment_changed`, and `facts` have what is there. Left out, "
        "the last change wins."
    ),
]


class CommentEdit(Input):
    """A comment's new text."""

    model_config = _example(
        text="The last boat leaves at *half past nine* now?",
        as_shown={"state": "visible", "edited_at": None},
    )

    text: Text
    as_shown: Shown = None
    mentions: PersonIds | None = Field(
        None, description="Left out, those whom it mentions and whose names are still in it."
    )


class StateChange(Input):
    """The state that a moderator gives a comment.

    With `as_shown`, the call fails if the state or the text has changed since; with `edited_at`
    alone, if the text has.
    """

    model_config = _example(
        state="visible", as_shown={"state": "pending", "edited_at": "2026-11-22T08:15:00Z"}
    )

    state: GivenState
    as_shown: Shown = None
    edited_at: Instant | None = Field(None, description="As in `as_shown`, whatever its state is.")
    reason: ActReason | None = None

    @property
    def as_read(self) -> CommentFields:
        """The fields that the comment must still have."""
        if self.as_shown is not None:
            return {"state": self.as_shown.state, "edited": self.as_shown.edited_at}
        return {"edited": self.edited_at} if "edited_at" in self.model_fields_set else {}


class StoreChange(Input):
    """The store that a node shall move to."""

    model_config = _example(store="embedded")

    store: StoreName


class IdChange(Input):
    """The id that a node shall move to."""

    model_config = _example(to="harbour-post:ferry-timetable-2027")

    to: NodeId


class PendingQuery(PageQuery):
    """The query of the moderation queue."""

    state: Literal["pending"] = "pending"
    queue: Queue | None = Field(
        None,
        description="`pending`: what its site holds back until it is read; `flagged`: what people "
        "have flagged; `spam`: what is filed as spam, and wiped after thirty days. Left out, what "
        "waits: the first two.",
    )
    site: SiteId | None = Field(None, description="Left out, every site of the caller's.")
    author: UserId | None = Field(None, description="Left out, whoever wrote it.")


class CountsQuery(Input):
    """Up to 100 nodes to count comments of, separated by commas."""

    nodes: Annotated[tuple[NodeId, ...], batch_of(NodeId, MAX_COUNTS)] = Field(
        description="Ids, separated by commas. The answer leaves out an id that no node can have."
    )


class CommentsQuery(PageQuery):
    """The query of a node's comments."""

    order: Annotated[
        PageOrder | None,
        Field(
            description="Left out, the order that the node or its site has chosen. `featured`: "
            "what moderators feature and nothing else, the last that was featured first."
        ),
    ] = None
    around: Annotated[
        CommentId | None,
        Field(description="A comment that the page shall hold, in place of a `cursor`."),
    ] = None

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if self.around is not None and self.cursor is not None:
            raise ValueError("a page has a place by `around` or by `cursor`, not by both")
        if self.around is not None and self.order not in {None, "oldest", "newest"}:
            raise ValueError("a page around a comment has an order by time")
        return self
