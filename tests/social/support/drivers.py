"""A few people who circle each other and post, through the API."""

import dataclasses
import random
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.database import Document
from chalicelib.messaging import Message, Queues
from chalicelib.people.jobs import Erase, EraseLate, Rename
from chalicelib.runtime import Runtime
from chalicelib.social.delivery import engine
from chalicelib.social.jobs import handle
from chalicelib.social.messages import (
    BackFill,
    Cascade,
    Deliver,
    DeliverAction,
    DeliverActionChunk,
    DeliverChunk,
    NotifyFeed,
    NotifyWatchers,
    Propagate,
    Rebuild,
    Refill,
    RenameRef,
    Rerank,
    Trim,
)
from chalicelib.social.timelines import propagation
from chalicelib.social.timelines.post_fan_out import OF_POSTS
from chalicelib.wiring import errands
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

PUBLIC = ("*public*",)
CIRCLES = ("*circles*",)


def settle(client: Client, *names: str) -> None:
    """Make users."""
    for name in names:
        assert client.as_(name).put("/users/me").status == 200


def circle(client: Client, owner: str, circle_id: str, *members: str) -> None:
    """Make a circle of people who exist or are made."""
    settle(client, owner, *members)
    path = f"/users/me/circles/{circle_id}"
    assert client.as_(owner).put(path, name=circle_id.title()).status in {200, 201}
    for member in members:
        assert client.as_(owner).put(f"{path}/members/{member}").status == 204


def follow(client: Client, reader: str, *authors: str) -> None:
    circle(client, reader, "read", *authors)


def try_post(client: Client, author: str, circles: Sequence[str] = PUBLIC, **given: Any) -> Reply:
    post: dict[str, Any] = {"type": "status", "detail": {"text": "Hello"}, **given}
    return client.as_(author).post("/posts", circles=list(circles), **post)


def publish(client: Client, author: str, circles: Sequence[str] = PUBLIC, **given: Any) -> str:
    """Publish a post; return its id."""
    reply = try_post(client, author, circles, **given)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def comment(client: Client, author: str, post: str, text: str = "So it is") -> str:
    reply = client.as_(author).post(f"/posts/{post}/comments", text=text)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def ids(reply: Reply) -> list[str]:
    assert reply.status == 200, reply.body
    return [post["id"] for post in reply.json["posts"]]


def news(client: Client, reader: str) -> list[str]:
    return ids(client.as_(reader).get("/users/me/news?limit=200"))


def wall(client: Client, owner: str, reader: str) -> list[str]:
    return ids(client.as_(reader).get(f"/users/{owner}/wall?limit=200"))


def fan_out(client: Client, author: str, post: str) -> Any:
    return client.as_(author).get(f"/posts/{post}/fan-out").json


class Courier(Queues):
    """Queues that a test empties by hand."""

    def __init__(self) -> None:
        super().__init__("test-")
        self.waiting: list[Message] = []
        self._turn = threading.Lock()

    def send(self, *messages: Message) -> bool:
        with self._turn:
            self.waiting += messages
        return True

    def take(self) -> list[Any]:
        """Return the messages that wait, which wait no longer."""
        with self._turn:
            taken, self.waiting = self.waiting, []
        return taken

    def deliver(self, runtime: Runtime, rng: random.Random, *, twice: bool = False) -> None:
        """Have all messages worked on, in any order, until none waits."""
        while messages := self.take() * (2 if twice else 1):
            rng.shuffle(messages)
            for message in messages:
                work_on(runtime, message)


def work_on(runtime: Runtime, message: Message) -> None:
    """Do what the worker of a message's queue does."""
    match message:
        case Deliver() | DeliverChunk():
            handle(runtime, message)
        case Propagate():
            propagation.propagate(runtime, message.post_id)
        case DeliverAction() | DeliverActionChunk() | Rerank():
            handle(runtime, message)
        case BackFill() | Rebuild() | Trim() | Refill() | RenameRef() | Cascade() | NotifyFeed():
            errands.run(runtime, message)
        case NotifyWatchers():
            errands.run(runtime, message)
        case Rename() | Erase() | EraseLate():
            errands.run(runtime, message)
        case _:
            raise AssertionError(message)


@dataclass(frozen=True)
class Town:
    """Plaza with its parts at hand."""

    client: Client
    workers: Workers
    runtime: Runtime
    clock: Clock

    @property
    def courier(self) -> Courier:
        """The queues of a town whose messages wait until a test takes them."""
        assert isinstance(self.runtime.queues, Courier)
        return self.runtime.queues

    def publish(self) -> str:
        """Publish a post of Ann's."""
        return publish(self.client, "ann")

    def fan_out(self, post: str) -> Document:
        """Return a fan-out as it is stored."""
        document = self.runtime.database["social.post"].find_one({"_id": post})
        assert document is not None
        found: Document = document["fan_out"]
        return found

    def let_lease_expire(self) -> None:
        self.clock.advance(milliseconds=self.runtime.settings.lease_ms)

    def sweep_expired(self) -> None:
        """Let every lease run out and what the sweep sends be worked on."""
        self.let_lease_expire()
        engine.sweep(self.runtime, OF_POSTS)
        self.workers.drain()

    def with_courier(self) -> tuple[Runtime, Courier]:
        """Return a runtime whose messages wait until the test takes them."""
        courier = Courier()
        return dataclasses.replace(self.runtime, queues=courier), courier

    def assert_delivered_once(self, posts: Sequence[str], readers: Sequence[str]) -> None:
        """Check that each reader has each post once, and the author's wall as well."""
        items = self.runtime.database["social.news_item"].find()
        delivered = Counter((item["user_id"], item["post_id"]) for item in items)
        assert delivered == Counter((reader, post) for reader in readers for post in posts)
        documents = self.runtime.database["social.wall"].find()
        copies = Counter(copy["id"] for each in documents for copy in each["posts"])
        assert copies == Counter(posts)
        assert {self.fan_out(post)["state"] for post in posts} == {"done"}
