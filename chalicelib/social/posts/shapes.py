"""The shapes of posts and of comments on posts: as stored, as read, as shown."""

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
    """A comment as stored on its post; `edited` is missing until its author edits the text."""

    id: str
    by: By
    ts: datetime
    text: str
    edited: NotRequired[datetime]


class OlderComment(PostComment):
    """A comment that moved off its post."""

    _id: str
    post_id: str


class PostFanOut(FanOut):
    """A post's fan-out; with `pull`, workers add the post to no news, and pages pull the post."""

    pull: bool


class SpreadState(TypedDict):
    """The progress of a post's changes to its copies.

    - `version`: each change that the copies must follow raises it
    - `due`: the time of the sweep's next message; missing while the copies are up to date
    - `resends`: the number of messages that sweeps have sent since a worker last took one
    - `resent_by`: the last sweep that sent a message
    """

    version: int
    due: NotRequired[datetime]
    resends: NotRequired[int]
    resent_by: NotRequired[str]


class PostBody(TypedDict):
    """A post without its fan-out.

    - `circles`: keys, or `*public*` or `*circles*` alone
    - `off_wall`: the owner of the wall took the post off
    - `deleted`: a tombstone, without detail and comments
    - `votes`: counts by the number of the option, from 0; missing until the first vote
    - `reactions`: counts by kind; missing until the first reaction
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
    """A post as stored."""

    fan_out: PostFanOut


class PollResults(TypedDict):
    """The numbers of votes in the order of a poll's options, and the reader's own option."""

    votes: list[int]
    own: str | None


class PostReactions(TypedDict):
    """The numbers of reactions to a post by kind, and the kinds of the reader's own reactions."""

    counts: dict[str, int]
    own: list[str]


class ReadPost(PostBody):
    """A post as views read it; `id` repeats `_id`, because copies have `id`."""

    id: str
    results: NotRequired[PollResults]
    reacted: NotRequired[PostReactions]


class AddressedPost(TypedDict):
    """The fields of a post that decide its readers."""

    id: str
    by: By
    wall: str
    circles: list[str]
    audience: Literal["at_view", "at_post"]


class ShownPost(AddressedPost):
    """The fields of a post or of a copy that readers see; a copy has no `votes`."""

    type: str
    detail: Document
    ts: datetime
    edited: datetime | None
    comments: list[PostComment]
    comment_count: int
    votes: NotRequired[dict[str, int]]
    results: NotRequired[PollResults]
    reacted: NotRequired[PostReactions]
