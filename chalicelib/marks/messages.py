"""The message of marks that have not been counted yet."""

from typing import ClassVar, Literal

from pydantic import TypeAdapter

from chalicelib.messaging import Message


class CountMark(Message):
    """Count what has changed of a mark."""

    queue: ClassVar[str] = "marks"
    type: Literal["count"] = "count"
    mark_id: str


COUNT_MARK: TypeAdapter[CountMark] = TypeAdapter(CountMark)
