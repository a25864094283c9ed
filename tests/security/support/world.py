"""A small world in which everything that a route names exists, and things that may be used up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import orjson

from chalicelib.comments.transfers import runs
from chalicelib.comments.transfers.endings import end
from chalicelib.comments.transfers.messages import RunTransfer
from chalicelib.comments.transfers.rows import TRANSFERS
from chalicelib.runtime import Runtime
from tests.ads.support.factories import BANNER, campaign_body
from tests.assets.support.files import png
from tests.assets.support.uploading import Uploader
from tests.comments.transfers.support.files import begin, lines_file
from tests.security.support.callers import CALLERS, OTHER_SITE, OWN_ADVERTISER, OWN_SITE, client_of
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

Names = Mapping[str, str]
ADDRESS = {
    "name": "Ann",
    "street": "Quay 1",
    "postal_code": "1011 AB",
    "city": "Amsterdam",
    "country": "NL",
}
PICTURE = png()
SITE_NODE = f"{OWN_SITE}:page"
# A site whose reports are everybody's.
PUBLIC_SITE = "gamma"


@dataclass(frozen=True)
class World:
    """The world, and the names of its things by the placeholders of the matrix."""

    client: Client
    runtime: Runtime
    workers: Workers
    names: dict[str, str]
    numbers: "count[int]"

    def as_(self, caller: str) -> Client:
        """Return a client of one of the matrix's callers."""
        return client_of(self.client, caller)

    def fresh(self) -> str:
        """Return an unused name."""
        return f"n{next(self.numbers)}"


def made(reply: Reply, *statuses: int) -> Any:
    """Return the JSON of a call that must have worked."""
    assert reply.status in (statuses or (200, 201, 202, 204)), reply.body
    return reply.json if reply.body else {}


PROVIDER = {"name": "GitHub", "kind": "github", "client_id": "plaza", "client_secret": "secret"}
COMMENT_SETTINGS: dict[str, Any] = {
    "votes": "up_down",
    "reactions": [{"key": "heart", "emoji": "+"}],
    "guests": "name",
    "search": True,
    "notifications": True,
}


def build(client: Client, runtime: Runtime, workers: Workers) -> World:
    """Make the people, a discussion, a campaign with its zone, posts and actions."""
    world = World(client, runtime, workers, {}, count())
    for caller in CALLERS:
        if caller != "anonymous":
            made(world.as_(caller).put("/users/me"))
    _comments(world)
    _ads(world)
    _social(world)
    _content(world)
    _assets(world)
    _shop(world)
    _analytics(world)
    workers.drain()
    world.names.update({"webhook": "aaneGAECAwQFBgcI", "delivery": "trial:aaneGAECAwQFBgcI"})
    world.names["subscription"] = "A" * 43
    return world


def _comments(world: World) -> None:
    made(world.as_("admin").put(f"/nodes/{SITE_NODE}", title="Page", url="https://alpha.example/"))
    world.names.update({"node": SITE_NODE, "site": OWN_SITE})
    world.names["comment"] = comment(world)["comment"]
    made(world.as_("admin").put(f"/sites/{OWN_SITE}/comments/settings", **COMMENT_SETTINGS))
    world.names.update({"key": "heart", **act(world), **batch(world)})
    world.names.update({"transfer": "aaneGAECAwQFBgcI", "piece": "1", "provider": "own"})


def _ads(world: World) -> None:
    admin = world.as_("admin")
    made(admin.put(f"/sites/{OWN_SITE}/zones/banner", size=BANNER))
    world.names.update(
        {"zone": "banner", "advertiser": OWN_ADVERTISER, "visitor": "v" * 22, "issuer": "own"}
    )
    world.names.update(campaign(world))
    for account in (f"advertiser:{OWN_ADVERTISER}", f"site:{OWN_SITE}"):
        key = {"Idempotency-Key": world.fresh(), "Content-Type": "application/json"}
        body = f'{{"to_account_id": "{account}", "amount_micros": 1000000000}}'.encode()
        made(admin.request("POST", "/accounts/bank/transfers", body=body, headers=key))
    world.names["account"] = f"advertiser:{OWN_ADVERTISER}"
    made(admin.post(f"/campaigns/{world.names['campaign']}/activate"))
    ads = made(world.client.get(f"/ads/{OWN_SITE}/banner"))["ads"]
    world.names.update(token_names(ads[0]))


