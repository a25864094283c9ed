"""One person put wherever Plaza can put one."""

from typing import Any

import orjson

from chalicelib.analytics.sessions import making
from chalicelib.comments import nodes, watches
from chalicelib.comments.people.links import CONFIRMATIONS, LIFETIME, Confirmation, token_hash
from chalicelib.comments.people.rows import PEOPLE, Person, new_person
from chalicelib.comments.spam_check import origins
from chalicelib.notifications import subscriptions
from tests.ads.support.factories import campaign_body
from tests.assets.support.uploading import Uploader
from tests.push.support.browser import BrowserStandIn
from tests.security.support.callers import OWN_ADVERTISER, OWN_SITE
from tests.security.support.matrix import FEATURES
from tests.security.support.row import Row
from tests.security.support.world import ADDRESS, PICTURE, World, made, stock
from tests.security.support.world import comment as a_comment
from tests.support.http_client import Client

ZED, NAME, RENAMED = "zed-4711", "Zedekiah Quux", "Zedekiah Quuxley"
_ENDPOINT = "https://fcm.googleapis.com/fcm/send/zed"
ROLES = [
    *("moderator", "social_moderator", "publisher", "editor", "advertiser", "application"),
    "admin",
]
STORES = ("documents", "embedded", "buckets")


def zed_of(client: Client) -> Client:
    """Return the person's client, with every right."""
    return client.as_(ZED, name=NAME, roles=ROLES, advertiser=OWN_ADVERTISER)


def do_everything(world: World, zed: Client) -> None:
    """Make each call of the access matrix that writes, as the person and with every right."""
    writes = [row for rows in FEATURES.values() for row in rows if not row.call.startswith("GET")]
    for row in writes:
        if row.call != "DELETE /users/me":
            reply = call(world, zed, row)
            assert reply.status < 500, (row, reply.body)


def call(world: World, zed: Client, row: Row) -> Any:
    names = {**world.names, **(row.made(world) if row.made else {}), **row.path}
    method, path = row.call.split(" ", 1)
    kind = "application/octet-stream" if row.data else "application/json"
    headers = {"Idempotency-Key": world.fresh(), "Content-Type": kind}
    if row.version is not None:
        headers["If-Match"] = f'"{row.version}"'
    body = orjson.dumps(row.body) if row.body is not None else row.data
    return zed.request(method, path.format(**names) + row.query, body=body, headers=headers)


def comment_everywhere(world: World, zed: Client) -> list[str]:
    """Have the person and Ann talk in every store, wait for a moderator, and be moved."""
    admin, ann = world.as_("admin"), world.as_("owner")
    pages = []
    for store in STORES:
        for moderation in ("after", "before"):
            page = f"{OWN_SITE}:{store}-{moderation}"
            settings = {"store": store, "moderation": moderation, "url": "https://alpha.example/"}
            made(admin.put(f"/nodes/{page}", title="Page", **settings))
            parent = made(zed.post(f"/nodes/{page}/comments", text="By me"))["id"]
            reply = {} if store == "buckets" or moderation == "before" else {"parent": parent}
            # Who waits for a moderator takes no part yet, and nobody can mention them.
            name = f", @{NAME}" if moderation == "after" else ""
            named = {"text": f"Not by them{name}", "mentions": [ZED]}
            answer = made(ann.post(f"/nodes/{page}/comments", **named, **reply))["id"]
            back = {"parent": answer} if reply else {}
            made(zed.post(f"/nodes/{page}/comments", text="By me again", **back))
            pages.append(page)
    moved = f"{OWN_SITE}:moved"
    made(admin.put(f"/nodes/{moved}", title="Page", url="https://alpha.example/", threaded=False))
    made(zed.post(f"/nodes/{moved}/comments", text="By me"))
    for store in ("embedded", "buckets"):
        made(admin.post(f"/nodes/{moved}/store", store=store))
    return pages


def block_as_before(world: World) -> None:
    """Have a reader block the person at a site, as release 0.3.0 stored it."""
    reader: Person = {**new_person(OWN_SITE, "former", "Former"), "blocked": [ZED]}
    PEOPLE.of(world.runtime.database).insert_one(reader)


def have_a_past(world: World) -> None:
    """Have the person be a guest of before, whose past is theirs."""
    past: Person = {
        **new_person(OWN_SITE, f"g_{'z' * 22}", NAME),
        "joined": ZED,
        "joined_at": world.runtime.now(),
    }
    PEOPLE.of(world.runtime.database).insert_one(past)


