"""For each message: a call, or a worker's run, that sends it in vain, and its effect.

A scenario returns how the effect is read, and as what it ends. An effect that could come
twice is a number of documents or a sum.
"""

from collections.abc import Callable
from typing import Any

from chalicelib.ads.tracking.events import AdEvent
from chalicelib.analytics.hits import Hits
from chalicelib.assets.promotion import MoveAssets
from chalicelib.comments import nodes
from chalicelib.comments.batches.running import RunBatch
from chalicelib.comments.people import claims
from chalicelib.comments.people.claims import Claimed
from chalicelib.comments.spam_check.origins import CheckSpam
from chalicelib.comments.stores.promotion import MoveNode
from chalicelib.comments.transfers.messages import RunTransfer
from chalicelib.content.publishing.discussions import TellDiscussion
from chalicelib.happenings import Happened
from chalicelib.identity import Principal
from chalicelib.mail.messages import SendLetter
from chalicelib.marks.messages import CountMark
from chalicelib.messaging import Message
from chalicelib.notifications import push_rows, subscriptions
from chalicelib.notifications.events import Notify
from chalicelib.notifications.push_rows import SendPush
from chalicelib.people import jobs as people_jobs
from chalicelib.shop.categories.messages import Relist, Rewrite
from chalicelib.shop.orders.messages import ResumeOrder
from chalicelib.social import jobs
from chalicelib.social import messages as social
from chalicelib.webhooks.messages import SendEvent
from chalicelib.wiring import marks
from tests.ads.support.events import Page
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.analytics.support.hits import site
from tests.assets.support.files import png
from tests.assets.support.uploading import Uploader
from tests.comments.transfers.support.files import begin, lines_file
from tests.content.support.factories import node, published, publisher, set_up
from tests.lost_messages.world import World
from tests.push.support.browser import BrowserStandIn
from tests.shop.support.buying import agreement, cart_of, check_out, stocked
from tests.shop.support.factories import SITE as SHOP
from tests.shop.support.factories import book, open_shop, put
from tests.social.activity.support.office import Office
from tests.social.support.drivers import comment, follow, publish
from tests.support.http_client import Client
from tests.support.people import remaining

Effect = tuple[Callable[[], Any], Any]
Scenario = Callable[[World], Effect]
SCENARIOS: dict[type[Message], Scenario] = {}
# Recorded nowhere else: the request that could not send them does the worker's work itself.
DONE_AT_ONCE: set[type[Message]] = {AdEvent, Hits}
READERS = ("bob", "cy")


def shows(kind: type[Message]) -> Callable[[Scenario], Scenario]:
    """Make a scenario the one of a message."""

    def add(scenario: Scenario) -> Scenario:
        SCENARIOS[kind] = scenario
        return scenario

    return add


def _followed_post(world: World) -> str:
    """Return a post of Ann's that both of her readers have."""
    for reader in READERS:
        follow(world.client, reader, "ann")
    post = publish(world.client, "ann")
    world.workers.drain()
    return post


def _office(world: World) -> Office:
    office = Office(world.client, world.workers, world.runtime, world.clock)
    office.place("ann", *READERS, team="sales")
    world.workers.drain()
    return office


@shows(social.Deliver)
def _deliver(world: World) -> Effect:
    _followed_post(world)
    with world.silence():
        post = publish(world.client, "ann")
    return lambda: world.count("social.news_item", post_id=post), len(READERS)


@shows(social.DeliverChunk)
def _deliver_chunk(world: World) -> Effect:
    _followed_post(world)
    post = publish(world.client, "ann")
    with world.silence():
        world.workers.drain()
    return lambda: world.count("social.news_item", post_id=post), len(READERS)


@shows(social.Propagate)
def _propagate(world: World) -> Effect:
    post = _followed_post(world)
    with world.silence():
        comment(world.client, "bob", post)
    copies = {"posts": {"$elemMatch": {"id": post, "comment_count": 1}}}
    return lambda: world.count("social.wall", **copies), 1


@shows(social.BackFill)
def _back_fill(world: World) -> Effect:
    post = publish(world.client, "ann")
    world.client.as_("bob").put("/users/me")
    world.workers.drain()
    with world.silence():
        follow(world.client, "bob", "ann")
    return lambda: world.count("social.news_item", user_id="bob", post_id=post), 1