def token_names(ad: Mapping[str, Any]) -> dict[str, str]:
    """Return the tokens in the addresses of an ad."""
    impression = next(str(value) for name, value in ad.items() if "impression" in name)
    click = str(ad["click_url"])
    return {
        "event": impression.split("/events/")[1].split("/")[0],
        "click": click.rpartition("/")[2],
    }


def _social(world: World) -> None:
    owner = world.as_("owner")
    made(owner.put("/users/me/circles/club", name="Club"))
    made(owner.put("/users/me/circles/club/members/peer"))
    made(owner.put("/users/me/blocked/blocked"))
    made(world.as_("peer").put("/users/me/circles/read", name="Read"))
    made(world.as_("peer").put("/users/me/circles/read/members/ann"))
    for user in ("ann", "peer"):
        made(world.as_("admin").put(f"/users/{user}/org", team="red", department="colours"))
    world.names.update(
        {
            "user": "ann",
            "circle": "club",
            "ref": "thing:one",
            "tag": "new",
            "file": "docs.js",
            "version": "v1",
        }
    )
    made(world.as_("admin").put("/refs/thing:one", name="One"))
    world.names.update({**post(world), **action(world), "kind": "like"})


def _content(world: World) -> None:
    settings = {"title": "Alpha", "base_url": "https://alpha.example"}
    made(world.as_("admin").put(f"/content/{OWN_SITE}/settings", **settings))
    world.names.update({**published_content(world, "page"), "revision": "1", "other": "1"})


def content(world: World, slug: str = "") -> dict[str, str]:
    """Write a page of the site."""
    page = {
        "type": "page",
        "slug": slug or f"page-{world.fresh()}",
        "title": "Page",
        "detail": {"text": "Hello"},
    }
    written = made(world.as_("editor_own").post(f"/content/{OWN_SITE}/nodes", **page))
    return {"content": written["id"]}


def published_content(world: World, slug: str = "") -> dict[str, str]:
    """Write a page of the site and publish it."""
    names = content(world, slug)
    path = f"/content/{OWN_SITE}/nodes/{names['content']}/publish"
    made(world.as_("publisher_own").post(path, version=1))
    return names


def _assets(world: World) -> None:
    world.names.update({**asset(world), "number": "1", **upload(world)})


def asset(world: World) -> dict[str, str]:
    """Make an asset of the site."""
    return {"asset": _uploader(world).upload(PICTURE, "image/png")["id"]}


def upload(world: World) -> dict[str, str]:
    """Begin an upload of a version, and send all of it."""
    uploader = _uploader(world)
    begun = made(uploader.begin(PICTURE, "image/png"))
    uploader.send(begun, PICTURE)
    return {"upload": begun["id"]}


def _uploader(world: World) -> Uploader:
    return Uploader(world.as_("editor_own"), f"/content/{OWN_SITE}")


def _shop(world: World) -> None:
    admin = world.as_("admin")
    made(admin.put(f"/shops/{OWN_SITE}", currency="EUR"))
    made(admin.put(f"/shops/{OWN_SITE}/categories/novels", name="Novels", slug="novels"))
    world.names.update({**product(world), "category": "novels"})
    world.names.update(paid_order(world))


def room_for_a_webhook(world: World) -> dict[str, str]:
    """Remove the webhooks of the site."""
    world.runtime.database["webhooks.hook"].delete_many({"site": OWN_SITE})
    return {}


def webhook(world: World) -> dict[str, str]:
    """Make a webhook of the site, of which nothing is sent."""
    room_for_a_webhook(world)
    body = {"url": "https://alpha.example/events", "kinds": ["comment.edited"]}
    made_hook = made(world.as_("admin").post(f"/sites/{OWN_SITE}/webhooks", **body))
    return {"webhook": made_hook["id"]}


