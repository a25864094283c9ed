"""A site whose guests confirm an address, and the letters that it sends them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chalicelib.comments.people.links import CONFIRMATIONS
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.mail.rows import LETTERS
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

SITE = "/sites/blog"
NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
CONFIRMATION = f"{SITE}/guests/confirmation"
ORIGIN = "https://blog.example"
PAGE = f"{ORIGIN}/moon?from=feed"
PUBLIC_URL = "https://plaza.example"
HTML = {"Accept": "text/html"}
_TOKEN = re.compile(re.escape(f"{PUBLIC_URL}{CONFIRMATION}?token=") + r"([\w-]{43})\n")


def mailing(folder: Path) -> Mapping[str, str]:
    """Return settings with which letters go to a folder, and their links to Plaza."""
    return {"public_url": PUBLIC_URL, "mail_from": "", "mail_folder": str(folder)}


@dataclass(frozen=True)
class GuestSite:
    """A discussion of the site `blog`, as guests and its staff call it."""

    client: Client
    runtime: Runtime
    clock: Clock

    @property
    def admin(self) -> Client:
        return self.client.as_("root", roles=["admin"])

    def settle(self, **node: Any) -> None:
        """Make the discussion, and ask guests for an address."""
        given = {"title": "Moon", "url": PAGE, **node}
        assert self.admin.put(NODE, **given).status in (200, 201)
        self.decide()

    def decide(self, **settings: Any) -> None:
        """Set the site's settings, and let the former be forgotten."""
        given = {"guests": "email", "origins": [ORIGIN], "search": True, **settings}
        assert self.admin.put(f"{SITE}/comments/settings", **given).status == 200
        self.clock.advance(seconds=6)

    def begin(self, name: str = "Passenger", **said: Any) -> Reply:
        """Ask to write under a name; `said` replaces what is said besides."""
        given = {"email": "ann@mail.example", "return_to": PAGE, **said}
        body = {each: value for each, value in given.items() if value is not None}
        return self.client.post(f"{SITE}/guests", name=name, **body)

    def guest(self, name: str = "Passenger", **said: Any) -> Client:
        """Return the client of a new guest, who has a letter."""
        reply = self.begin(name, **said)
        assert reply.status == 201, reply.body
        return self.holding(reply.json["token"])

    def holding(self, token: str) -> Client:
        """Return the client of who holds a token."""
        bearer = {"Authorization": f"Bearer {token}"}
        return Client(self.client.app, self.client.token, {**self.client.headers, **bearer})

    def letters(self) -> list[Any]:
        """Return the letters, the latest last."""
        return list(LETTERS.of(self.runtime.database).find().sort("$natural", 1))

    def link(self) -> str:
        """Return the token of the latest letter's link."""
        found = _TOKEN.search(self.letters()[-1]["text"])
        assert found is not None
        return found.group(1)

    def press(self, token: str | None = None, **headers: str) -> Reply:
        """Press the button of a link's page; without a token, of the latest letter's."""
        return self.client.request(
            "POST", f"{CONFIRMATION}?token={token or self.link()}", headers=headers
        )

    def shown(self) -> list[str]:
        """Return the texts that anybody reads."""
        found = self.client.get(COMMENTS).json["comments"]
        return [each["text"] for each in found if each["text"]]

    def queue(self) -> list[list[str]]:
        """Return the reasons of the comments that wait for a moderator."""
        found = self.admin.get("/moderation/comments").json["comments"]
        return [each["reasons"] for each in found]


def stored(runtime: Runtime) -> list[list[Any]]:
    """Return all that a link can change."""
    rows = (CONFIRMATIONS, PEOPLE)
    return [list(each.of(runtime.database).find().sort("_id", 1)) for each in rows]


def wanted(site: GuestSite) -> list[Any]:
    """Return the letters that a worker sends."""
    return list(LETTERS.of(site.runtime.database).find({"state": "waiting"}))
