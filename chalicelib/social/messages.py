"""Messages of the social feed's queues, where an earlier release's may still wait."""

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

    `tells`: it also notifies the author, whom the reader follows from now on.
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
    """Refill a reader's activity feed by their present place and mutes.

    With `after`, only the removal of actions that are not due goes on, after that action's id.
    """

    queue: ClassVar[str] = "social-errands"
    type: Literal["refill"] = "refill"
    user_id: str
    # A whole refill has no such field: jobs of earlier releases have the same key in the outbox.
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
    """Re-rank an action after an event, for the readers that follow the id `after`."""

    queue: ClassVar[str] = "activity"
    type: Literal["rank"] = "rank"
    action_id: str
    event_id: str
    after: str = ""


class Cascade(Job):
    """Hide, show or delete the items of an action as the action itself."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["cascade"] = "cascade"
    action_id: str


FeedKind = Literal["follow", "post.comment", "post.reaction", "post.wall"]


class NotifyFeed(Job):
    """Make notifications agree with an act of a person in the social feed.

    `thing` is a post, or `{post}/{comment}`; of `follow`, which means all people whom the person
    follows, it is empty. It runs again when no request from before can still be running.
    """

    queue: ClassVar[str] = "social-errands"
    runs_twice: ClassVar[bool] = True
    type: Literal["notify-feed"] = "notify-feed"
    by: str
    kind: FeedKind
    thing: str = ""


class NotifyWatchers(Job):
    """Notify readers who watch the author of a new post.

    `thing` is `{post}`, or `{post}/{reader}` for the readers after that id.
    """

    queue: ClassVar[str] = "social-errands"
    type: Literal["notify-watchers"] = "notify-watchers"
    by: str
    thing: str


SocialJob = (
    BackFill | Rebuild | Trim | Refill | RenameRef | Rerank | Cascade | NotifyFeed | NotifyWatchers
)
ActivityMessage = DeliverAction | DeliverActionChunk | Rerank

# Built for the first message: a worker reads one adapter, and most containers read none.
_DEFERRED = ConfigDict(defer_build=True)
FAN_OUT: TypeAdapter[Deliver | DeliverChunk] = TypeAdapter(
    Annotated[Deliver | DeliverChunk, Field(discriminator="type")], config=_DEFERRED
)
PROPAGATE: TypeAdapter[Propagate] = TypeAdapter(Propagate)
# The queue of the outbox has the jobs of people, of happenings and of notifications, too.
JOB: TypeAdapter[SocialJob | PersonJob | Happened | Notify] = TypeAdapter(
    Annotated[SocialJob | PersonJob | Happened | Notify, Field(discriminator="type")],
    config=_DEFERRED,
)
ACTIVITY: TypeAdapter[ActivityMessage] = TypeAdapter(
    Annotated[ActivityMessage, Field(discriminator="type")], config=_DEFERRED
)
