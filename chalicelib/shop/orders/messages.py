"""The message that resumes an order in the background."""

from typing import ClassVar

from pydantic import TypeAdapter

from chalicelib.messaging import Message


class ResumeOrder(Message):
    """Take the next steps of an order, from its current state."""

    queue: ClassVar[str] = "orders"
    order: str


RESUME_ORDER: TypeAdapter[ResumeOrder] = TypeAdapter(ResumeOrder)
