"""Lambda functions as data: none imports its feature before Lambda loads it by name."""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from chalice.app import Chalice, SQSEvent

from chalicelib.runtime import Runtime


@dataclass(frozen=True)
class Deferred:
    """A function by its object reference, `module:function`, imported at its first call.

    `adapter`: the reference of an object to pass before the arguments of a call; empty: none.
    """

    reference: str
    adapter: str = ""

    def __call__(self, *arguments: Any) -> Any:
        """Import the function, and call it."""
        return self.load()(*arguments)

    def load(self) -> Callable[..., Any]:
        """Import the function, and return it with its adapter as first argument."""
        found: Callable[..., Any] = pkgutil.resolve_name(self.reference)
        return partial(found, pkgutil.resolve_name(self.adapter)) if self.adapter else found


@dataclass(frozen=True)
class Worker:
    """A function that a queue calls with up to `batch_size` messages.

    `handle` takes the runtime and SQS's event, and returns the failures as `messaging.consume`
    does. SQS waits up to `window_seconds` to fill a batch.
    """

    name: str
    queue: str
    handle: Callable[[Runtime, dict[str, Any]], dict[str, Any]]
    batch_size: int
    window_seconds: int = 0


def declare_worker(app: Chalice, runtime: Runtime, worker: Worker) -> None:
    """Declare the Lambda function of a worker."""

    def handle_messages(event: SQSEvent) -> dict[str, Any]:
        return worker.handle(runtime, event.to_dict())

    # Lambda knows a handler by this name.
    handle_messages.__name__ = worker.name
    app.on_sqs_message(
        queue=runtime.queues.name_of(worker.queue),
        batch_size=worker.batch_size,
        name=worker.name,
        maximum_batching_window_in_seconds=worker.window_seconds,
    )(handle_messages)


def load(*calls: Callable[..., Any]) -> None:
    """Import the deferred functions among `calls`, while the container starts."""
    for call in calls:
        if isinstance(call, Deferred):
            call.load()
