"""The message that asks a worker to count a mark."""

from typing import ClassVar, Literal

from pydantic import TypeAdapter

from chalicelib.messaging import Message


class CountMark(Message):
    """Count the uncounted change of a mark; `mark_id` is its `_id`."""

    queue: ClassVar[str] = "marks"
    type: Literal["count"] = "count"
    mark_id: str


COUNT_MARK: TypeAdapter[CountMark] = TypeAdapter(CountMark)