@shows(social.Rebuild)
def _rebuild(world: World) -> Effect:
    _followed_post(world)
    world.clock.advance(days=40)
    world.run_schedules()
    world.workers.drain()
    publish(world.client, "ann")
    world.workers.drain()
    with world.silence():
        world.client.as_("bob").get("/users/me/news")
    return lambda: world.count("social.news_item", user_id="bob"), 2


@shows(social.Trim)
def _trim(world: World) -> Effect:
    _followed_post(world)
    for _ in range(3):
        world.clock.advance(minutes=1)
        publish(world.client, "ann")
        world.workers.drain()
    world.clock.advance(days=2)
    with world.silence():
        world.client.as_("bob").get("/users/me/news")
    # As many as `news_kept` says.
    return lambda: world.count("social.news_item", user_id="bob"), 2


@shows(people_jobs.Rename)
def _rename(world: World) -> Effect:
    post = _followed_post(world)
    with world.silence():
        world.client.as_("ann").put("/users/me", name="Anna")
    return lambda: world.stored("social.post", post)["by"]["name"], "Anna"


@shows(people_jobs.Erase)
def _erase(world: World) -> Effect:
    _followed_post(world)
    with world.silence():
        world.client.as_("bob").delete("/users/me")
    return lambda: remaining(world.runtime, "bob"), 0


@shows(people_jobs.EraseLate)
def _erase_late(world: World) -> Effect:
    _followed_post(world)
    world.client.as_("bob").delete("/users/me")
    world.workers.drain()
    world.clock.advance(minutes=30)
    with world.silence():
        world.run_schedules()
    jobs = {"errand.type": people_jobs.EraseLate.model_fields["type"].default}
    return lambda: world.count("social.errand", **jobs), 0


@shows(people_jobs.Join)
def _join(world: World) -> Effect:
    admin = world.client.as_("root", roles=["admin"])
    admin.put("/nodes/blog:moon", title="Moon", url="https://blog.example/")
    admin.put("/sites/blog/comments/settings", guests="name")
    world.clock.advance(seconds=6)
    made = world.client.post("/sites/blog/guests", name="Passenger").json
    bearer = {"Authorization": f"Bearer {made['token']}"}
    guest = Client(world.client.app, world.client.token, bearer)
    guest.post("/nodes/blog:moon/comments", text="A fine evening")
    past = Claimed(made["id"], made["name"])
    with world.silence():
        claims.claim(world.runtime, "blog", Principal("ann", "Ann"), [past])
    return lambda: world.count("comments.comment", **{"author.id": "ann"}), 1


@shows(social.Refill)
def _refill(world: World) -> Effect:
    office = _office(world)
    office.act("ann")
    world.workers.drain()
    with world.silence():
        world.client.as_("bob").put("/users/me/muted/ann")
    return lambda: world.count("feed.item", user_id="bob", hidden=False), 0


@shows(Happened)
def _happened(world: World) -> Effect:
    _office(world)
    with world.silence():
        post = publish(world.client, "ann")
    return lambda: world.count("feed.action", **{"cause.thing": post}), 1


@shows(social.RenameRef)
def _rename_ref(world: World) -> Effect:
    action = _office(world).act("ann")
    world.workers.drain()
    with world.silence():
        world.client.as_("root", roles=["admin"]).put("/refs/mary", name="Mary Smith")
    named = {"_id": action, "refs.name": "Mary Smith"}
    return lambda: world.count("feed.action", **named), 1


@shows(social.DeliverAction)
def _deliver_action(world: World) -> Effect:
    office = _office(world)
    with world.silence():
        action = office.act("ann")
    return lambda: world.count("feed.item", action_id=action), 1 + len(READERS)


@shows(social.DeliverActionChunk)
def _deliver_action_chunk(world: World) -> Effect:
    action = _office(world).act("ann")
    with world.silence():
        world.workers.drain()
    return lambda: world.count("feed.item", action_id=action), 1 + len(READERS)


@shows(social.Rerank)
def _rerank(world: World) -> Effect:
    office = _office(world)
    action = office.act("ann")
    world.workers.drain()
    before = office.relevancy("cy", action)
    world.clock.advance(minutes=1)
    with world.silence():
        office.react("bob", action)
    return lambda: office.relevancy("cy", action) > before, True


