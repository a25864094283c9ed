"""The messages of the social feed's queues."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field, TypeAdapter

from chalicelib.messaging import Message


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


class BackFill(Message):
    """Add an author's newest posts to the news of a reader with a new tie to the author."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["back-fill"] = "back-fill"
    reader_id: str
    author_id: str


class Rename(Message):
    """Propagate a user's name to every copy of it."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["rename"] = "rename"
    user_id: str


class Rebuild(Message):
    """Rebuild the news of a reader who was away for long."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["rebuild"] = "rebuild"
    user_id: str


class Trim(Message):
    """Delete a reader's oldest news."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["trim"] = "trim"
    user_id: str


class Erase(Message):
    """Erase a user and everything that names them."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["erase"] = "erase"
    user_id: str


class EraseLate(Message):
    """Erase what was written up to a time, after an erasure, by requests that began before it."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["erase-late"] = "erase-late"
    user_id: str
    until: datetime


class Refill(Message):
    """Refill a reader's activity feed by their place and their mutes of today."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["refill"] = "refill"
    user_id: str


class RenameRef(Message):
    """Propagate the name of a ref to every action that is about it."""

    queue: ClassVar[str] = "social-errands"
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


class Rerank(Message):
    """Re-rank an action after an event, for its readers after an id."""

    queue: ClassVar[str] = "activity"
    type: Literal["rank"] = "rank"
    action_id: str
    event_id: str
    after: str = ""


class Cascade(Message):
    """Make the items of an action follow it after it was hidden, shown or deleted."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["cascade"] = "cascade"
    action_id: str


Job = BackFill | Rename | Rebuild | Trim | Erase | EraseLate | Refill | RenameRef | Rerank | Cascade
ActivityMessage = DeliverAction | DeliverActionChunk | Rerank

FAN_OUT: TypeAdapter[Deliver | DeliverChunk] = TypeAdapter(
    Annotated[Deliver | DeliverChunk, Field(discriminator="type")]
)
PROPAGATE: TypeAdapter[Propagate] = TypeAdapter(Propagate)
JOB: TypeAdapter[Job] = TypeAdapter(Annotated[Job, Field(discriminator="type")])
ACTIVITY: TypeAdapter[ActivityMessage] = TypeAdapter(
    Annotated[ActivityMessage, Field(discriminator="type")]
)
