"""Messages of the social feed's queues; the queues may still have messages of earlier releases."""

from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from chalicelib.happenings import Happened
from chalicelib.jobs.outbox import Job
from chalicelib.messaging import Message
from chalicelib.notifications.events import Notify
from chalicelib.people.jobs import PersonJob


class Deliver(Message):
    """Continue the fan-out of a post where it stopped."""

    queue: ClassVar[str] = "fan-out"
    type: Literal["deliver"] = "deliver"
    post_id: str


class DeliverChunk(Message):
    """Deliver a post to one chunk of its audience, which the post's document describes."""

    queue: ClassVar[str] = "fan-out"
    type: Literal["chunk"] = "chunk"
    post_id: str
    number: int


class Propagate(Message):
    """Propagate the changes of a post, or its deletion, to its copies."""

    queue: ClassVar[str] = "comment-spread"
    type: Literal["spread"] = "spread"
    post_id: str


class BackFill(Job):
    """Add an author's newest posts to the news of a reader with a new tie to the author.

    `follow` as `tells`: the job also notifies the author of the new follower.
    """

    queue: ClassVar[str] = "social-errands"
    type: Literal["back-fill"] = "back-fill"
    reader_id: str
    author_id: str
    tells: Literal["", "follow"] = Field(default="", exclude_if=lambda tells: not tells)


class Rebuild(Job):
    """Rebuild the news of a reader after a long absence."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["rebuild"] = "rebuild"
    user_id: str


class Trim(Job):
    """Delete a reader's oldest news."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["trim"] = "trim"
    user_id: str


class Refill(Job):
    """Refill a reader's activity feed by the reader's present place and mutes.

    With `after`, an action's id, the job adds nothing: behind this id, it continues to remove
    actions that are not due.
    """

    queue: ClassVar[str] = "social-errands"
    type: Literal["refill"] = "refill"
    user_id: str
    # Left out if empty, so that the key in the outbox equals the key of earlier releases.
    after: str = Field(default="", exclude_if=lambda after: not after)


class RenameRef(Job):
    """Propagate the name of a ref to every action about it."""

    queue: ClassVar[str] = "social-errands"
    runs_twice: ClassVar[bool] = True
    type: Literal["rename-ref"] = "rename-ref"
    ref_id: str


class DeliverAction(Message):
    """Continue the fan-out of an action where it stopped."""

    queue: ClassVar[str] = "activity"
    type: Literal["deliver"] = "deliver"
    action_id: str


class DeliverActionChunk(Message):
    """Deliver an action to one chunk of its readers, which the action's document describes."""

    queue: ClassVar[str] = "activity"
    type: Literal["chunk"] = "chunk"
    action_id: str
    number: int


class Rerank(Job):
    """Rank an action again after an event, for the readers with ids greater than `after`."""

    queue: ClassVar[str] = "activity"
    type: Literal["rank"] = "rank"
    action_id: str
    event_id: str
    after: str = ""


class Cascade(Job):
    """Hide, show or delete the feed items of an action, to agree with the action."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["cascade"] = "cascade"
    action_id: str


FeedKind = Literal["follow", "post.comment", "post.reaction", "post.wall"]


class NotifyFeed(Job):
    """Make notifications agree with an act of a person in the social feed.

    `thing` is `{post}` or `{post}/{comment}`. For `follow`, `thing` is empty, and the job covers
    all people whom the person follows. The job runs again once no earlier request can be running.
    """

    queue: ClassVar[str] = "social-errands"
    runs_twice: ClassVar[bool] = True
    type: Literal["notify-feed"] = "notify-feed"
    by: str
    kind: FeedKind
    thing: str = ""


class NotifyWatchers(Job):
    """Notify the readers who watch an author, `by`, of the author's new post.

    `thing` is `{post}` for all these readers, or `{post}/{reader}` for ids greater than `{reader}`.
    """

    queue: ClassVar[str] = "social-errands"
    type: Literal["notify-watchers"] = "notify-watchers"
    by: str
    thing: str


SocialJob = (
    BackFill | Rebuild | Trim | Refill | RenameRef | Rerank | Cascade | NotifyFeed | NotifyWatchers
)
ActivityMessage = DeliverAction | DeliverActionChunk | Rerank

# Pydantic builds an adapter at its first message: a worker uses one, most containers none.
_DEFERRED = ConfigDict(defer_build=True)
FAN_OUT: TypeAdapter[Deliver | DeliverChunk] = TypeAdapter(
    Annotated[Deliver | DeliverChunk, Field(discriminator="type")], config=_DEFERRED
)
PROPAGATE: TypeAdapter[Propagate] = TypeAdapter(Propagate)
# The outbox also has the jobs of people, of happenings and of notifications.
JOB: TypeAdapter[SocialJob | PersonJob | Happened | Notify] = TypeAdapter(
    Annotated[SocialJob | PersonJob | Happened | Notify, Field(discriminator="type")],
    config=_DEFERRED,
)
ACTIVITY: TypeAdapter[ActivityMessage] = TypeAdapter(
    Annotated[ActivityMessage, Field(discriminator="type")], config=_DEFERRED
)
