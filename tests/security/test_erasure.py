"""A person is put wherever Plaza can put one, erased, and looked for in all that is stored."""

import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from chalicelib import schema
from chalicelib.comments import schedules as comments_upkeep
from chalicelib.comments.stores import store_of
from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.timelines import propagation
from tests.security.support.callers import OWN_ADVERTISER, OWN_SITE
from tests.security.support.matrix import FEATURES, Row
from tests.security.support.world import World, build, made
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

ZED, NAME, RENAMED = "zed-4711", "Zedekiah Quux", "Zedekiah Quuxley"
TRACES = re.compile(rf"{ZED}|{NAME}", re.IGNORECASE)
ROLES = ["moderator", "social_moderator", "publisher", "advertiser", "application", "admin"]
STORES = ("documents", "embedded", "buckets")

# Where no write puts a person. All others have one before the erasure, or this sees too little.
NOBODY_THERE = {
    "advertisers, sites and campaigns are no persons, nor are anonymous visitors": {
        each.name for each in schema.COLLECTIONS if each.name.startswith("ad.")
    },
    "its ids are digests under a secret, and expire": {"limit", "idempotency"},
    "what the application keeps, under its own ids": {"feed.ref"},
    "generations by node": {"comments.generation"},
    "another design than the one that is set": {"social.news"},
    "made by a promotion alone; see tests/social/personal_data/test_erasure.py": {"social.edge"},
    "older comments than two hundred; see tests/social/personal_data/test_erasure.py": {
        "social.post_comment"
    },
}


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


@pytest.fixture
def zed(client: Client) -> Client:
    claims = {"roles": ROLES, "advertiser": OWN_ADVERTISER}
    return client.as_(ZED, name=NAME, **claims)


def stored(world: World) -> Iterator[tuple[str, Any]]:
    database = world.runtime.database
    for name in sorted(database.list_collection_names()):
        for document in database[name].find():
            yield name, document


def naming(world: World) -> list[tuple[str, Any]]:
    """Return every document of the database that has the person's id or name anywhere."""
    return [each for each in stored(world) if TRACES.search(str(each[1]))]


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
    headers = {"Idempotency-Key": world.fresh(), "Content-Type": "application/json"}
    body = orjson.dumps(row.body) if row.body is not None else b""
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
            made(ann.post(f"/nodes/{page}/comments", text="Not by them", **reply))
            made(zed.post(f"/nodes/{page}/comments", text="By me again"))
            pages.append(page)
    moved = f"{OWN_SITE}:moved"
    made(admin.put(f"/nodes/{moved}", title="Page", url="https://alpha.example/", threaded=False))
    made(zed.post(f"/nodes/{moved}/comments", text="By me"))
    for store in ("embedded", "buckets"):
        made(admin.post(f"/nodes/{moved}/store", store=store))
    return pages


def be_known(world: World, zed: Client) -> None:
    """Have others name the person wherever somebody can be named."""
    admin, ann, peer = (world.as_(who) for who in ("admin", "owner", "peer"))
    made(zed.put("/users/me", name=RENAMED, profile={"location": "Here"}))
    made(zed.put("/users/me", name=NAME))
    made(ann.put(f"/users/me/circles/club/members/{ZED}"))
    made(peer.put(f"/users/me/blocked/{ZED}"))
    made(peer.put(f"/users/me/muted/{ZED}"))
    made(zed.put("/users/me/circles/mine", name="Mine"))
    made(zed.put("/users/me/circles/mine/members/ann"))
    made(zed.put("/users/me/blocked/stranger"))
    place = {"team": "red", "department": "colours"}
    made(admin.put(f"/users/{ZED}/org", **place))
    made(admin.put("/users/ann/org", manager=ZED, assigned=[ZED], **place))
    status = {"type": "status", "detail": {"text": "Hello"}}
    for circles in (["*public*"], ["mine"]):
        made(zed.post("/posts", circles=circles, **status))
    made(ann.post("/posts", circles=["club"], audience="at_post", wall=ZED, **status))
    public = made(ann.post("/posts", circles=["*public*"], **status))["id"]
    made(zed.post(f"/posts/{public}/comments", text="By me"))
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