def delivery(world: World) -> dict[str, str]:
    """Make a delivery to a webhook of the site that is at its end."""
    names = webhook(world)
    path = f"/sites/{OWN_SITE}/webhooks/{names['webhook']}/trials"
    tried = made(world.as_("admin").post(path))["delivery"]
    return {**names, "delivery": tried}


def category(world: World) -> dict[str, str]:
    """Make a category of the shop."""
    name = world.fresh()
    made(world.as_("admin").put(f"/shops/{OWN_SITE}/categories/{name}", name=name, slug=name))
    return {"category": name}


def product(world: World) -> dict[str, str]:
    """Make a product that is sold."""
    name = no_product(world)["product"]
    body = {
        "type": "book",
        "title": "Moby-Dick",
        "state": "active",
        "skus": [{"sku": name, "price_micros": 5_000_000}],
        "details": {"author": ["Melville"]},
    }
    made(world.as_("admin").put(f"/shops/{OWN_SITE}/products/{name}", **body))
    return {"product": name}


def no_product(world: World) -> dict[str, str]:
    """Return the name of a product that is not there, and free the SKU of the matrix."""
    for each in world.runtime.database["shop.sku"].find({"_id": f"{OWN_SITE}:NEW-SKU"}):
        world.runtime.database["shop.sku"].delete_one({"_id": each["_id"]})
    return {"product": world.fresh()}


def stock(world: World) -> dict[str, str]:
    """Make a product of which there are some."""
    sku = product(world)["product"]
    path = f"/shops/{OWN_SITE}/stock/{sku}"
    made(world.as_("admin").post(path, change=1_000, key="opening"))
    return {"sku": sku}


def cart(world: World) -> dict[str, str]:
    """Make a cart of nobody with one piece in it."""
    return _filled(world, "anonymous")


def order(world: World) -> dict[str, str]:
    """Make an order of the owner that is not paid yet."""
    names = _filled(world, "owner")
    body = {"total_micros": 5_000_000, "email": "ann@example.org", "address": ADDRESS}
    headers = {"Content-Type": "application/json", "Idempotency-Key": world.fresh()}
    path = f"/carts/{names['cart']}/checkout"
    reply = world.as_("owner").request("POST", path, body=orjson.dumps(body), headers=headers)
    return {**names, "order": made(reply)["order"]["id"]}


def paid_order(world: World) -> dict[str, str]:
    """Make an order of the owner that is paid."""
    names = order(world)
    made(world.as_("owner").post(f"/orders/{names['order']}/payment"))
    return names


def _filled(world: World, caller: str) -> dict[str, str]:
    names = stock(world)
    found = made(world.as_(caller).post("/carts", site=OWN_SITE))
    made(world.as_(caller).put(f"/carts/{found['id']}/lines/{names['sku']}", qty=1))
    return {**names, "cart": found["id"]}


def archived_product(world: World) -> dict[str, str]:
    """Make a product that is no longer sold."""
    names = product(world)
    made(world.as_("admin").delete(f"/shops/{OWN_SITE}/products/{names['product']}"))
    return names


def _analytics(world: World) -> None:
    admin = world.as_("admin")
    made(admin.put(f"/sites/{OWN_SITE}/analytics", user_reports=True))
    made(admin.put(f"/sites/{PUBLIC_SITE}/analytics", public=True))


def comment(world: World) -> dict[str, str]:
    """Make a comment of the owner."""
    posted = world.as_("owner").post(f"/nodes/{SITE_NODE}/comments", text="So it is")
    return {"comment": made(posted)["id"]}


def comment_of_new_node(world: World) -> dict[str, str]:
    """Make a comment of the owner on a page of its own."""
    names = node(world)
    posted = world.as_("owner").post(f"/nodes/{names['node']}/comments", text="So it is")
    return {**names, "comment": made(posted)["id"]}


def pending_comment(world: World) -> dict[str, str]:
    """Make a comment of the owner that waits for a moderator."""
    names = comment(world)
    path = f"/nodes/{SITE_NODE}/comments/{names['comment']}/state"
    made(world.as_("admin").post(path, state="pending"))
    return names


