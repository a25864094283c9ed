"""The message of a letter that waits."""

from typing import ClassVar, Literal

from chalicelib.messaging import Message


class SendLetter(Message):
    """Send a stored letter; the message has its id alone, and no address."""

    queue: ClassVar[str] = "mail"
    type: Literal["send-letter"] = "send-letter"
    letter: str
