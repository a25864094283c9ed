"""The last of a user's names is the one on every copy, whatever was under way when it changed."""

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.database import Document
from chalicelib.jobs import outbox
from chalicelib.settings import Settings
from chalicelib.social.graph import following, promotion
from chalicelib.social.graph.stores.edges import EdgeGraph
from chalicelib.social.messages import JOB
from chalicelib.wiring import schema
from tests.social.support.designs import Design
from tests.social.support.drivers import Town, circle, comment, publish
from tests.social.support.interleaving import Meantime
from tests.support.people import rename

CROWD = [f"reader-{number}" for number in range(4)]


@pytest.fixture
def settings(settings: Settings, design: Design) -> Settings:
    return design.of(settings)


def work(town: Town, seed: int = 7) -> None:
    town.courier.deliver(town.runtime, random.Random(seed), twice=True)


def let_all_end(town: Town) -> None:
    """Let time pass until every request that read a former name has ended."""
    work(town)
    town.clock.time += outbox.OUTLIVES_ALL
    outbox.sweep(town.runtime, JOB)
    work(town)


def populate(town: Town) -> str:
    """Have Ann known by readers, circled by some and commenting on one post; return it."""
    circle(town.client, "ann", "club", *CROWD)
    for reader in CROWD:
        circle(town.client, reader, "read", "ann")
    post = publish(town.client, "ann")
    comment(town.client, "ann", post)
    publish(town.client, CROWD[0])
    work(town)
    return post


def call(town: Town, name: str) -> None:
    assert town.client.as_("ann").put("/users/me", name=name).status == 200


EVERYWHERE = tuple(collection.name for collection in schema.COLLECTIONS)
GRAPH = ("social.user", "social.edge")


def names_of_ann(town: Town, collections: Iterable[str] = EVERYWHERE) -> set[str]:
    """Return every name that a document has for Ann."""
    found = set()
    for name in collections:
        for document in town.runtime.database[name].find():
            found |= {part["name"] for part in parts(document) if part.get("id") == "ann"}
            found |= {part["ann"]["name"] for part in parts(document) if "ann" in part}
            if name == "social.edge":
                pair, names = document["_id"], document["names"]
                found |= {names[side] for side, who in pair.items() if who == "ann"}
    return found


def parts(value: Any) -> Iterator[Document]:
    """Yield a document and all that are inside it."""
    if isinstance(value, dict):
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inside:
        yield from parts(each)


def a_post(town: Town, _post: str) -> None:
    publish(town.client, "ann")


def a_comment(town: Town, post: str) -> None:
    comment(town.client, "ann", post)


def a_follower(town: Town, _post: str) -> None:
    assert town.client.as_("dan").put("/users/me/circles/read/members/ann").status == 204


@pytest.mark.parametrize(
    ("write", "command", "collection"),
    [
        (a_post, "insert", "social.post"),
        (a_comment, "update", "social.post"),
        (a_follower, "update", "social.user"),
    ],
)
def test_what_had_read_the_former_name_gets_the_new_one(
    watched: Town,
    meantime: Meantime,
    write: Callable[[Town, str], None],
    command: str,
    collection: str,
) -> None:
    post = populate(watched)
    circle(watched.client, "dan", "read")

    def rename() -> None:
        call(watched, "Anna")
        work(watched)

    meantime.before(command, collection, rename)
    write(watched, post)
    let_all_end(watched)

    assert meantime.done()
    assert names_of_ann(watched) == {"Anna"}


@pytest.mark.parametrize(
    ("command", "collection"),
    [("update", "social.user"), ("find", "social.edge"), ("update", "social.post")],
)
def test_a_worker_that_was_overtaken_by_another_name_does_not_win(
    watched: Town, meantime: Meantime, command: str, collection: str
) -> None:
    populate(watched)
    call(watched, "Anna")

    def rename_again() -> None:
        call(watched, "Annabel")
        work(watched)

    meantime.before(command, collection, rename_again)
    rename(watched.runtime, "ann")
    let_all_end(watched)

    meantime.done()
    assert names_of_ann(watched) == {"Annabel"}


@pytest.mark.bounds(social={"posts_renamed_at_once": 1})
def test_a_worker_stops_when_the_name_is_another(watched: Town, meantime: Meantime) -> None:
    """Or two of them would undo each other's work for as long as they live."""
    for _ in range(3):
        publish(watched.client, "ann")
    call(watched, "Anna")

    meantime.before("update", "social.post", lambda: call(watched, "Annabel"))
    rename(watched.runtime, "ann")

    assert meantime.done()
    posts = watched.runtime.database["social.post"].find({"by.name": "Anna"})
    assert len(list(posts)) == 1


def test_a_worker_that_runs_out_of_time_has_not_worked_for_nothing(
    watched: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has time for two of eight ties."""
    monkeypatch.setattr(following, "_PAGE", 1)
    populate(watched)
    promotion.promote(watched.runtime, "ann")
    call(watched, "Anna")
    on_edges = EdgeGraph.rename
    done: list[Any] = []

    def in_time(*given: Any) -> None:
        if len(done) == 2:
            raise TimeoutError
        done.append(given)
        on_edges(*given)

    monkeypatch.setattr(EdgeGraph, "rename", in_time)
    for _ in range(4):
        done.clear()
        with contextlib.suppress(TimeoutError):
            rename(watched.runtime, "ann")

    assert names_of_ann(watched, GRAPH) == {"Anna"}


def test_a_promotion_while_a_name_changes_leaves_no_tie_behind(
    watched: Town, meantime: Meantime
) -> None:
    populate(watched)
    call(watched, "Anna")

    def promote_everyone() -> None:
        for user in ("ann", *CROWD):
            promotion.promote(watched.runtime, user)

    meantime.before("update", "social.user", promote_everyone)
    rename(watched.runtime, "ann")

    assert meantime.done()
    assert names_of_ann(watched, GRAPH) == {"Anna"}


def test_a_name_that_changed_is_forgotten_when_nobody_can_have_read_the_former(
    watched: Town,
) -> None:
    populate(watched)
    rows = watched.runtime.database["social.errand"]
    call(watched, "Anna")
    work(watched)
    assert rows.count_documents({}) == 1

    watched.clock.time += outbox.OUTLIVES_ALL / 2
    outbox.sweep(watched.runtime, JOB)
    work(watched)
    assert rows.count_documents({}) == 1

    let_all_end(watched)
    assert rows.count_documents({}) == 0


@pytest.mark.bounds(social={"posts_renamed_at_once": 3})
def test_many_names_at_once_while_everything_goes_on(watched: Town) -> None:
    post = populate(watched)
    ann = watched.client.as_("ann")

    def rename(number: int) -> None:
        for turn in range(5):
            call(watched, f"Ann {number}.{turn}")

    def write(_: int) -> None:
        for _turn in range(5):
            publish(watched.client, "ann")
            comment(watched.client, "ann", post)

    def circle_and_uncircle(_: int) -> None:
        for reader in CROWD:
            ann.delete(f"/users/me/circles/club/members/{reader}")
            ann.put(f"/users/me/circles/club/members/{reader}")

    def deliver(seed: int) -> None:
        for _turn in range(5):
            work(watched, seed)

    with ThreadPoolExecutor(6) as pool:
        tasks = (rename, rename, write, circle_and_uncircle, deliver, deliver)
        for done in [pool.submit(task, number) for number, task in enumerate(tasks)]:
            done.result()
    let_all_end(watched)

    assert names_of_ann(watched) == {watched.client.get("/users/ann").json["name"]}
