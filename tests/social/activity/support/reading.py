"""Feeds and slices, read through the API."""

from typing import Any

from tests.support.http_client import Client, Reply


def page(client: Client, reader: str, limit: int = 50, cursor: str | None = None) -> Any:
    """Return a page of a feed as it is answered."""
    query = f"?limit={limit}" + (f"&cursor={cursor}" if cursor else "")
    reply = client.as_(reader).get(f"/feed{query}")
    assert reply.status == 200, reply.body
    return reply.json


def feed(client: Client, reader: str, limit: int = 50) -> list[tuple[str, str]]:
    """Read a feed to its end; return the ids of its actions and their relevancies."""
    found: list[tuple[str, str]] = []
    cursor = None
    while True:
        read = page(client, reader, limit, cursor)
        found += [(action["id"], action["relevant_at"]) for action in read["actions"]]
        cursor = read["next"]
        if cursor is None:
            return found


def actions(client: Client, reader: str) -> list[str]:
    return [action for action, _ in feed(client, reader)]


def ids(reply: Reply) -> list[str]:
    assert reply.status == 200, reply.body
    return [action["id"] for action in reply.json["actions"]]


def unread(client: Client, reader: str) -> int:
    count: int = client.as_(reader).get("/feed/unread").json["unread"]
    return count
