"""An id that callers choose is used again: its second holder inherits nothing private or billed.

Circles have tests of their own: tests/social/graph/test_reused_circle_ids.py.
"""

from typing import Any

import orjson
import pytest

from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.messages import JOB
from tests.ads.support.factories import BANNER, campaign_body
from tests.security.support.callers import OWN_ADVERTISER, OWN_SITE
from tests.security.support.world import (
    ADDRESS,
    World,
    build,
    campaign,
    made,
    published_content,
    stock,
)
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

NODE = f"{OWN_SITE}:again"
PAGE = {"title": "Page", "url": "https://alpha.example/"}
ANOTHER = {"title": "Another page", "url": "https://alpha.example/another"}
POST = {"type": "status", "detail": {"text": "Hello"}}
BOOK = {"type": "book", "state": "active", "details": {"author": ["Melville"]}}


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


def send(caller: Client, method: str, path: str, headers: dict[str, str], **body: Any) -> Reply:
    headers = {"Content-Type": "application/json", **headers}
    return caller.request(method, path, body=orjson.dumps(body), headers=headers)


@pytest.mark.parametrize("store", ["documents", "embedded", "buckets"])
def test_a_node_made_again_has_no_comments_marks_or_queue_of_the_former(
    world: World, store: str
) -> None:
    admin, ann, peer = (world.as_(who) for who in ("admin", "owner", "peer"))
    made(admin.put(f"/nodes/{NODE}", store=store, **PAGE))
    comment = made(ann.post(f"/nodes/{NODE}/comments", text="Of the former"))["id"]
    made(peer.put(f"/nodes/{NODE}/comments/{comment}/flag", reason="spam"))
    made(peer.put(f"/nodes/{NODE}/comments/{comment}/vote", value=1))
    made(peer.put(f"/nodes/{NODE}/reactions/heart"))
    made(admin.put(f"/nodes/{NODE}/comments/{comment}/pin"))
    path = f"/nodes/{NODE}/comments/{comment}"
    assert admin.delete(f"/nodes/{NODE}").status == 204

    made(admin.put(f"/nodes/{NODE}", **ANOTHER))
    world.workers.drain()

    listed = made(peer.get(f"/nodes/{NODE}/comments"))
    assert listed["comments"] == []
    assert "Of the former" not in str(listed)
    assert made(admin.get(f"/comment-counts?nodes={NODE}"))[NODE] == 0
    for reply in (peer.get(path), ann.delete(path), ann.patch(path, text="No")):
        assert reply.code == "unknown_comment"
    marks = made(peer.get(f"/nodes/{NODE}/marks?ids={comment}"))
    assert marks["comments"] == {}
    assert marks["page"]["reactions"] == {}
    assert marks["page"]["mine"] == {"vote": 0, "reactions": []}
    assert made(peer.get(f"/nodes/{NODE}/people?q=a"))["people"] == []
    for elsewhere in (
        f"/moderation/comments?site={OWN_SITE}",
        f"/sites/{OWN_SITE}/people/ann/comments",
    ):
        assert comment not in str(made(admin.get(elsewhere)))


