"""Erasing a user in a deployment that has changed its design, or that fails on the way."""

import dataclasses
import random
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.assets.shapes import ASSETS
from chalicelib.jobs import outbox
from chalicelib.people import jobs
from chalicelib.people.jobs import Erase
from chalicelib.settings import Settings
from chalicelib.social import personal_data
from chalicelib.social.graph import blocks, memberships, promotion, users
from chalicelib.social.messages import JOB
from chalicelib.social.timelines import propagation, repair
from chalicelib.wiring import errands
from chalicelib.wiring.people import PEOPLE
from tests.social.support.designs import Design
from tests.social.support.drivers import (
    Courier,
    Town,
    circle,
    comment,
    follow,
    ids,
    news,
    publish,
    settle,
    wall,
)
from tests.social.support.graphs import assert_directions_agree, documents
from tests.social.support.interleaving import Meantime
from tests.support.http_client import Client
from tests.support.people import erase, remaining

FORMER = Design("copies", "copies")
LATER = [Design("posts", "references"), Design("posts", "pull"), Design("copies", "references")]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return FORMER.of(settings)


@dataclasses.dataclass(frozen=True)
class Later:
    """The same town after its deployment has changed the design."""

    town: Town
    courier: Courier

    def work(self) -> None:
        self.courier.deliver(self.town.runtime, random.Random(7))


def under(design: Design, town: Town) -> Later:
    settings, courier = design.of(town.runtime.settings), Courier()
    runtime = dataclasses.replace(town.runtime, settings=settings, queues=courier)
    client = Client(create_app(runtime, LocalChalice), town.client.token)
    return Later(dataclasses.replace(town, client=client, runtime=runtime), courier)


def let_bob_live(town: Town) -> str:
    """Have Bob do all that leaves a trace; return the post that has his comment."""
    follow(town.client, "bob", "ann")
    follow(town.client, "ann", "bob")
    circle(town.client, "ann", "club", "bob")
    publish(town.client, "bob")
    publish(town.client, "ann", ["club"], wall_owner_id="bob")
    post = publish(town.client, "ann")
    comment(town.client, "bob", post)
    town.client.as_("bob").put("/users/me", name="Bobby")
    town.workers.drain()
    return post


def naming_bob(town: Town) -> list[Any]:
    """Return the documents that name Bob anywhere."""
    everything = (
        (name, document)
        for name in town.runtime.database.list_collection_names()
        for document in town.runtime.database[name].find()
    )
    return [each for each in everything if "'bob'" in str(each) and not is_late(each[1])]


def is_late(document: Any) -> bool:
    """Return whether a document is the note of the erasure's second look, 20 minutes later."""
    return str(document["_id"]).startswith("erase-late:")


@pytest.mark.parametrize("design", LATER, ids=str)
def test_what_a_former_design_wrote_is_erased_and_counted(town: Town, design: Design) -> None:
    let_bob_live(town)
    kept = town.runtime.database
    written = kept["social.wall"].count_documents({"user_id": "bob"})
    written += kept["social.news"].count_documents({"user_id": "bob"})
    assert written == 2
    later = under(design, town)
    before = later.town.client.as_("bob").get("/users/me/erasure").json["remaining"]

    kept["social.news"].delete_one({"user_id": "bob"})
    counted = later.town.client.as_("bob").get("/users/me/erasure").json["remaining"]
    assert counted == before - 1

    # One more: the erasure that has begun.
    assert later.town.client.as_("bob").delete("/users/me").json["remaining"] == counted + 1
    later.work()

    assert later.town.client.as_("bob").get("/users/me/erasure").json["remaining"] == 0
    assert naming_bob(town) == []


def test_a_post_deleted_under_another_design_is_no_ghost_in_the_former(town: Town) -> None:
    follow(town.client, "bob", "ann")
    gone, edited = town.publish(), town.publish()
    town.workers.drain()
    later = under(Design("posts", "references"), town)

    later.town.client.as_("ann").delete(f"/posts/{gone}")
    later.town.client.as_("ann").patch(f"/posts/{edited}", detail={"text": "Better"})
    later.work()

    for path in ("/users/me/news", "/users/ann/wall"):
        (shown,) = town.client.as_("bob").get(path).json["posts"]
        assert (shown["id"], shown["detail"]) == (edited, {"text": "Better"})


