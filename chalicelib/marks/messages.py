"""The message of uncounted marks."""

from typing import ClassVar, Literal

from pydantic import TypeAdapter

from chalicelib.messaging import Message


class CountMark(Message):
    """Count the uncounted change of a mark."""

    queue: ClassVar[str] = "marks"
    type: Literal["count"] = "count"
    mark_id: str


COUNT_MARK: TypeAdapter[CountMark] = TypeAdapter(CountMark)
