"""The message of a delivery."""

from typing import ClassVar, Literal

from chalicelib.messaging import Message


class SendEvent(Message):
    """Try a delivery; `delivery` is its id, `{event}:{hook}`."""

    queue: ClassVar[str] = "webhooks"
    type: Literal["send-event"] = "send-event"
    delivery: str