@shows(social.Cascade)
def _cascade(world: World) -> Effect:
    office = _office(world)
    action = office.act("ann")
    world.workers.drain()
    with world.silence():
        office.hide("ann", action)
    return lambda: world.count("feed.item", action_id=action, hidden=False), 0


@shows(CountMark)
def _count_mark(world: World) -> Effect:
    post = _followed_post(world)
    assert marks.choose(world.runtime, "post", post, "folded")["found"]
    with world.silence():
        world.client.as_("bob").put(f"/posts/{post}/reactions/like")
    reader = world.client.as_("cy")
    return lambda: reader.get(f"/posts/{post}").json["reactions"]["counts"].get("like", 0), 1


@shows(MoveAssets)
def _move_assets(world: World) -> Effect:
    library = Uploader(world.client.as_("editor", roles=["admin"]))
    library.upload(png(), "image/png")
    world.workers.drain()
    with world.silence():
        library.client.post("/content/blog/assets/store", store="gridfs")
    return lambda: world.count("content.library", _id="blog", due={"$ne": None}), 0


@shows(TellDiscussion)
def _tell_discussion(world: World) -> Effect:
    set_up(world.client)
    page = published(world.client)
    world.workers.drain()
    (discussion,) = (each["_id"] for each in world.runtime.database["comments.node"].find())
    with world.silence():
        publisher(world.client).post(f"{node(page)}/unpublish")
    return lambda: world.stored("comments.node", discussion)["locked"], True


@shows(MoveNode)
def _move_node(world: World) -> Effect:
    nodes.insert(world.runtime.database, nodes.new_node("moon"))
    world.client.as_("zoe").post("/nodes/moon/comments", text="Hello")
    editor = world.client.as_("editor", roles=["admin"])
    with world.silence():
        editor.post("/nodes/moon/store", store="embedded")
    return lambda: world.stored("comments.node", "moon")["store"], "embedded"


@shows(CheckSpam)
def _check_spam(world: World) -> Effect:
    staff = world.client.as_("mo", roles=["moderator", "publisher"], sites=["blog"])
    assert (
        staff.put("/nodes/blog:moon", title="Moon", url="https://blog.example/moon").status == 201
    )
    asking = {"spam_check_url": "https://blog.example/"}
    assert staff.put("/sites/blog/comments/settings", **asking).status == 200
    with world.silence():
        world.client.as_("zoe").post("/nodes/blog:moon/comments", text="Hello")
    return world.akismet.operations, [("comment-check", "Hello")]


@shows(Notify)
def _notify(world: World) -> Effect:
    staff = world.client.as_("mo", roles=["moderator", "publisher"], sites=["blog"])
    page = {"title": "Moon", "url": "https://blog.example/moon"}
    assert staff.put("/nodes/blog:moon", **page).status == 201
    assert staff.put("/sites/blog/comments/settings", notifications=True).status == 200
    world.clock.advance(seconds=6)
    first = world.client.as_("zoe").post("/nodes/blog:moon/comments", text="Hello")
    with world.silence():
        answer = {"text": "Hello Zoe", "parent": first.json["id"]}
        world.client.as_("bob").post("/nodes/blog:moon/comments", **answer)
    return lambda: world.count("notifications.item", user_id="zoe"), 1


@shows(social.NotifyFeed)
def _notify_feed(world: World) -> Effect:
    world.client.as_("bob").put("/users/me")
    post = publish(world.client, "ann")
    world.workers.drain()
    with world.silence():
        world.client.as_("bob").put(f"/posts/{post}/reactions/like")
    return lambda: world.count("notifications.item", user_id="ann"), 1


@shows(social.NotifyWatchers)
def _notify_watchers(world: World) -> Effect:
    follow(world.client, "bob", "ann")
    assert world.client.as_("bob").put("/users/ann/watch", level="watching").status == 200
    world.workers.drain()
    with world.silence():
        post = publish(world.client, "ann")
        jobs.handle(world.runtime, social.Deliver(post_id=post))
    return lambda: world.count("notifications.item", kind="post.new"), 1


@shows(SendEvent)
def _send_event(world: World) -> Effect:
    staff = world.client.as_("mo", roles=["publisher"], sites=["blog"])
    # Nothing of this machine takes events: the worker's try is what the message is for.
    hook = {"url": "https://unresolved.invalid/", "kinds": ["comment.created"]}
    made = staff.post("/sites/blog/webhooks", **hook).json["id"]
    with world.silence():
        staff.post(f"/sites/blog/webhooks/{made}/trials")
    return lambda: world.count("webhooks.delivery", tries={"$gte": 1}), 1


