"""What delivering a post to its readers costs, from its first message to its end.

The floor is the driver's `insert_many(ordered=False)` of the same items, in one call.
"""

import dataclasses
import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any

from bench.case import Case
from bench.people import seed_followers, seed_post
from bench.stage import Stage
from chalicelib.messaging import Message, Queues
from chalicelib.runtime import Runtime
from chalicelib.social.jobs import handle
from chalicelib.social.timelines import references
from chalicelib.social.timelines.references import NewsItem
from chalicelib.social.timelines.view import NewsDesign

RATE_AT_LEAST, BARRED_FROM = 0.7, 1_000
PUSHED: tuple[NewsDesign, ...] = ("references", "copies")


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield the fan-outs of each design that writes, to more and more followers."""
    yield list(_fan_outs(stage))


def with_news(stage: Stage, name: str, design: NewsDesign) -> Runtime:
    """Return a runtime over a database of its own, whose news are of this design."""
    runtime = stage.with_database(name).runtime
    settings = runtime.settings.model_copy(update={"news": design})
    return dataclasses.replace(runtime, settings=settings)


def _fan_outs(stage: Stage) -> Iterator[Case]:
    """Give a fan-out, from its first message to its end; publishing the post is not timed."""
    for size, design in itertools.product(stage.sizes(100, 1_000, 10_000), PUSHED):
        here = with_news(stage, f"fan-out-{design}-{size}", design)
        fan = FanOut(here, seed_followers(here, size))
        is_barred = design == "references" and size >= BARRED_FROM
        yield Case(
            "fan-out",
            fan.deliver,
            fan.insert,
            floor_is="insert_many of the same items",
            store=design,
            size=size,
            unit="followers",
            items=size,
            door="function",
            prepare=fan.publish,
            prepare_floor=fan.make_items,
            ratio_at_most=1 / RATE_AT_LEAST if is_barred else None,
        )


class FanOut:
    """The fan-outs of one author's posts to the same readers, a new post each time."""

    def __init__(self, runtime: Runtime, readers: list[str]) -> None:
        self._waiting = WaitingQueues(runtime.settings.queue_prefix)
        self._runtime = dataclasses.replace(runtime, queues=self._waiting)
        self._readers = readers
        self._items: list[NewsItem] = []

    def publish(self) -> None:
        """Publish a post, whose first message then waits."""
        seed_post(self._runtime)

    def deliver(self) -> None:
        """Work on message after message until none waits."""
        while message := self._waiting.take():
            handle(self._runtime, message)

    def make_items(self) -> None:
        """Make the items of a post that nobody delivers."""
        post = seed_post(self._runtime)
        self._waiting.take()
        post["_id"] = f"{post['_id']}-raw"
        self._items = references.items_of(post, self._readers)

    def insert(self) -> None:
        """Insert the items by the driver."""
        rows = references.NEWS_ITEMS.of(self._runtime.database)
        rows.insert_many(self._items, ordered=False)


class WaitingQueues(Queues):
    """Queues that keep what was sent until it is taken."""

    def __init__(self, prefix: str) -> None:
        super().__init__(prefix)
        self._messages: deque[Any] = deque()

    def send(self, *messages: Message) -> bool:
        """Keep the messages."""
        self._messages += messages
        return True

    def take(self) -> Any:
        """Return the message that waited longest."""
        return self._messages.popleft() if self._messages else None
