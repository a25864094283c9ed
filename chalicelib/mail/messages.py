"""The message that asks a worker to send a letter."""

from typing import ClassVar, Literal

from chalicelib.messaging import Message


class SendLetter(Message):
    """Send a stored letter; `letter` is its id, and no message has an address."""

    queue: ClassVar[str] = "mail"
    type: Literal["send-letter"] = "send-letter"
    letter: str
