"""A message of a kind of its own, and events that deliver it."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

from pydantic import TypeAdapter

from chalicelib.messaging import (
    Message,
)

Handler = Callable[["Greeting"], None]


class Greeting(Message):
    queue: ClassVar[str] = "greetings"
    type: Literal["greeting"] = "greeting"
    name: str


MESSAGES = TypeAdapter(Greeting)


def event_of(*bodies: str) -> dict[str, Any]:
    return {
        "Records": [{"messageId": f"m{n}", "body": body} for n, body in enumerate(bodies)],
    }


def greeting(name: str) -> str:
    return Greeting(name=name).model_dump_json()
