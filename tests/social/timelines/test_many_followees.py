"""The feed of somebody with thousands of ties: as complete as promised, and bounded."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from chalicelib import bounds
from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.social.graph import users
from chalicelib.social.graph.stores.edges import edge_filter
from chalicelib.social.timelines import copies as month_copies
from chalicelib.social.timelines import references, repair
from tests.social.support.designs import Design
from tests.social.support.drivers import circle, ids, publish
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

FOLLOWED = [f"author-{number:04}" for number in range(2_000)]
POSTS_EACH = 3
PAGE = 50


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a page asks of the database."""

    commands: int
    documents: int
    keys: int


# Stored news read the items and posts of a page, and nothing for each of the followed.
BOUNDS = {
    "references": Cost(commands=5, documents=4 * PAGE, keys=4 * PAGE),
    # Two months where one ends within the page, and the posts' own counts.
    "copies": Cost(commands=7, documents=3 * PAGE, keys=3 * PAGE),
    # Ten queries of two hundred authors each, whose streams are merged.
    "pull": Cost(commands=15, documents=12 * PAGE, keys=4_000 + 20 * PAGE),
}

KEPT = bounds.BOUNDS.social.news_kept


@pytest.fixture(params=["references", "copies", "pull"])
def design(request: pytest.FixtureRequest) -> Design:
    return Design("copies", request.param)


@pytest.fixture
def settings(settings: Settings, design: Design) -> Settings:
    return design.of(settings)


@pytest.fixture
def posts(client: Client, runtime: Runtime, clock: Clock, workers: Workers) -> list[Document]:
    """Bob follows them all, and everything that they have posted in a year is delivered."""
    people = runtime.database[users.USERS.name]
    follower = {"bob": {"name": "Bob", "circles": ["read"]}}
    authors = []
    for name in FOLLOWED:
        author = users._defaults(Principal(name, name), runtime.now())
        author["counts"]["followers"] = 1
        authors.append({"_id": name, **author, "followers": follower})
    bob = users._defaults(Principal("bob", "Bob"), runtime.now())
    bob["circles"] = {"read": {"name": "Read", "members": {}}}
    bob["counts"] |= {"following": len(FOLLOWED), "memberships": len(FOLLOWED), "circles": 1}
    people.insert_many([*authors, {"_id": "bob", **bob, "graph_store": "edges"}])
    names = {"owner": "Bob", "member": "Author"}
    same = {"circles": ["read"], "names": names, "since": runtime.now()}
    runtime.database["social.edge"].insert_many(
        [{**edge_filter("bob", name), **same} for name in FOLLOWED]
    )
    return deliver_a_year(client, runtime, clock, workers)


def deliver_a_year(
    client: Client, runtime: Runtime, clock: Clock, workers: Workers
) -> list[Document]:
    """Store the posts and what their fan-out leaves, oldest first."""
    pattern = runtime.database["social.post"].find_one({"_id": publish(client, FOLLOWED[0])})
    workers.drain()
    assert pattern is not None
    for name in ("social.post", "social.news_item", "social.news"):
        runtime.database[name].delete_many({})
    pattern["fan_out"] |= {"state": "done"}
    step = timedelta(days=365) / (len(FOLLOWED) * POSTS_EACH)
    made = []
    for number in range(len(FOLLOWED) * POSTS_EACH):
        author = FOLLOWED[number % len(FOLLOWED)]
        by = {"id": author, "name": author}
        own = {"_id": f"post-{number:05}", "by": by, "wall": author, "ts": clock()}
        made.append({**pattern, **own})
        clock.advance(seconds=step.total_seconds())
    runtime.database["social.post"].insert_many(made)
    runtime.database[users.USERS.name].update_one({"_id": "bob"}, {"$set": {"last_seen": clock()}})
    if runtime.settings.news == "references":
        items: list[Any] = [
            item for post in made for item in references.items_of(typed(post), ["bob"])
        ]
        runtime.database["social.news_item"].insert_many(items)
    if runtime.settings.news == "copies":
        runtime.database["social.news"].insert_many(month_documents(made))
    return made


def typed(post: Document) -> Any:
    """Return a post as functions take it that know its fields."""
    return post


def month_documents(made: list[Document]) -> Iterator[Document]:
    by_month: dict[str, list[Document]] = {}
    for post in made:
        copy = month_copies._push(typed(post))["$push"]["posts"]
        by_month.setdefault(month_copies.month_of(post["ts"]), []).append(copy)
    for month, copies in by_month.items():
        for seq, start in enumerate(range(0, len(copies), 100)):
            some = copies[start : start + 100]
            key = {"user_id": "bob", "month": month, "seq": seq}
            yield {**key, "posts": some, "appended": len(some)}


