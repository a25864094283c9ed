"""The message of a delivery."""

from typing import ClassVar, Literal

from chalicelib.messaging import Message


class SendEvent(Message):
    """Send an event to a hook, by the delivery `{event}:{hook}`."""

    queue: ClassVar[str] = "webhooks"
    type: Literal["send-event"] = "send-event"
    delivery: str