@shows(SendPush)
def _send_push(world: World) -> Effect:
    # Nothing takes messages there: that the worker has tried is the effect.
    ann = BrowserStandIn("https://unresolved.invalid/").browser
    subscriptions.register(world.runtime, "ann", ann, "en", "UTC")
    world.clock.advance(seconds=1)
    world.client.as_("bob").put("/users/me")
    post = publish(world.client, "ann")
    world.workers.drain()
    world.client.as_("bob").put(f"/posts/{post}/reactions/like")
    world.workers.drain()
    world.clock.advance(minutes=1)
    with world.silence():
        push_rows.send_due(world.runtime)
    return lambda: world.count("notifications.push", tries={"$gte": 1}), 1


@shows(RunBatch)
def _run_batch(world: World) -> Effect:
    mo = world.client.as_("mo", roles=["moderator"], sites=["blog"])
    assert mo.put("/nodes/blog:moon", title="Moon", url="https://blog.example/moon").status == 201
    said = world.client.as_("zoe").post("/nodes/blog:moon/comments", text="Hello").json["id"]
    chosen = [{"node_id": "blog:moon", "comment_id": said}]
    with world.silence():
        mo.post("/moderation/batches", site="blog", state="hidden", comments=chosen)
    # Decided on, and noted, once.
    return lambda: world.count("comments.log", comment_id=said), 1


@shows(RunTransfer)
def _run_transfer(world: World) -> Effect:
    paula = world.client.as_("paula", roles=["publisher"], sites=["blog"])
    begun = begin(paula, "blog", lines_file(3), dry_run=False)
    with world.silence():
        assert paula.post(f"/sites/blog/imports/{begun['id']}/start").status == 202
    return lambda: world.count("comments.comment", node_id="blog:a-page"), 3


@shows(Relist)
def _relist(world: World) -> Effect:
    paula = open_shop(world.client)
    for name in ("books", "novels"):
        path = f"/shops/{SHOP}/categories/{name}"
        assert paula.put(path, name=name.title(), slug=name, parent=None).status == 201
    assert put(paula, "moby-dick", book(categories=["novels"])).status == 201
    world.workers.drain()
    with world.silence():
        paula.put(path, name="Novels", slug="novels", parent="books")
    path = f"/shops/{SHOP}/categories/books"
    return lambda: world.client.get(path).json["products"], 1


@shows(Rewrite)
def _rewrite(world: World) -> Effect:
    paula = open_shop(world.client)
    assert put(paula, "moby-dick", book()).status == 201
    world.workers.drain()
    with world.silence():
        paula.post(f"/shops/{SHOP}/layout", store="attributes")
    return lambda: world.stored("shop.site", SHOP).get("is_rewriting", False), False


@shows(ResumeOrder)
def _resume_order(world: World) -> Effect:
    stocked(world.client)
    cart = cart_of(world.client, MOBY_HARD=1)
    with world.silence():
        order = check_out(world.client, cart, agreement()).json["order"]["id"]
    return lambda: world.stored("shop.order", order)["state"], "done"


@shows(SendLetter)
def _send_letter(world: World) -> Effect:
    root = world.client.as_("root", roles=["admin"])
    with world.silence():
        root.post("/mail/trials", email="ann@plaza.example")
    return world.letters, ["ann@plaza.example"]


@shows(AdEvent)
def _ad_event(world: World) -> Effect:
    add_zones(world.runtime, "blog/banner")
    put_campaign(world.runtime, "acme:spring", "blog/banner")
    activate(world.runtime, "acme:spring")
    page = Page(world.client)
    ad = page.ad()
    with world.silence():
        page.see(ad)
        page.click(ad)
    return lambda: world.count("ad.event"), 2


@shows(Hits)
def _hits(world: World) -> Effect:
    site(world.runtime)
    hits = [{"path": "/a"}, {"path": "/b"}]
    with world.silence():
        world.client.post("/hits", site="blog", hits=hits)
        world.client.get("/hits/blog/pixel?path=/c")
    return lambda: world.count("hit.event"), 3
