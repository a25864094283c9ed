"""The messages of the social feed's queues."""

from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field, TypeAdapter

from chalicelib.messaging import Message


class Deliver(Message):
    """Go on with the fan-out of a post, wherever it stands."""

    queue: ClassVar[str] = "fan-out"
    type: Literal["deliver"] = "deliver"
    post_id: str


class DeliverChunk(Message):
    """Bring a post to one chunk of its audience, which the post's document describes."""

    queue: ClassVar[str] = "fan-out"
    type: Literal["chunk"] = "chunk"
    post_id: str
    number: int


class Propagate(Message):
    """Bring what has changed on a post, its end included, to the copies of it."""

    queue: ClassVar[str] = "comment-spread"
    type: Literal["spread"] = "spread"
    post_id: str


class BackFill(Message):
    """Bring an author's newest posts to a reader who has just come near."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["back-fill"] = "back-fill"
    reader_id: str
    author_id: str


class Rename(Message):
    """Bring a user's name to every copy of it."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["rename"] = "rename"
    user_id: str


class Rebuild(Message):
    """Make the news of a reader who was away for long."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["rebuild"] = "rebuild"
    user_id: str


class Trim(Message):
    """Drop a reader's oldest news."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["trim"] = "trim"
    user_id: str


class Erase(Message):
    """Erase a user and all that is left of them."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["erase"] = "erase"
    user_id: str


class EraseLate(Message):
    """Erase what requests that began before an erasure ended wrote after it, up to a time."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["erase-late"] = "erase-late"
    user_id: str
    until: datetime


class Refill(Message):
    """Make a reader's activity feed what their place and their mutes bring today."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["refill"] = "refill"
    user_id: str


class RenameRef(Message):
    """Bring the name of a ref to every action that is about it."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["rename-ref"] = "rename-ref"
    ref_id: str


class DeliverAction(Message):
    """Go on with the fan-out of an action, wherever it stands."""

    queue: ClassVar[str] = "activity"
    type: Literal["deliver"] = "deliver"
    action_id: str


class DeliverActionChunk(Message):
    """Bring an action to one chunk of its readers, which the action's document describes."""

    queue: ClassVar[str] = "activity"
    type: Literal["chunk"] = "chunk"
    action_id: str
    number: int


class Rerank(Message):
    """Rank an action anew, after something happened to it, for its readers behind an id."""

    queue: ClassVar[str] = "activity"
    type: Literal["rank"] = "rank"
    action_id: str
    event_id: str
    after: str = ""


class Cascade(Message):
    """Have all that hangs on an action follow it, when it was hidden, shown or deleted."""

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
