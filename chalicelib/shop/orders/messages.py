"""The message about an order."""

from typing import ClassVar

from pydantic import TypeAdapter

from chalicelib.messaging import Message


class ResumeOrder(Message):
    """Look what has become of an order, and take its next steps."""

    queue: ClassVar[str] = "orders"
    order: str


RESUME_ORDER: TypeAdapter[ResumeOrder] = TypeAdapter(ResumeOrder)
