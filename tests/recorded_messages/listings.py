"""The same small world each time, and every listing of it that gives cursors out."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from chalicelib.analytics.sessions import making
from chalicelib.comments import nodes, watches
from chalicelib.notifications import events
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.rows import Kind
from chalicelib.runtime import Runtime
from chalicelib.social.graph import watches as author_watches
from chalicelib.social.posts.posts import POSTS
from chalicelib.webhooks import deliveries
from chalicelib.webhooks.deliveries import NewEvent
from chalicelib.webhooks.rows import HOOKS, Hook
from tests.ads.support.factories import advertiser
from tests.ads.support.history import make_history
from tests.analytics.support.hits import count as hit
from tests.analytics.support.hits import site, view
from tests.assets.support.files import png
from tests.assets.support.uploading import Uploader
from tests.content.support.factories import SITE, editor, node, published, save, set_up
from tests.shop.support.buying import OTHER, SKU, bought, put_line, stocked
from tests.social.activity.support.office import Office
from tests.social.support.drivers import CIRCLES, circle, comment, follow, publish
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

HOOK = "aaneGAECAwQFBgcI"


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
    content: str


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

    def asset(self) -> str:
        editor = Uploader(self.client.as_("eda", roles=["admin"]))
        return self.make(lambda: str(editor.upload(png(), "image/png")["id"]))

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
    follow(client, "bob", "ann", "cy")
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
    _notify(runtime, root_comment)
    _watch(runtime, root_comment)
    _hook(runtime)
    _react(client, root_comment)
    make_history(runtime)
    _read(runtime)
    action = _act(builder, Office(client, workers, runtime, clock))
    for _ in range(2):
        builder.asset()
    content = _publish_pages(builder)
    seller = stocked(client)
    for name in ("novels", "poems"):
        put = seller.put(f"/shops/{SITE}/categories/{name}", name=name.title(), slug=name)
        assert put.status == 201
    cart = client.post("/carts", site=SITE).json["id"]
    for sku in (SKU, OTHER):
        assert put_line(client, cart, sku, 1).status == 200
    for _ in range(2):
        builder.make(lambda: bought(client.as_("bob"))[1])
        builder.make(lambda: _note(client.as_("mo", roles=["moderator"]), "bob"))
    return World(runtime, client, posts[0], root_comment, action, content)


def _note(moderator: Client, user: str) -> str:
    """Have a moderator note something about a person; return who it is."""
    noted = moderator.patch(f"/sites/default/people/{user}", note="Is kind")
    assert noted.status == 200, noted.body
    return user


def _read(runtime: Runtime) -> None:
    """Have two pages of a site read, hours ago, and their sessions made."""
    site(runtime)
    hours = [runtime.now() - timedelta(hours=number) for number in (3, 5)]
    hit(runtime, *(view(number, time, f"/{number}") for number, time in enumerate(hours)))
    making.make_due(runtime)


def _react(client: Client, comment: str) -> None:
    """Have two people react to a comment, and flag it."""
    offered = [{"key": "heart", "emoji": "+"}]
    owner = client.as_("paula", roles=["admin"])
    assert owner.patch("/sites/default/comments/settings", reactions=offered).status == 200
    for who in ("bob", "cy"):
        path = f"/nodes/threads/comments/{comment}/reactions/heart"
        assert client.as_(who).put(path).status == 200
        flag = f"/nodes/threads/comments/{comment}/flag"
        assert client.as_(who).put(flag, reason="other").status == 204


def _discuss(builder: Builder) -> str:
    """Discuss a page with threads, one without, and one that is moderated; return a thread."""
    owner = builder.client.as_("paula", roles=["admin"])
    told = {"title": "A page", "url": "https://blog.example/page"}
    assert owner.patch("/sites/default/comments/settings", search=True).status == 200
    assert owner.put("/nodes/threads", **told, threaded=True).status == 201
    assert owner.put("/nodes/flat", **told, threaded=False).status == 201
    assert owner.put("/nodes/moderated", **told, moderation="before").status == 201
    root = builder.say("threads")
    for comment_id in (root, builder.say("threads", parent=root)):
        path = f"/nodes/threads/comments/{comment_id}/featured"
        assert owner.put(path).status == 204
    builder.say("threads")
    for page in ("flat", "flat", "moderated", "moderated"):
        builder.say(page)
    return root


def _notify(runtime: Runtime, comment: str) -> None:
    """Give Bob two notifications of a comment."""
    for key in ("one", "two"):
        recipients: dict[str, Kind] = {"bob": "comment.reply"}
        thing = f"threads/{comment}"
        event = NotificationEvent(
            key, "default", thing, "ann", runtime.now(), recipients, is_new=True
        )
        events.agree(runtime, event, runtime.now())


def _watch(runtime: Runtime, comment: str) -> None:
    """Have Bob watch a discussion and two authors, and mute a thread."""
    node = nodes.find(runtime.database, "threads")
    watches.put(runtime, node, watches.WHOLE, "bob", "watching")
    watches.put(runtime, node, comment, "bob", "muted")
    for author in ("ann", "cy"):
        author_watches.begin(runtime, author, "bob")


def _hook(runtime: Runtime) -> None:
    """Make a hook of the site `default`, and try it twice."""
    hook: Hook = {
        "_id": HOOK,
        "site": "default",
        "slot": 0,
        "url": "https://harbour.example/events",
        "kinds": ["comment.created"],
        "secrets": [],
        "state": "on",
        "made": runtime.now(),
        "failing_since": None,
        "quiet_until": None,
    }
    HOOKS.of(runtime.database).insert_one(hook)
    for number in range(2):
        event = NewEvent(f"event-{number}", "comment.created", "{}")
        deliveries.make(runtime, "default", [event])


def _act(builder: Builder, office: Office) -> str:
    """Act twice before a team, and talk about the first action; return it."""
    office.place("ann", "bob", team="crew")
    actions = [builder.make(lambda: office.act("ann")) for _ in range(2)]
    for _ in range(2):
        builder.make(lambda: office.comment("bob", actions[0]))
    for reader in ("ann", "bob"):
        office.react(reader, actions[0])
    office.workers.drain()
    return actions[0]


def _publish_pages(builder: Builder) -> str:
    """Publish two pages, and save one of them twice more; return it."""
    set_up(builder.client)
    first = builder.make(lambda: published(builder.client, "one", tags=["all"]))
    builder.make(lambda: published(builder.client, "two", tags=["all"]))
    for version, writer in enumerate(("edda", "otto"), 1):
        save_as = partial(save, editor(builder.client, writer), first, version, title="Changed")
        builder.make(partial(_status, save_as))
    return first


def _status(call: Callable[[], Reply]) -> str:
    return str(call().status)


def listings(world: World) -> dict[str, Listing]:
    """Return every listing that gives cursors out, by the name that the corpus has for it."""
    bob = world.client.as_("bob")
    staff = world.client.as_("mo", roles=["moderator", "admin"])
    paula, span = world.client.as_("paula", roles=["admin"]), "from=2026-02-28&to=2026-03-02"
    reports = "/reports/campaigns/mercedes:spring?from=2025-01-01&to=2026-12-31&by="
    desk = editor(world.client)
    return {
        "content": Listing(bob, f"/content/{SITE}?"),
        "content with a tag": Listing(bob, f"/content/{SITE}?tag=all&"),
        "content with words": Listing(bob, f"/content/{SITE}/search?q=full&"),
        "content's desk": Listing(desk, f"/content/{SITE}/desk?state=live&"),
        "content's revisions": Listing(desk, f"{node(world.content)}/revisions?"),
        **{
            f"products by {order}": Listing(bob, f"/shops/{SITE}/products?order={order}&q=moby&")
            for order in ("price", "newest", "best")
        },
        "categories": Listing(bob, f"/shops/{SITE}/categories?"),
        "holds of a shop": Listing(paula, f"/shops/{SITE}/holds?"),
        "orders of a shop": Listing(paula, f"/shops/{SITE}/orders?"),
        "orders of a buyer": Listing(bob, "/users/me/orders?"),
        "wall": Listing(bob, "/users/ann/wall?"),
        "news": Listing(bob, "/users/me/news?"),
        "incoming": Listing(bob, "/users/me/incoming?"),
        "followers": Listing(bob, "/users/ann/followers?"),
        "post comments": Listing(bob, f"/posts/{world.post}/comments?"),
        "failed fan-outs": Listing(staff, "/fan-outs/failed-posts?"),
        "threaded comments": Listing(bob, "/nodes/threads/comments?"),
        "threaded comments, newest first": Listing(bob, "/nodes/threads/comments?order=newest&"),
        "comments, best first": Listing(bob, "/nodes/threads/comments?order=best&"),
        "comments of a person": Listing(bob, "/sites/default/people/ann/comments?"),
        "comments with words": Listing(bob, "/sites/default/search?q=so+it&"),
        "featured comments": Listing(bob, "/nodes/threads/comments?order=featured&"),
        "flat comments": Listing(bob, "/nodes/flat/comments?"),
        "thread": Listing(bob, f"/nodes/threads/comments/{world.root_comment}/thread?"),
        "feed": Listing(bob, "/feed?"),
        "actions of a ref": Listing(bob, "/refs/mary/actions?"),
        "actions of a tag": Listing(bob, "/tags/skilled/actions?"),
        "actions of a person": Listing(bob, "/users/ann/actions?type=new_applicant&"),
        "action comments": Listing(bob, f"/actions/{world.action}/comments?"),
        "action reactions": Listing(bob, f"/actions/{world.action}/reactions?"),
        "export": Listing(bob, "/users/me/export?"),
        "inbox": Listing(bob, "/notifications?"),
        "watches": Listing(bob, "/watches?"),
        "watched authors": Listing(bob, "/users/me/watches?"),
        "deliveries": Listing(staff, f"/sites/default/webhooks/{HOOK}/deliveries?"),
        "reacted": Listing(bob, f"/nodes/threads/comments/{world.root_comment}/reactions/heart?"),
        "flags": Listing(staff, f"/nodes/threads/comments/{world.root_comment}/flags?"),
        "moderation": Listing(staff, "/moderation/comments?"),
        "moderation's log": Listing(staff, "/moderation/log?site=default&"),
        "assets": Listing(staff, "/content/blog/assets?"),
        "stats": Listing(paula, f"/stats/blog?{span}&by=hour&"),
        "stats of a path": Listing(paula, f"/stats/blog?{span}&group=path&"),
        "sessions": Listing(paula, f"/stats/blog/sessions?{span}&by=hour&"),
        "hits": Listing(paula, "/stats/blog/hits?"),
        "report by day": Listing(advertiser(world.client), f"{reports}day&"),
        "report by hour and zone": Listing(
            advertiser(world.client),
            "/reports/campaigns/mercedes:spring?from=2026-02-20&to=2026-03-10&by=hour&group=zone&",
        ),
    }
