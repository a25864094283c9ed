"""A person is put wherever Plaza can put one, erased, and looked for in all that is stored."""

import pydoc
import re
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.comments import jobs as comments_jobs
from chalicelib.comments.stores import store_of
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.messages import JOB
from chalicelib.social.timelines import propagation
from chalicelib.wiring import schema
from tests.security.support.life import (
    NAME,
    RENAMED,
    ZED,
    be_known,
    comment_everywhere,
    do_everything,
    zed_of,
)
from tests.security.support.world import World, build, made
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

TRACES = re.compile(rf"{ZED}|{NAME}", re.IGNORECASE)

# Where no write puts a person. All others have one before the erasure, or this sees too little.
NOBODY_THERE = {
    "advertisers, sites and campaigns are no persons, nor are anonymous visitors": {
        each.name for each in schema.COLLECTIONS if each.name.startswith("ad.")
    },
    "a shop's settings and its catalogue": {
        *("shop.site", "shop.product", "shop.sku", "shop.tree", "shop.category", "shop.errand"),
    },
    "stocks and payments, which name carts and orders": {
        *("shop.stock", "shop.hold", "shop.movement", "shop.payment", "shop.fake_payment"),
        "shop.reconciliation",
    },
    "what a publisher says of a site; addresses of pages": {
        *("content.site", "content.address", "content.rendered", "content.tag", "content.term"),
        *("site.issuers", "comments.site"),
        *("comments.search", "comments.discussed"),
    },
    "what sites have of hits without a user; visitors are of a day, and anonymous": {
        *("hit.site", "hit.salt", "hit.series", "hit.seen", "hit.day", "hit.source", "hit.names"),
        *("hit.visitor", "hit.due", "hit.vote", "hit.late"),
    },
    "people of other systems, whose ids no account has; the rows go when the import ends": {
        *("comments.import", "comments.staged", "comments.staged_thread", "comments.transfer"),
    },
    "its ids are digests under a secret, and expire": {"limit", "idempotency", "comments.seen"},
    "letters go to addresses and not to people, and forget them (tests/mail)": {
        *("mail.letter", "mail.refusal"),
    },
    "events of webhooks name comments, and no person (tests/webhooks)": {
        *("webhooks.hook", "webhooks.delivery", "webhooks.told"),
    },
    "what the application keeps, under its own ids": {"feed.ref"},
    "blobs by their ids, under which assets and uploads name them": {
        "asset.files",
        "asset.chunks",
        "content.waste",
    },
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
    return zed_of(client)


def stored(world: World) -> Iterator[tuple[str, Any]]:
    database = world.runtime.database
    for name in sorted(database.list_collection_names()):
        for document in database[name].find():
            yield name, document


def naming(world: World) -> list[tuple[str, Any]]:
    """Return every document of the database that has the person's id or name anywhere."""
    return [each for each in stored(world) if TRACES.search(str(each[1]))]


def let_all_end(world: World, clock: Clock) -> None:
    """Handle every message, and let every sweep find the work that is due 20 minutes later."""
    for _ in range(3):
        world.workers.drain()
        clock.time += outbox.OUTLIVES_ALL
        outbox.sweep(world.runtime, JOB)
        propagation.sweep(world.runtime)
        comments_jobs.run_due(world.runtime)
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
    assert made(zed.get("/users/me/erasure"))["remaining"] == 0
    assert naming(world) == []
    for page in pages:
        shown = made(world.as_("admin").get(f"/nodes/{page}/comments"))["comments"]
        words = "Not by them, @\u2026" if page.endswith("-after") else "Not by them"
        assert [each["text"] for each in shown if each["text"]] == [words]


def test_who_was_erased_begins_anew_with_the_same_token(
    world: World, zed: Client, clock: Clock
) -> None:
    comment_everywhere(world, zed)
    be_known(world, zed)
    made(zed.delete("/users/me"))
    world.workers.drain()
    assert made(zed.get("/users/me/erasure"))["remaining"] == 0
    clock.advance(milliseconds=1)

    made(zed.put("/users/me", name="Somebody new"))
    comment = made(zed.post(f"/nodes/{world.names['node']}/comments", text="Back"))
    circles = {"circles": ["*public*"], "type": "status", "detail": {"text": "Back"}}
    post = made(zed.post("/posts", **circles))
    let_all_end(world, clock)

    assert made(zed.get("/users/me"))["name"] == "Somebody new"
    assert made(zed.get(f"/posts/{post['id']}"))["author"]["id"] == ZED
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

    assert made(zed.get("/users/me/erasure"))["remaining"] == 0
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

    monkeypatch.setattr("chalicelib.comments.writing.post.store_of", erased_meanwhile)
    made(zed.post(f"/nodes/{world.names['node']}/comments", text="By me"))
    assert made(zed.get("/users/me/erasure"))["remaining"] == 1

    let_all_end(world, clock)

    assert naming(world) == []


RATED = {
    "type": "application_rating",
    "applicant_id": "thing:one",
    "applicant_name": "One",
    "position_id": "thing:two",
    "position_name": "Two",
    "rater_id": ZED,
    "rater_name": NAME,
    "rating_score": 4,
}


@pytest.mark.parametrize(
    "slow",
    [
        ("actions.state.new", "post", "/actions", {"scope": "team", "descriptor": RATED}),
        ("events._store", "post", "/actions/{action}/comments", {"text": "By me"}),
        ("reactions._store", "put", "/actions/{action}/reaction", {"kind": "like"}),
    ],
)
def test_what_a_slow_request_does_in_the_activity_feed_is_erased_as_well(
    world: World, zed: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch, slow: Any
) -> None:
    held_at, method, path, body = slow
    place = {"team": "red", "department": "colours"}
    made(world.as_("admin").put(f"/users/{ZED}/org", **place))
    where = f"chalicelib.social.activity.actions.{held_at}"
    begin: Any = pydoc.locate(where)
    begun: list[int] = []

    def erased_meanwhile(*arguments: Any) -> Any:
        if not begun:
            begun.append(1)
            made(zed.delete("/users/me"))
            world.workers.drain()
        return begin(*arguments)

    monkeypatch.setattr(where, erased_meanwhile)
    made(getattr(zed, method)(path.format(**world.names), **body))
    assert begun
    assert made(zed.get("/users/me/erasure"))["remaining"] >= 1

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
        "comments.entry",
        "comments.pending",
        "social.user",
    }


