"""Calls of the comments API that tests make again and again."""

from typing import Any

from tests.support.http_client import Client, Reply


def post(client: Client, text: str, parent: str | None = None, node: str = "a-page") -> Any:
    reply = client.post(
        f"/nodes/{node}/comments", text=text, **({"parent": parent} if parent else {})
    )
    assert reply.status == 201, reply.body
    return reply.json


def texts(reply: Reply) -> list[str]:
    assert reply.status == 200, reply.body
    return [comment["text"] for comment in reply.json["comments"]]
