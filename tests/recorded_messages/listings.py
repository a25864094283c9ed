"""The same small world each time, and every listing of it that gives cursors out."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from chalicelib.runtime import Runtime
from chalicelib.social.posts.posts import POSTS
from tests.ads.support.factories import advertiser
from tests.ads.support.history import make_history
from tests.social.activity.support.office import Office
from tests.social.support.drivers import CIRCLES, circle, comment, follow, publish
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


class NoChance(random.Random):
    """Makes the ids of a world the same each time: all that one call draws is one number."""

    number = 0

    def random(self) -> float:
        return (self.number % 32 + 0.5) / 32

    def getrandbits(self, k: int) -> int:
        # Below half, or the draw of a number below another one would never end.
        return self.number & ((1 << (k - 1)) - 1)


@dataclass(frozen=True)
class World:
    """The ids of what was made in it; the other names are the same by themselves."""

    runtime: Runtime
    client: Client
    post: str
    root_comment: str
    action: str


@dataclass(frozen=True)
class Builder:
    """Makes things a second apart, each with ids of its own."""

    client: Client
    clock: Clock
    chance: NoChance

    def make(self, make: Callable[[], str]) -> str:
        self.clock.advance(seconds=1)
        self.chance.number += 1
        return make()

    def post(self) -> str:
        return self.make(lambda: publish(self.client, "ann", CIRCLES))

    def comment(self, author: str, post: str) -> str:
        return self.make(lambda: comment(self.client, author, post))

    def say(self, node: str, **given: str) -> str:
        def say() -> str:
            reply = self.client.as_("ann").post(f"/nodes/{node}/comments", text="So it is", **given)
            assert reply.status == 201, reply.body
            return str(reply.json["id"])

        return self.make(say)


@dataclass(frozen=True)
class Listing:
    """A listing as somebody reads it: their client, and the path with its query."""

    reader: Client
    path: str


def build(runtime: Runtime, client: Client, clock: Clock, workers: Workers) -> World:
    """Make at least two of everything that is listed, so that a page of one has a next."""
    follow(client, "bob", "ann")
    follow(client, "cy", "ann")
    circle(client, "ann", "friends", "bob", "cy")
    assert isinstance(runtime.random, NoChance)
    builder = Builder(client, clock, runtime.random)
    posts = [builder.post() for _ in range(2)]
    for author in ("bob", "cy"):
        builder.comment(author, posts[0])
    workers.drain()
    given_up = {"fan_out.state": "failed", "fan_out.reason": "recorded"}
    runtime.database[POSTS.name].update_many({}, {"$set": given_up})
    root_comment = _discuss(builder)
    make_history(runtime)
    action = _act(builder, Office(client, workers, runtime, clock))
    return World(runtime, client, posts[0], root_comment, action)


def _discuss(builder: Builder) -> str:
    """Discuss a page with threads, one without, and one that is moderated; return a thread."""
    owner = builder.client.as_("paula", roles=["admin"])
    page = {"title": "A page", "url": "https://blog.example/page"}
    assert owner.put("/nodes/threads", **page, threaded=True).status == 201
    assert owner.put("/nodes/flat", **page, threaded=False).status == 201
    assert owner.put("/nodes/moderated", **page, moderation="before").status == 201
    root = builder.say("threads")
    builder.say("threads", parent=root)
    builder.say("threads")
    for node in ("flat", "flat", "moderated", "moderated"):
        builder.say(node)
    return root


def _act(builder: Builder, office: Office) -> str:
    """Act twice before a team, and talk about the first action; return it."""
    office.place("ann", "bob", team="crew")
    actions = [builder.make(lambda: office.act("ann")) for _ in range(2)]
    for _ in range(2):
        builder.make(lambda: office.comment("bob", actions[0]))
    office.workers.drain()
    return actions[0]


def listings(world: World) -> dict[str, Listing]:
    """Return every listing that gives cursors out, by the name that the corpus has for it."""
    bob = world.client.as_("bob")
    staff = world.client.as_("mo", roles=["moderator", "admin"])
    reports = "/reports/campaigns/mercedes:spring?from=2025-01-01&to=2026-12-31&by="
    return {
        "wall": Listing(bob, "/users/ann/wall?"),
        "news": Listing(bob, "/users/me/news?"),
        "incoming": Listing(bob, "/users/me/incoming?"),
        "followers": Listing(bob, "/users/ann/followers?"),
        "post comments": Listing(bob, f"/posts/{world.post}/comments?"),
        "failed fan-outs": Listing(staff, "/fan-outs/failed?"),
        "threaded comments": Listing(bob, "/nodes/threads/comments?"),
        "threaded comments, newest first": Listing(bob, "/nodes/threads/comments?order=newest&"),
        "flat comments": Listing(bob, "/nodes/flat/comments?"),
        "thread": Listing(bob, f"/nodes/threads/comments/{world.root_comment}/thread?"),
        "feed": Listing(bob, "/feed?"),
        "actions of a ref": Listing(bob, "/refs/mary/actions?"),
        "actions of a tag": Listing(bob, "/tags/skilled/actions?"),
        "action comments": Listing(bob, f"/actions/{world.action}/comments?"),
        "moderation": Listing(staff, "/moderation/comments?"),
        "report by day": Listing(advertiser(world.client), f"{reports}day&"),
        "report by hour and zone": Listing(
            advertiser(world.client),
            "/reports/campaigns/mercedes:spring?from=2026-02-20&to=2026-03-10&by=hour&group=zone&",
        ),
    }
