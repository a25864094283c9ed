"""The messages of the social feed's two queues."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, TypeAdapter

from chalicelib.queues import Message


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


class SpreadComments(Message):
    """Bring the newest comments on a post to the copies of it."""

    queue: ClassVar[str] = "comment-spread"
    type: Literal["spread"] = "spread"
    post_id: str


FAN_OUT: TypeAdapter[Deliver | DeliverChunk] = TypeAdapter(
    Annotated[Deliver | DeliverChunk, Field(discriminator="type")]
)
COMMENT_SPREAD: TypeAdapter[SpreadComments] = TypeAdapter(SpreadComments)