@contextmanager
def profiled(runtime: Runtime) -> Iterator[list[Document]]:
    """Yield a list that has, at the end, what the server says of each command."""
    said: list[Document] = []
    # The server's own would hold a megabyte; some of these commands name two hundred authors.
    runtime.database.create_collection("system.profile", capped=True, size=32 * 1024 * 1024)
    runtime.database.command("profile", 2)
    try:
        yield said
    finally:
        runtime.database.command("profile", 0)
        said += runtime.database["system.profile"].find()
        runtime.database["system.profile"].drop()


def cost(said: list[Document]) -> Cost:
    reads = [each for each in said if each["op"] in {"query", "command", "getmore"}]
    return Cost(
        len(reads),
        sum(each.get("docsExamined", 0) for each in reads),
        sum(each.get("keysExamined", 0) for each in reads),
    )


def test_each_page_costs_no_more_than_the_first_and_the_newest_thousand_are_there(
    client: Client, runtime: Runtime, posts: list[Document]
) -> None:
    bob, bound = client.as_("bob"), BOUNDS[runtime.settings.news]
    read: list[Any] = []
    cursor = ""
    while len(read) < repair.COMPLETE:
        with profiled(runtime) as said:
            page = bob.get(f"/users/me/news?limit={PAGE}{cursor}").json
        read += [post["id"] for post in page["posts"]]
        cursor = f"&cursor={page['next']}"
        spent = cost(said)
        assert spent.commands <= bound.commands
        assert spent.documents <= bound.documents
        assert spent.keys <= bound.keys

    assert read == [post["_id"] for post in reversed(posts)][: repair.COMPLETE]


def test_a_page_of_200_takes_as_many_commands_as_a_page_of_50(
    client: Client, runtime: Runtime, posts: list[Document]
) -> None:
    with profiled(runtime) as said:
        read = ids(client.as_("bob").get("/users/me/news?limit=200"))

    assert read == [post["_id"] for post in reversed(posts)][:200]
    assert cost(said).commands <= BOUNDS[runtime.settings.news].commands


def test_what_is_kept_for_a_reader_is_bounded(
    client: Client, runtime: Runtime, posts: list[Document], workers: Workers, clock: Clock
) -> None:
    database = runtime.database
    clock.advance(days=1)
    assert client.as_("bob").get("/users/me/news?limit=1").status == 200
    workers.drain()

    items = database["social.news_item"].count_documents({"user_id": "bob"})
    months = list(database["social.news"].find({"user_id": "bob"}))
    copies = sum(len(each["posts"]) for each in months)
    # Copies are dropped by the month.
    of_a_month = len(posts) / 11
    assert items + copies <= KEPT + of_a_month
    kept = {"references": items, "copies": copies}.get(runtime.settings.news, KEPT)
    assert kept >= KEPT
    assert all(len(each["posts"]) <= month_copies.POSTS_PER_DOCUMENT for each in months)


@pytest.mark.usefixtures("posts")
def test_what_was_sent_to_somebody_is_found_without_asking_for_their_followers(
    client: Client, runtime: Runtime, workers: Workers
) -> None:
    """A page of incoming asks who of those above the line has the reader in a circle."""
    if runtime.settings.news == "pull":
        pytest.skip("pulled news ask every follower for posts: 0040 leaves them to small sites")
    names = {"owner": "Fan", "member": "Bob"}
    same = {"circles": ["read"], "names": names, "since": runtime.now()}
    fans = [{**edge_filter(f"fan-{number}", "bob"), **same} for number in range(2_000)]
    runtime.database["social.edge"].insert_many(fans)
    circle(client, "star", "club", "bob")
    sent = publish(client, "star", ["club"])
    workers.drain()
    for name in ("social.news", "social.news_item"):
        runtime.database[name].delete_many({})
    pulled = {"$set": {"fan_out.pull": True}}
    runtime.database["social.post"].update_one({"_id": sent}, pulled)
    runtime.database[users.USERS.name].update_one({"_id": "star"}, {"$set": {"pulled": True}})

    with profiled(runtime) as said:
        read = ids(client.as_("bob").get("/users/me/incoming"))

    assert read == [sent]
    assert cost(said).keys < PAGE