def let_all_end(world: World, clock: Clock) -> None:
    """Handle every message, and let every sweep find the work that is due 20 minutes later."""
    for _ in range(3):
        world.workers.drain()
        clock.time += outbox.OUTLIVES_ALL
        outbox.sweep(world.runtime)
        propagation.sweep(world.runtime)
        comments_upkeep.run_due(world.runtime)
    world.workers.drain()


def test_nothing_that_is_stored_knows_who_was_erased(
    world: World, zed: Client, clock: Clock
) -> None:
    do_everything(world, zed)
    pages = comment_everywhere(world, zed)
    be_known(world, zed)
    world.workers.drain()
    planted = {name for name, _ in naming(world)}
    nowhere: set[str] = set().union(*NOBODY_THERE.values())
    assert {each.name for each in schema.COLLECTIONS} - planted - nowhere == set()

    began = made(zed.delete("/users/me"), 202)["remaining"]
    let_all_end(world, clock)

    assert began > 0
    assert made(zed.get("/users/me/erasure")) == {"remaining": 0}
    assert naming(world) == []
    for page in pages:
        shown = made(world.as_("admin").get(f"/nodes/{page}/comments"))["comments"]
        assert [each["text"] for each in shown if each["text"]] == ["Not by them"]


def test_who_was_erased_begins_anew_with_the_same_token(
    world: World, zed: Client, clock: Clock
) -> None:
    comment_everywhere(world, zed)
    be_known(world, zed)
    made(zed.delete("/users/me"))
    world.workers.drain()
    assert made(zed.get("/users/me/erasure")) == {"remaining": 0}
    clock.advance(milliseconds=1)

    made(zed.put("/users/me", name="Somebody new"))
    comment = made(zed.post(f"/nodes/{world.names['node']}/comments", text="Back"))
    circles = {"circles": ["*public*"], "type": "status", "detail": {"text": "Back"}}
    post = made(zed.post("/posts", **circles))
    let_all_end(world, clock)

    assert made(zed.get("/users/me"))["name"] == "Somebody new"
    assert made(zed.get(f"/posts/{post['id']}"))["by"]["id"] == ZED
    path = f"/nodes/{world.names['node']}/comments/{comment['id']}"
    assert made(zed.get(path))["author"]["id"] == ZED


@pytest.mark.bounds(comments={"erasure_step_comments": 4})
def test_a_person_who_only_ever_commented_is_erased(
    world: World, zed: Client, clock: Clock
) -> None:
    comment_everywhere(world, zed)
    assert zed.get("/users/me").status == 404

    assert made(zed.delete("/users/me"))["remaining"] > 0
    world.workers.drain()

    assert made(zed.get("/users/me/erasure")) == {"remaining": 0}
    let_all_end(world, clock)
    assert naming(world) == []


def test_what_a_slow_request_writes_after_the_erasure_is_erased_as_well(
    world: World, zed: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A post that has taken its number, and is stored when the erasure has ended."""
    number: list[int] = []

    def erased_meanwhile(*arguments: Any) -> Any:
        if not number:
            number.append(1)
            made(zed.delete("/users/me"))
            world.workers.drain()
        return store_of(*arguments)

    monkeypatch.setattr("chalicelib.comments.discussion.posting.store_of", erased_meanwhile)
    made(zed.post(f"/nodes/{world.names['node']}/comments", text="By me"))
    assert made(zed.get("/users/me/erasure"))["remaining"] == 1

    let_all_end(world, clock)

    assert naming(world) == []


def test_a_rename_reaches_comments_and_what_is_posted_meanwhile(
    world: World, zed: Client, clock: Clock
) -> None:
    comment_everywhere(world, zed)
    made(zed.put("/users/me", name=RENAMED))
    world.workers.drain()
    names = {name for name, document in stored(world) if f"'{NAME}'" in str(document)}
    assert names == set()

    # By a request that had read the token's former name.
    made(zed.post(f"/nodes/{world.names['node']}/comments", text="By me"))
    let_all_end(world, clock)

    assert [name for name, document in stored(world) if f"'{NAME}'" in str(document)] == []
    assert {name for name, document in stored(world) if RENAMED in str(document)} >= {
        "comments.comment",
        "comments.node",
        "comments.page",
        "comments.pending",
        "social.user",
    }