def test_texts_of_others_are_gone_or_named_with_the_reason(
    world: World, zed: Client, clock: Clock
) -> None:
    admin, ann, site = world.as_("admin"), world.as_("owner"), world.names["site"]
    comments = f"/nodes/{world.names['node']}/comments"
    posted = made(zed.post(comments, text="Here I am"))["id"]
    other = made(ann.post(comments, text="Me too"))["id"]
    about = f"again {NAME}"
    # About the person: these go with them.
    made(ann.put(f"{comments}/{posted}/flag", reason="abuse", note=about))
    made(admin.patch(f"/sites/{site}/people/{ZED}", note=about, reason=about))
    made(admin.post(f"{comments}/{posted}/state", state="pending", reason=about))
    # About others: nothing connects these to the person.
    made(world.as_("peer").put(f"{comments}/{other}/flag", reason="abuse", note=about))
    made(admin.patch(f"/sites/{site}/people/ann", note=about, reason=about))
    hit = {"site": site, "hits": [{"path": f"/people/{ZED}"}]}
    made(world.client.post("/hits", **hit))
    world.workers.drain()

    kept = made(zed.delete("/users/me"), 202)["kept"]
    let_all_end(world, clock)

    proof = made(zed.get("/users/me/erasure"))
    assert (proof["remaining"], proof["kept"]) == (0, kept)
    left = {name.partition(".")[0] if "hit." in name else name for name, _ in naming(world)}
    assert left == {"mark", "comments.person", "comments.log", "hit"}
    places = " ".join(each["where"] for each in kept)
    for word in ("moderators about other people", "reports of other", "paths of pages"):
        assert word in places
    assert all(each["reason"] for each in kept)
    flags = made(admin.get(f"{comments}/{other}/flags"))["flags"]
    assert [each["note"] for each in flags] == [about]
    (gone,) = [doc for name, doc in stored(world) if name == "mark" and posted in doc["_id"]]
    assert gone["flag"]["note"] == ""
