"""The messages of the social feed's queues."""

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


class Spread(Message):
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


Errand = BackFill | Rename | Rebuild | Trim | Erase

FAN_OUT: TypeAdapter[Deliver | DeliverChunk] = TypeAdapter(
    Annotated[Deliver | DeliverChunk, Field(discriminator="type")]
)
SPREAD: TypeAdapter[Spread] = TypeAdapter(Spread)
ERRAND: TypeAdapter[Errand] = TypeAdapter(Annotated[Errand, Field(discriminator="type")])