def hidden_comment(world: World) -> dict[str, str]:
    """Make a comment of the owner that a moderator has hidden."""
    names = comment(world)
    path = f"/nodes/{SITE_NODE}/comments/{names['comment']}/state"
    made(world.as_("admin").post(path, state="hidden"))
    return names


def act(world: World) -> dict[str, str]:
    """Hide a comment of the owner, and name what was done."""
    hidden = hidden_comment(world)["comment"]
    query = f"site={OWN_SITE}&node={SITE_NODE}&comment={hidden}"
    (found,) = made(world.as_("admin").get(f"/moderation/log?{query}"))["acts"]
    return {"act": found["id"]}


def batch(world: World) -> dict[str, str]:
    """Have a worker go through the comments of somebody who wrote none."""
    wanted = {"site": OWN_SITE, "state": "hidden", "person": "nobody"}
    begun = made(world.as_("admin").post("/moderation/batches", **wanted))
    world.workers.drain()
    return {"batch": begun["id"]}


def free_site(world: World) -> None:
    """Have the worker end what runs at the site, and stop the import that waits there."""
    world.workers.drain()
    rows = TRANSFERS.of(world.runtime.database)
    for row in list(rows.find({"site": OWN_SITE, "open": {"$exists": True}})):
        end(world.runtime, row, "stopped")


def upload_of_import(
    world: World, site: str = OWN_SITE, content: bytes = lines_file(1)
) -> dict[str, str]:
    """Begin an import, and send its file."""
    free_site(world)
    begun = begin(world.as_("admin"), site, content)
    return {"site": site, "transfer": begun["id"], "number": "1"}


def tried_import(world: World, site: str = OWN_SITE) -> dict[str, str]:
    """Have a worker try a file."""
    names = upload_of_import(world, site)
    made(world.as_("admin").post(f"/sites/{site}/imports/{names['transfer']}/start"))
    run_transfers(world)
    return names


def no_import(world: World) -> dict[str, str]:
    """Have the site without an import or an export that runs."""
    free_site(world)
    return {}


def export(world: World, site: str = OWN_SITE) -> dict[str, str]:
    """Have a worker write the discussions of the site."""
    free_site(world)
    begun = made(world.as_("admin").post(f"/sites/{site}/exports", format="plaza"))
    run_transfers(world)
    return {"site": site, "transfer": begun["id"], "number": "1", "piece": "1"}


def run_transfers(world: World) -> None:
    """Do what a worker does, also where no worker reads the queues."""
    rows = TRANSFERS.of(world.runtime.database)
    for row in list(rows.find({"state": "running"})):
        runs.run(world.runtime, RunTransfer(site=row["site"], transfer=row["_id"]))


def node(world: World) -> dict[str, str]:
    """Make a page of the site with a comment."""
    name = f"{OWN_SITE}:{world.fresh()}"
    made(world.as_("admin").put(f"/nodes/{name}", title="Page", url="https://alpha.example/"))
    made(world.as_("owner").post(f"/nodes/{name}/comments", text="So it is"))
    return {"node": name}


def moved_node(world: World) -> dict[str, str]:
    """Make a page of the site and move it to another one; name the id that it had."""
    names = node(world)
    to = f"{OTHER_SITE}:{world.fresh()}"
    made(world.as_("admin").post(f"/nodes/{names['node']}/move", to=to))
    return names


def new_node(world: World) -> dict[str, str]:
    """Name a page of the site that is not there yet."""
    return {"node": f"{OWN_SITE}:{world.fresh()}"}


def campaign(world: World) -> dict[str, str]:
    """Make a campaign that is a draft."""
    name = f"{OWN_ADVERTISER}:{world.fresh()}"
    body = campaign_body(f"{OWN_SITE}/banner", flight=flight(world.runtime.now()))
    made(world.as_("admin").put(f"/campaigns/{name}", **body))
    return {"campaign": name}


def flight(now: datetime) -> dict[str, str]:
    """Return the flight of a campaign that runs now."""
    ends_at = now + timedelta(days=30)
    return {"starts_at": now.isoformat(), "ends_at": ends_at.isoformat()}