@pytest.mark.parametrize("step", ["queue", "entries"])
def test_a_node_made_again_after_a_deletion_that_died_shows_nothing_of_the_former(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    admin, ann, peer = (world.as_(who) for who in ("admin", "owner", "peer"))
    made(admin.put(f"/nodes/{NODE}", moderation="before", **PAGE))
    waits = made(ann.post(f"/nodes/{NODE}/comments", text="Waits at the former"))["id"]
    shown = made(ann.post(f"/nodes/{NODE}/comments", text="Of the former"))["id"]
    made(admin.post(f"/nodes/{NODE}/comments/{shown}/state", state="visible"))
    with monkeypatch.context() as patched:
        patched.setattr(f"chalicelib.comments.lifecycle.vacancies.{step}.forget", _die)
        assert admin.delete(f"/nodes/{NODE}").status == 500

    made(admin.put(f"/nodes/{NODE}", **ANOTHER))

    assert made(peer.get(f"/nodes/{NODE}/people?q=a"))["people"] == []
    assert waits not in str(made(admin.get(f"/moderation/comments?site={OWN_SITE}")))
    assert shown not in str(made(admin.get(f"/sites/{OWN_SITE}/people/ann/comments")))


def _die(*_: object) -> None:
    raise SystemError("killed")


def test_an_id_that_forwarded_leads_to_nothing_of_the_former_node(world: World) -> None:
    admin, ann = world.as_("admin"), world.as_("owner")
    made(admin.put(f"/nodes/{NODE}", **PAGE))
    comment = made(ann.post(f"/nodes/{NODE}/comments", text="Moved along"))["id"]
    made(admin.post(f"/nodes/{NODE}/move", to=f"{NODE}-moved"))
    world.workers.drain()
    assert admin.delete(f"/nodes/{NODE}").status == 204

    made(admin.put(f"/nodes/{NODE}", **ANOTHER))

    assert made(ann.get(f"/nodes/{NODE}/comments"))["comments"] == []
    assert ann.get(f"/nodes/{NODE}/comments/{comment}").code == "unknown_comment"
    assert ann.get(f"/nodes/{NODE}-moved/comments/{comment}").status == 200


def test_a_repeated_call_finds_nothing_of_a_former_node(world: World) -> None:
    admin, ann = world.as_("admin"), world.as_("owner")
    made(admin.put(f"/nodes/{NODE}", **PAGE))
    path, key = f"/nodes/{NODE}/comments", {"Idempotency-Key": "once"}
    made(send(ann, "POST", path, key, text="Of the former"))
    assert admin.delete(f"/nodes/{NODE}").status == 204
    made(admin.put(f"/nodes/{NODE}", **ANOTHER))

    again = send(ann, "POST", path, key, text="Of the former")

    assert again.code == "unknown_comment"
    assert made(ann.get(path))["comments"] == []


def test_an_act_on_a_former_node_cannot_be_undone_in_the_later_one(world: World) -> None:
    admin, ann = world.as_("admin"), world.as_("owner")
    made(admin.put(f"/nodes/{NODE}", **PAGE))
    comment = made(ann.post(f"/nodes/{NODE}/comments", text="Hidden there"))["id"]
    made(admin.post(f"/nodes/{NODE}/comments/{comment}/state", state="hidden"))
    log = f"/moderation/log?site={OWN_SITE}&node={NODE}&comment={comment}"
    (act,) = made(admin.get(log))["acts"]
    assert admin.delete(f"/nodes/{NODE}").status == 204
    made(admin.put(f"/nodes/{NODE}", **ANOTHER))

    undone = admin.post(f"/moderation/log/{act['id']}/undo?site={OWN_SITE}")

    assert undone.status in {404, 409}, undone.body
    assert made(ann.get(f"/nodes/{NODE}/comments"))["comments"] == []


def test_a_page_never_gets_a_deleted_pages_address_and_so_not_its_discussion(world: World) -> None:
    publisher = world.as_("publisher_own")
    first = published_content(world, "news")["content"]
    path = f"/content/{OWN_SITE}/nodes"
    discussion = made(publisher.get(f"{path}/{first}"))["discussion_id"]
    deleted = publisher.request("DELETE", f"{path}/{first}", headers={"If-Match": '"2"'})
    assert deleted.status == 204

    draft = {"type": "page", "slug": "news", "title": "Page", "detail": {"text": "Again"}}
    second = made(world.as_("editor_own").post(path, **draft))
    assert publisher.post(f"{path}/{second['id']}/publish", version=1).code == "address_taken"
    assert second["id"] != first
    assert second["discussion_id"] != discussion


def test_a_campaign_that_had_money_is_never_made_again(world: World) -> None:
    admin, name = world.as_("admin"), world.names["campaign"]
    assert admin.delete(f"/campaigns/{name}").status == 204

    again = admin.put(f"/campaigns/{name}", **campaign_body(f"{OWN_SITE}/banner"))

    assert again.code == "campaign_deleted"


def test_a_draft_made_again_has_no_money_of_the_former(world: World) -> None:
    admin = world.as_("admin")
    name = campaign(world)["campaign"]
    assert admin.delete(f"/campaigns/{name}").status == 204

    again = made(admin.put(f"/campaigns/{name}", **campaign_body(f"{OWN_SITE}/banner")))

    assert again["status"] == "draft"
    database = world.runtime.database
    assert database["ad.ledger"].count_documents({"campaign_id": name}) == 0
    stored = database["ad.campaign"].find_one({"_id": name})
    assert stored is not None
    assert "balance" not in stored


def test_a_zone_made_again_has_none_of_the_formers_ads_and_settings(
    world: World, clock: Clock
) -> None:
    admin = world.as_("admin")
    zone = f"/sites/{OWN_SITE}/zones/once"
    made(admin.put(zone, size=BANNER, allowed_advertisers=[OWN_ADVERTISER]))
    name = f"{OWN_ADVERTISER}:zoned"
    made(admin.put(f"/campaigns/{name}", **campaign_body(f"{OWN_SITE}/once")))
    made(admin.post(f"/campaigns/{name}/activate"))
    assert len(made(world.client.get(f"/ads/{OWN_SITE}/once"))["ads"]) == 1
    assert admin.delete(zone).status == 204

    again = made(admin.put(zone, size=BANNER, blocked_advertisers=[OWN_ADVERTISER]))

    assert (again["ad_count"], again["allowed_advertisers"]) == (0, None)
    # What a warm container keeps of the former ends with its time to live.
    clock.advance(milliseconds=world.runtime.settings.zone_ttl_ms)
    assert made(world.client.get(f"/ads/{OWN_SITE}/once"))["ads"] == []


def test_a_sku_of_another_product_is_not_what_a_cart_has_put_in(world: World) -> None:
    admin = world.as_("admin")
    sku = stock(world)["sku"]
    products = f"/shops/{OWN_SITE}/products"
    cart = made(world.client.post("/carts", site=OWN_SITE))["id"]
    put_in = made(world.client.put(f"/carts/{cart}/lines/{sku}", qty=2))["lines"]
    price = {"price_micros": 5_000_000}
    former = {**BOOK, "title": "Moby-Dick", "skus": [{"sku": f"{sku}-x", **price}]}
    made(send(admin, "PUT", f"{products}/{sku}", {"If-Match": '"1"'}, **former))
    later = {**BOOK, "title": "Typee", "skus": [{"sku": sku, **price}]}
    made(admin.put(f"{products}/{world.fresh()}", **later))

    assert made(world.client.get(f"/carts/{cart}"))["lines"] == put_in
    paid = {"total_micros": 10_000_000, "email": "ann@example.org", "address": ADDRESS}
    key = {"Idempotency-Key": world.fresh()}
    bought = send(world.client, "POST", f"/carts/{cart}/checkout", key, **paid)
    assert bought.code == "not_for_sale"


def test_a_category_made_again_lists_nothing_of_the_former(world: World) -> None:
    admin, name = world.as_("admin"), world.fresh()
    category, product = f"/shops/{OWN_SITE}/categories/{name}", world.fresh()
    made(admin.put(category, name="Former", slug=name))
    body = {**BOOK, "title": "Omoo", "skus": [{"sku": product, "price_micros": 5_000_000}]}
    made(admin.put(f"/shops/{OWN_SITE}/products/{product}", categories=[name], **body))
    world.workers.drain()
    assert made(world.client.get(category))["products"] == 1
    assert admin.delete(category).status == 204
    world.workers.drain()

    made(admin.put(category, name="Later", slug=name))
    world.workers.drain()

    assert made(world.client.get(category))["products"] == 0
    listed = made(world.client.get(f"/shops/{OWN_SITE}/products?category={name}"))
    assert listed["products"] == []


def test_who_holds_an_erased_persons_id_finds_nothing_of_theirs_and_keeps_their_own(
    world: World, clock: Clock
) -> None:
    zed, ann = world.client.as_("zed"), world.as_("owner")
    made(zed.put("/users/me", profile={"location": "Here"}))
    for one, other in ((zed, "ann"), (ann, "zed")):
        made(one.put("/users/me/circles/club", name="Club"))
        made(one.put(f"/users/me/circles/club/members/{other}"))
    theirs = made(zed.post("/posts", circles=["club"], **POST))["id"]
    for_them = made(ann.post("/posts", circles=["club"], **POST))["id"]
    kept_for_them = made(ann.post("/posts", circles=["club"], audience="at_post", **POST))["id"]
    world.workers.drain()
    assert zed.delete("/users/me").status in {202, 204}
    world.workers.drain()
    clock.advance(seconds=1)

    assert zed.get("/users/me").code == "unknown_user"
    assert made(zed.get("/users/me/export")) == {"entries": [], "next": None}
    for post in (theirs, for_them, kept_for_them):
        assert zed.get(f"/posts/{post}").code == "unknown_post"
    own = made(zed.post("/posts", circles=["*public*"], **POST))["id"]
    assert made(zed.get("/users/me"))["profile"] == {}
    assert made(zed.get("/users/me/circles"))["circles"] == []
    for view in ("news", "incoming"):
        assert made(zed.get(f"/users/me/{view}"))["posts"] == []

    clock.time += outbox.OUTLIVES_ALL
    outbox.sweep(world.runtime, JOB)
    world.workers.drain()
    assert made(zed.get(f"/posts/{own}"))["id"] == own