def be_known(world: World, zed: Client) -> None:
    """Have others name the person wherever somebody can be named."""
    admin, ann, peer = (world.as_(who) for who in ("admin", "owner", "peer"))
    made(zed.put("/users/me", name=RENAMED, profile={"location": "Here"}))
    made(zed.put("/users/me", name=NAME))
    made(ann.put(f"/users/me/circles/club/members/{ZED}"))
    made(peer.put(f"/users/me/blocked/{ZED}"))
    made(peer.put(f"/users/me/muted/{ZED}"))
    made(peer.put(f"/sites/{OWN_SITE}/blocked/{ZED}"))
    block_as_before(world)
    have_a_past(world)
    subscriptions.register(world.runtime, ZED, BrowserStandIn(_ENDPOINT).browser, "en", "UTC")
    made(zed.put("/users/me/circles/mine", name="Mine"))
    made(zed.put("/users/me/circles/mine/members/ann"))
    made(zed.put("/users/ann/watch", level="watching"))
    made(ann.put(f"/users/{ZED}/watch", level="watching"))
    made(zed.put("/users/me/blocked/stranger"))
    for folder in (f"/content/{OWN_SITE}", "/users/me"):
        Uploader(zed, folder).upload(PICTURE, "image/png", name="Of theirs")
        made(Uploader(zed, folder).begin(PICTURE, "image/png", name="Begun by them"))
    place = {"team": "red", "department": "colours"}
    made(admin.put(f"/users/{ZED}/org", **place))
    made(admin.put("/users/ann/org", manager_id=ZED, assigned_ref_ids=[ZED], **place))
    buy(world, zed)
    status = {"type": "status", "detail": {"text": "Hello"}}
    for circles in (["*public*"], ["mine"]):
        made(zed.post("/posts", circles=circles, **status))
    made(ann.post("/posts", circles=["club"], audience="at_post", wall_owner_id=ZED, **status))
    public = made(ann.post("/posts", circles=["*public*"], **status))["id"]
    made(zed.post(f"/posts/{public}/comments", text="By me"))
    detail = {"question": "Is it?", "options": ["Yes", "No"]}
    poll = made(ann.post("/posts", circles=["*public*"], type="poll", detail=detail))["id"]
    made(zed.put(f"/posts/{poll}/vote", option="Yes"))
    made(zed.put(f"/posts/{poll}/reactions/like"))
    rated = {
        "type": "application_rating",
        "applicant_id": "thing:one",
        "applicant_name": "One",
        "position_id": "thing:two",
        "position_name": "Two",
        "rater_id": ZED,
        "rater_name": NAME,
        "rating_score": 4,
    }
    ref = {"id": ZED, "type": "user", "name": NAME}
    told = {"scope": "restricted", "audience": [ZED, "ann"], "refs": [ref], "descriptor": rated}
    action = made(world.as_("application").post("/actions", **told))["id"]
    made(zed.post("/actions", scope="team", descriptor=rated))
    made(zed.post(f"/actions/{action}/comments", text="By me"))
    made(zed.put(f"/actions/{action}/reaction", kind="like"))
    made(admin.patch(f"/sites/{OWN_SITE}/people/{ZED}", note="Asked to be kind", reason="Rude"))
    later = {"since": "2099-01-01T00:00:00Z", "state": "hidden"}
    made(admin.post("/moderation/batches", site=OWN_SITE, person=ZED, **later))
    react_to_comments(world, zed)
    read_everywhere(world, zed)
    hook = {"url": "https://hooks.example/", "kinds": ["order.shipped"]}
    made(zed.post(f"/sites/{OWN_SITE}/webhooks", **hook))
    body = campaign_body(f"{OWN_SITE}/banner")
    made(zed.put(f"/campaigns/{OWN_ADVERTISER}:of-zed", **body))


def react_to_comments(world: World, zed: Client) -> None:
    """Have the person react to a page, and flag a comment."""
    flagged = a_comment(world)["comment"]
    node = world.names["node"]
    made(zed.put(f"/nodes/{node}/comments/{flagged}/flag", reason="other", note=f"Says {NAME}"))
    found = nodes.find(world.runtime.database, node)
    watches.put(world.runtime, found, watches.WHOLE, ZED, "watching")
    comment: Any = {"id": flagged, "author": {"id": ZED, "name": NAME}}
    origins.note(world.runtime, found, comment, origins.Sender("192.0.2.7", "A browser"))
    link: Confirmation = {
        "_id": token_hash("A" * 43),
        "site": OWN_SITE,
        "person": ZED,
        "name": NAME,
        "email_key": "k" * 43,
        "return_to": "https://alpha.example/",
        "language": "en",
        "expires": world.runtime.now() + LIFETIME,
    }
    CONFIRMATIONS.of(world.runtime.database).insert_one(link)
    node = f"/nodes/{world.names['node']}"
    made(zed.put(f"{node}/reactions/{world.names['key']}"))


def read_everywhere(world: World, zed: Client) -> None:
    """Have the person read pages of sites whose logs keep users, this morning."""
    for log in ("expiring", "rotating", "capped"):
        settings = {"log": log, "user_reports": True}
        made(world.as_("admin").put(f"/sites/{log}/analytics", **settings))
        hits = [{"path": f"/{number}", "ago_ms": 18_000_000} for number in range(2)]
        made(zed.post("/hits", site=log, hits=hits))
    world.workers.drain()
    making.make_due(world.runtime)


def buy(world: World, zed: Client) -> None:
    """Have the person buy something, to be sent to them."""
    sku = stock(world)["sku"]
    cart = made(zed.post("/carts", site=OWN_SITE))["id"]
    made(zed.put(f"/carts/{cart}/lines/{sku}", qty=1))
    body = {
        "total_micros": 5_000_000,
        "email": f"{ZED}@example.org",
        "address": {**ADDRESS, "name": NAME},
    }
    headers = {"Idempotency-Key": world.fresh(), "Content-Type": "application/json"}
    path = f"/carts/{cart}/checkout"
    made(zed.request("POST", path, body=orjson.dumps(body), headers=headers))
