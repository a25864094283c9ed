"""The message that has a worker ask a service about a comment, or correct it."""

from typing import ClassVar, Literal

from chalicelib.messaging import Message


class CheckSpam(Message):
    """Do what is noted beside the origin of a comment: `{node}/{comment}`."""

    queue: ClassVar[str] = "moderation"
    type: Literal["check-spam"] = "check-spam"
    comment: str
