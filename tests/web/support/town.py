"""A few people who follow each other, as the readers of a feed."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

PUBLIC = "*public*"


def write(page: Page, label: str, text: str, button: str = "Post") -> None:
    """Type a text into the field of this label, and send it."""
    field = page.get_by_role("textbox", name=label)
    field.fill(text)
    page.locator("form", has=field).get_by_role("button", name=button).click()


@dataclass(frozen=True)
class Town:
    """Ann follows Ben; `post` and `act` deliver what they publish."""

    client: Client
    workers: Workers
    clock: Clock

    def as_(self, sub: str) -> Client:
        return self.client.as_(sub, name=sub.title())

    def settle(self) -> None:
        """Make the people, and have Ann follow Ben."""
        for sub in ("ann", "ben"):
            assert self.as_(sub).put("/users/me").status == 200
        self.circle("ann", "friends", "ben")

    def circle(self, owner: str, name: str, *members: str) -> None:
        assert self.as_(owner).put(f"/users/me/circles/{name}", name=name.title()).status == 201
        for member in members:
            path = f"/users/me/circles/{name}/members/{member}"
            assert self.as_(owner).put(path).status == 204

    def post(self, text: str = "", sub: str = "ben", circle: str = PUBLIC, **post: Any) -> str:
        """Publish a status, or what is given, and deliver it; return its id."""
        self.clock.advance(minutes=1)
        body = post or {"type": "status", "detail": {"text": text}}
        reply = self.as_(sub).post("/posts", circles=[circle], **body)
        assert reply.status == 201, reply.body
        self.workers.drain()
        return str(reply.json["id"])

    def comment(self, post: str, text: str, sub: str = "ben") -> None:
        assert self.as_(sub).post(f"/posts/{post}/comments", text=text).status == 201
        self.workers.drain()

    def wall(self, sub: str) -> list[Any]:
        """Return the posts on somebody's own wall, once all is delivered."""
        self.workers.drain()
        posts: list[Any] = self.as_(sub).get("/users/me/wall").json["posts"]
        return posts

    def act(self, text: str = "Sees what others walk past.") -> str:
        """Have Ben rate an applicant, for his team and so for Ann; return the action's id."""
        admin = self.client.as_("admin", roles=["admin"])
        for sub in ("ann", "ben"):
            assert admin.put(f"/users/{sub}/org", team="desk", department="news").status < 300
        rating = {
            "type": "application_rating",
            "applicant_id": "dora",
            "applicant_name": "Dora Quint",
            "position_id": "photo",
            "position_name": "Photographer",
            "rater_id": "ben",
            "rating_score": 4.5,
            "rating_text": text,
        }
        reply = self.as_("ben").post("/actions", scope="team", descriptor=rating)
        assert reply.status == 201, reply.body
        self.workers.drain()
        return str(reply.json["id"])
