"""The shapes of posts and of the comments on them: as stored, as read, as shown."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from chalicelib.bounds import BOUNDS
from chalicelib.database import Document
from chalicelib.database.validators import AtMost
from chalicelib.marks.shapes import Marking
from chalicelib.social.delivery.state import FanOut
from chalicelib.social.graph.audience import MAX_CIRCLES
from chalicelib.social.graph.users import By


class PostComment(TypedDict):
    """A comment as it is stored on its post; without `edited`, its text is the first."""

    id: str
    by: By
    ts: datetime
    text: str
    edited: NotRequired[datetime]


class OlderComment(PostComment):
    """A comment that has left its post."""

    _id: str
    post_id: str


class PostFanOut(FanOut):
    """A post's fan-out; with `pull`, readers read the post where it is."""

    pull: bool


class SpreadState(TypedDict):
    """The version of what is shown of a post; `due` while its copies may be behind.

    `resends` and `resent_by` say how often its message was sent again since, and by which sweep.
    """

    version: int
    due: NotRequired[datetime]
    resends: NotRequired[int]
    resent_by: NotRequired[str]


class PostBody(TypedDict):
    """A post without its fan-out; a tombstone, being `deleted`, has no detail and no comments.

    `circles` are keys, or `*public*` or `*circles*` alone. A post that is `off_wall` was on another
    user's wall, until that user took it off. `votes` are counted by the number of the option, from
    0; they are missing until the first, and so are the counts of `reactions`, by their kind.
    """

    _id: str
    by: By
    wall: str
    off_wall: NotRequired[bool]
    circles: Annotated[list[str], AtMost(MAX_CIRCLES)]
    type: str
    detail: Document
    ts: datetime
    edited: datetime | None
    audience: Literal["at_view", "at_post"]
    deleted: bool
    comments: Annotated[list[PostComment], AtMost(BOUNDS.social.held_on_post)]
    comment_count: int
    votes: NotRequired[dict[str, int]]
    vote_count: NotRequired[int]
    reactions: NotRequired[dict[str, int]]
    marking: NotRequired[Marking]
    spread: SpreadState


class Post(PostBody):
    """A post as it is stored."""

    fan_out: PostFanOut


class PollResults(TypedDict):
    """The votes in a poll by option, in the order of the options, and the reader's own."""

    votes: list[int]
    own: str | None


class PostReactions(TypedDict):
    """How many reacted to a post, by kind, and the kinds of the reader's own reactions."""

    counts: dict[str, int]
    own: list[str]


class ReadPost(PostBody):
    """A post as it is read for views, with its id under the name that copies have."""

    id: str
    results: NotRequired[PollResults]
    reacted: NotRequired[PostReactions]


class AddressedPost(TypedDict):
    """What decides who may see a post."""

    id: str
    by: By
    wall: str
    circles: list[str]
    audience: Literal["at_view", "at_post"]


class ShownPost(AddressedPost):
    """What readers are shown of a post, or of a copy of it, which has no `votes`."""

    type: str
    detail: Document
    ts: datetime
    edited: datetime | None
    comments: list[PostComment]
    comment_count: int
    votes: NotRequired[dict[str, int]]
    results: NotRequired[PollResults]
    reacted: NotRequired[PostReactions]
