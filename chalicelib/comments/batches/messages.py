"""The message that has a worker go on with a batch."""

from typing import ClassVar, Literal

from chalicelib.messaging import Message


class RunBatch(Message):
    """Go on with a batch of a moderator's decisions."""

    queue: ClassVar[str] = "moderation"
    type: Literal["run-batch"] = "run-batch"
    batch: str
