"""The message that resumes an order in the background."""

from typing import ClassVar

from pydantic import TypeAdapter

from chalicelib.messaging import Message


class ResumeOrder(Message):
    """The request to take an order's next steps from its current state; `order` is its id."""

    queue: ClassVar[str] = "orders"
    order: str


RESUME_ORDER: TypeAdapter[ResumeOrder] = TypeAdapter(ResumeOrder)