@pytest.mark.bounds(social={"held_on_post": 2, "comments_moved_at_once": 1})
def test_copies_count_the_comments_that_are_left(town: Town) -> None:
    post = let_bob_live(town)
    for author in ("bob", "ann", "cy", "cy"):
        town.clock.advance(seconds=1)
        comment(town.client, author, post)
    town.workers.drain()

    town.client.as_("bob").delete("/users/me")
    town.workers.drain()

    (shown,) = town.client.as_("cy").get("/users/ann/wall").json["posts"]
    assert shown == town.client.as_("cy").get(f"/posts/{post}").json
    assert shown["comment_count"] == 3
    assert len(town.client.as_("cy").get(f"/posts/{post}/comments").json["comments"]) == 3


@pytest.mark.parametrize("step", [1, 2])
def test_an_erasure_that_was_cut_short_is_ended_by_the_sweep(
    town: Town, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step is a post that was just changed, and whose copies are not changed yet."""
    post = let_bob_live(town)
    town.client.as_("bob").delete("/users/me")
    spread, calls = propagation.propagate, []

    def dies(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == step:
            raise ConnectionError
        spread(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(propagation, "propagate", dies)
        town.workers.drain()
    assert len(calls) >= step
    town.let_lease_expire()
    outbox.sweep(town.runtime, JOB)
    propagation.sweep(town.runtime)
    town.workers.drain()

    assert naming_bob(town) == []
    assert news(town.client, "cy") == []
    assert post in wall(town.client, "ann", "cy")
    (shown,) = [p for p in town.client.get("/users/ann/wall").json["posts"] if p["id"] == post]
    assert (shown["comments"], shown["comment_count"]) == ([], 0)


def test_an_erasure_that_takes_long_goes_on_in_steps(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_bob_live(town)
    for follower in ("cy", "dan", "eve", "fay"):
        follow(town.client, follower, "bob")
    for reader in ("cy", "dan"):
        circle(town.client, "bob", f"with-{reader}", reader)
    for _ in range(3):
        publish(town.client, "bob")
    town.workers.drain()
    steps: list[Iterator[bool]] = []

    def time_for_two(_: float) -> Callable[[], bool]:
        steps.append(iter((True, True)))
        return lambda: next(steps[-1], False)

    monkeypatch.setattr(personal_data, "deadlines", SimpleNamespace(share=time_for_two))
    town.client.as_("bob").delete("/users/me")
    town.workers.drain()

    assert len(steps) > 4
    assert naming_bob(town) == []
    assert_directions_agree(town.runtime)


@pytest.mark.bounds(social={"audience_members": 2})
def test_an_audience_that_was_kept_forgets_its_first_and_last_member(town: Town) -> None:
    circle(town.client, "ann", "club", "bob", "cy", "dan", "eve", "fay")
    kept = [publish(town.client, "ann", ["club"], audience="at_post")]
    circle(town.client, "ann", "bobs", "bob")
    kept.append(publish(town.client, "ann", ["bobs"], audience="at_post"))
    town.workers.drain()

    for leaving in ("bob", "eve"):
        town.client.as_(leaving).delete("/users/me")
        town.workers.drain()

    stored = list(town.runtime.database["social.audience"].find().sort("first"))
    assert not [row for row in stored if "bob" in str(row) or "eve" in str(row)]
    assert [row["members"] for row in stored] == [["cy"], ["dan"], ["fay"]]
    for reader in ("cy", "dan", "fay"):
        assert news_to(town, reader) == kept[:1]


def news_to(town: Town, reader: str) -> list[str]:
    return ids(town.client.as_(reader).get("/users/me/incoming"))


@pytest.mark.parametrize("collection", ["social.post", "social.user"])
@pytest.mark.parametrize("promoted", [False, True])
def test_a_user_being_erased_is_in_no_circle_or_block_afterwards(
    watched: Town, meantime: Meantime, collection: str, *, promoted: bool
) -> None:
    circle(watched.client, "cy", "read", "dan")
    settle(watched.client, "bob", "eve")
    publish(watched.client, "bob")
    if promoted:
        promotion.promote(watched.runtime, "bob")
    watched.client.as_("bob").delete("/users/me")

    def meet() -> None:
        memberships.add_member(watched.runtime, "cy", "read", "bob")
        # A block is a change of the user's own document, which is then not deleted yet.
        if collection == "social.post":
            blocks.block(watched.runtime, "eve", "bob")

    meantime.before("delete", collection, meet)
    erase(watched.runtime, "bob")

    assert meantime.done()
    named = [each for each in documents(watched.runtime) if "bob" in str(each)]
    assert named == []
    assert_directions_agree(watched.runtime)


def test_a_picture_that_a_user_sets_during_their_erasure_is_released(
    watched: Town, meantime: Meantime
) -> None:
    runtime, version = watched.runtime, {"n": 1, "blob": "b", "store": "gridfs"}
    version |= {"type": "image/png", "length": 1, "sha256": "0" * 64, "at": runtime.now()}
    asset: Any = {"_id": "abcdefghijklmnop", "owner": "harbour", "name": "x", "current": 1}
    asset |= {"used_by": 0, "made": runtime.now(), "versions": [{**version, "by": None}]}
    ASSETS.of(runtime.database).insert_one(asset)
    settle(watched.client, "bob")

    def change_picture() -> None:
        users._change(runtime, "bob", {"profile": {"picture": "asset:abcdefghijklmnop"}})

    meantime.before("delete", "social.user", change_picture)
    erase(runtime, "bob")

    assert meantime.done()
    stored = ASSETS.of(runtime.database).find_one()
    assert stored is not None
    assert stored["used_by"] == 0


def test_an_erasure_that_leaves_something_is_done_again(watched: Town, meantime: Meantime) -> None:
    settle(watched.client, "bob")
    watched.client.as_("bob").delete("/users/me")
    posts = watched.runtime.database["social.post"]

    # A post that was under way to the wall of somebody who was still there.
    meantime.before(
        "delete",
        "social.user",
        lambda: publish(watched.client, "ann", ["*public*"], wall_owner_id="bob"),
    )
    watched.courier.take()
    errands.run(watched.runtime, Erase(user_id="bob"))
    assert meantime.done()
    assert posts.count_documents({"wall": "bob"}) == 1

    watched.let_lease_expire()
    outbox.sweep(watched.runtime, JOB)
    watched.courier.deliver(watched.runtime, random.Random(7))

    assert remaining(watched.runtime, "bob") == 0
    assert watched.runtime.database["social.errand"].count_documents({"errand.type": "erase"}) == 0


def deliver_to_bob(town: Town) -> None:
    publish(town.client, "ann")
    town.courier.deliver(town.runtime, random.Random(7))


def write_on_bobs_wall(town: Town) -> None:
    publish(town.client, "ann", wall_owner_id="bob")
    town.courier.deliver(town.runtime, random.Random(7))


def record_bob(town: Town) -> None:
    publish(town.client, "ann", ["club"], audience="at_post")


def back_fill_bob(town: Town) -> None:
    repair.back_fill(town.runtime, "bob", "ann")


@pytest.mark.parametrize(
    ("write", "collection"),
    [
        (deliver_to_bob, "social.news"),
        (write_on_bobs_wall, "social.wall"),
        (record_bob, "social.audience"),
        (back_fill_bob, "social.news"),
    ],
)
@pytest.mark.parametrize("returns", [False, True])
def test_what_is_written_for_a_user_while_they_are_erased_goes_later(
    watched: Town,
    meantime: Meantime,
    write: Callable[[Town], None],
    collection: str,
    *,
    returns: bool,
) -> None:
    circle(watched.client, "ann", "club", "bob")
    follow(watched.client, "bob", "ann")
    publish(watched.client, "ann")
    watched.courier.take()

    def leave() -> None:
        erase(watched.runtime, "bob")
        assert remaining(watched.runtime, "bob") == 0

    for command in ("insert", "update"):
        meantime.before(command, collection, leave)
    write(watched)
    meantime.forget()
    assert remaining(watched.runtime, "bob") == 1
    if returns:
        settle(watched.client, "bob")
    watched.clock.advance(seconds=outbox.OUTLIVES_ALL.total_seconds())
    outbox.sweep(watched.runtime, JOB)
    watched.courier.deliver(watched.runtime, random.Random(7))

    assert remaining(watched.runtime, "bob") == (1 if returns else 0)
    assert naming_bob(watched) == [] or returns


def test_who_returns_before_the_second_look_keeps_the_news_of_before(town: Town) -> None:
    follow(town.client, "bob", "ann")
    post = publish(town.client, "ann")
    town.workers.drain()
    erase(town.runtime, "bob")
    town.clock.advance(seconds=1)
    follow(town.client, "bob", "ann")
    own = publish(town.client, "bob")
    town.workers.drain()
    town.clock.advance(seconds=outbox.OUTLIVES_ALL.total_seconds())

    outbox.sweep(town.runtime, JOB)
    town.workers.drain()

    assert town.runtime.database["social.errand"].count_documents({}) == 0
    assert town.runtime.database["social.news"].count_documents({"posts.id": post}) == 1
    assert news(town.client, "bob") == [post]
    assert wall(town.client, "bob", "bob") == [own]


def test_what_is_left_of_a_user_is_counted_by_indexes(town: Town) -> None:
    let_bob_live(town)

    for trace in jobs.traces_of(town.runtime.database, PEOPLE, "bob"):
        plan = str(trace.rows.find(trace.where).explain()["queryPlanner"]["winningPlan"])
        assert "COLLSCAN" not in plan, trace
