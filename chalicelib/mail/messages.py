"""The message that asks a worker to send a letter."""

from typing import ClassVar, Literal

from chalicelib.messaging import Message


class SendLetter(Message):
    """Send a stored letter; `letter` is its id. The message has no mail address."""

    queue: ClassVar[str] = "mail"
    type: Literal["send-letter"] = "send-letter"
    letter: str
