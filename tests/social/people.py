"""A few people who circle each other and post, through the API."""

from collections.abc import Sequence
from typing import Any

from chalicelib.queues import Message, Queues
from tests.http_client import Client, Reply

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

    def send(self, *messages: Message) -> bool:
        self.waiting += messages
        return True

    def take(self) -> list[Any]:
        """Return the messages that wait, which wait no longer."""
        taken, self.waiting = self.waiting, []
        return taken