def zone(world: World) -> dict[str, str]:
    """Make a zone without ads."""
    name = world.fresh()
    made(world.as_("admin").put(f"/sites/{OWN_SITE}/zones/{name}", size=BANNER))
    return {"zone": name}


def post(world: World) -> dict[str, str]:
    """Make a public post of the owner."""
    return _post(world, ["*public*"])


def post_comment(world: World) -> dict[str, str]:
    """Make a public post of the owner, with a comment of the owner."""
    return _commented(world, post(world), "owner")


def peers_comment(world: World) -> dict[str, str]:
    """Make a post of the owner to a circle, with a comment of the peer."""
    return _commented(world, circle_post(world), "peer")


def _commented(world: World, names: dict[str, str], author: str) -> dict[str, str]:
    posted = world.as_(author).post(f"/posts/{names['post']}/comments", text="So it is")
    return {**names, "comment": made(posted)["id"]}


def circle_post(world: World) -> dict[str, str]:
    """Make a post of the owner to the circle that the peer is in."""
    return _post(world, ["club"])


def poll(world: World) -> dict[str, str]:
    """Make a public poll of the owner."""
    return _post(world, ["*public*"], type="poll", detail=_POLL)


def circle_poll(world: World) -> dict[str, str]:
    """Make a poll of the owner to the circle that the peer is in."""
    return _post(world, ["club"], type="poll", detail=_POLL)


_POLL = {"question": "Is it?", "options": ["Yes", "No"]}


def wall_post(world: World) -> dict[str, str]:
    """Make a stranger's public post on the owner's wall."""
    return _post(world, ["*public*"], "stranger", wall_owner_id="ann")


def _post(world: World, circles: list[str], author: str = "owner", **given: Any) -> dict[str, str]:
    detail = {"text": "Hello"}
    body: dict[str, Any] = {"type": "status", "detail": detail, "circles": circles, **given}
    return {"post": made(world.as_(author).post("/posts", **body))["id"]}


def action(world: World) -> dict[str, str]:
    """Make an action of the owner, for the owner's team."""
    return {"action": made(world.as_("owner").post("/actions", **action_body()))["id"]}


def action_comment(world: World) -> dict[str, str]:
    """Make an action of the owner, with a comment of the owner."""
    names = action(world)
    posted = world.as_("owner").post(f"/actions/{names['action']}/comments", text="So it is")
    return {**names, "comment": made(posted)["id"]}


def hidden_action(world: World) -> dict[str, str]:
    """Make an action that a social moderator has hidden."""
    names = action(world)
    path = f"/actions/{names['action']}/hidden"
    made(world.as_("social_moderator").put(path, is_hidden=True))
    return names


def action_body() -> dict[str, Any]:
    """Return the body of an action that names nobody but things."""
    return {
        "scope": "team",
        "refs": [{"id": "thing:one", "type": "applicant", "name": "One"}],
        "descriptor": {
            "type": "new_applicant",
            "applicant_id": "thing:one",
            "applicant_name": "One",
            "position_id": "thing:two",
            "position_name": "Two",
            "tags": ["new"],
        },
    }


def circle_of_caller(world: World) -> dict[str, str]:
    """Give every caller a circle of this name with the peer's friend in it."""
    for caller in CALLERS:
        if caller != "anonymous":
            made(world.as_(caller).put("/users/me/circles/mine", name="Mine"))
    return {"circle": "mine"}


def stranger_followed(world: World) -> dict[str, str]:
    """Have every caller but the stranger follow the stranger, by a circle that no call removes."""
    for caller in CALLERS:
        if caller not in {"anonymous", "stranger"}:
            made(world.as_(caller).put("/users/me/circles/watched", name="Watched"))
            made(world.as_(caller).put("/users/me/circles/watched/members/stranger"))
    return {}


Maker = Callable[[World], Names]


def provider(world: World) -> Names:
    """Make a provider by which readers sign in at the own site."""
    made(world.as_("admin").put(f"/sites/{OWN_SITE}/providers/own", **PROVIDER))
    return {"provider": "own"}
