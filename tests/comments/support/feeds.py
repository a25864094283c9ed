"""A discussion whose comments stand in feeds, and its feeds."""

from typing import Any

from tests.comments.support.discussion import Layout
from tests.support.atom import ATOM, check_atom
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

NODE = "/nodes/blog:moon"
URL = "https://blog.example/moon"
FEEDS = ("site", "node", "thread", "person")


class Blog:
    """A discussion whose first comment, by bob, begins a thread, and the feeds that have it."""

    def __init__(self, client: Client, clock: Clock, layout: Layout) -> None:
        self.client, self.clock, self.layout = client, clock, layout
        self.staff = client.as_("paula", roles=["publisher"], sites=["blog"])
        made = self.staff.put(
            NODE, title="The Moon", url=URL, store=layout.store, threaded=layout.threaded
        )
        assert made.status == 201, made.body
        self.root = self.post("bob", "root", is_reply=False)

    def post(self, who: str, text: str, *, is_reply: bool = True, **body: Any) -> str:
        """Post a comment, below the root where there are threads."""
        self.clock.advance(seconds=1)
        if is_reply and self.layout.threaded:
            body = {"parent": self.root, **body}
        reply = self.client.as_(who).post(f"{NODE}/comments", text=text, **body)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def path(self, kind: str) -> str:
        """Return the path of a feed that has the root."""
        return {
            "site": "/sites/blog/comments.atom",
            "node": f"{NODE}/comments.atom",
            "thread": f"{NODE}/comments/{self.root}/thread.atom",
            "person": "/sites/blog/people/bob/comments.atom",
        }[kind]

    def feed(self, kind: str, **headers: str) -> Reply:
        return self.client.request("GET", self.path(kind), headers=headers)

    def set_state(self, comment: str, state: str) -> None:
        path = f"{NODE}/comments/{comment}"
        told = (
            self.staff.delete(path)
            if state == "deleted"
            else self.staff.post(f"{path}/state", state=state)
        )
        assert told.status in {200, 204}, told.body


def contents(reply: Reply) -> list[str]:
    root = check_atom(reply.body)
    return [entry.findtext(f"{ATOM}content") or "" for entry in root.findall(f"{ATOM}entry")]


def react_to_page(client: Client, node: str) -> None:
    """React to the page of a node of the site `blog`."""
    root, heart = client.as_("root", roles=["admin"]), {"key": "heart", "emoji": "\u2764"}
    assert root.put("/sites/blog/comments/settings", reactions=[heart]).status == 200
    assert client.as_("bob").put(f"{node}/reactions/heart").status == 200
