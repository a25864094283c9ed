"""A person reads what is stored of them: all that an erasure deletes, and no texts of others."""

import dataclasses
from collections import Counter
from typing import Any

import orjson
import pytest

from app import create_app
from chalicelib.http.responses import as_json
from chalicelib.people.jobs import traces_of
from chalicelib.runtime import Runtime
from chalicelib.wiring.people import PEOPLE
from tests.security.support.life import ZED, be_known, comment_everywhere, do_everything, zed_of
from tests.security.support.world import World, build, made
from tests.support.http_client import Client
from tests.support.workers import Workers

# One whose ends are each in a document of their own is shown by one of them.
NOT_SHOWN = {
    *(
        "blocked by",
        "watched by",
        "blocked",
        "muted by",
        "comment entries",
        "blocked at sites",
        "blocks by others",
    ),
    *("claimed comments", "pending comments", "mentions in comments", "notifications of others"),
    *("acts on somebody", "batches on somebody", "asset_library", "words of comments"),
    *(f"sessions by {level}" for level in ("hour", "day", "week", "month", "year")),
}
# What no test of this file plants; see tests/social/personal_data and decision 0076.
UNPLANTED = {"social.news", "older post comments", "members", "followers"}


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


@pytest.fixture
def zed(client: Client) -> Client:
    return zed_of(client)


def exported(zed: Client, limit: int = 200) -> list[dict[str, Any]]:
    """Return every entry of all pages."""
    found: list[dict[str, Any]] = []
    path, more = f"/users/me/export?limit={limit}", ""
    while True:
        page = made(zed.get(path + more))
        assert len(page["entries"]) <= limit
        found += page["entries"]
        assert len(found) < 500, "pages repeat"
        if page["next"] is None:
            return found
        assert page["entries"]
        more = f"&cursor={page['next']}"


def live(world: World, zed: Client) -> None:
    do_everything(world, zed)
    comment_everywhere(world, zed)
    be_known(world, zed)
    world.workers.drain()


def test_all_that_an_erasure_would_delete_is_shown(world: World, zed: Client) -> None:
    live(world, zed)
    expected: list[dict[str, Any]] = []
    unplanted = set()
    for trace in traces_of(world.runtime.database, PEOPLE, ZED):
        documents = list(trace.rows.find(trace.where))
        assert bool(trace.not_shown) == (trace.name in NOT_SHOWN)
        if not documents:
            unplanted.add(trace.name)
        for document in documents:
            entries = list(trace.show(document))
            assert bool(entries) != bool(trace.not_shown), (trace.name, document)
            expected += orjson.loads(as_json(entries))
    assert unplanted - {"renaming", "refill", "social jobs"} <= UNPLANTED

    found = exported(zed)

    shown = Counter(each["kind"] for each in found)
    assert shown == Counter(each["kind"] for each in expected)
    assert Counter(map(orjson.dumps, found)) == Counter(map(orjson.dumps, expected))


def test_an_export_has_the_persons_texts_and_none_of_others(world: World, zed: Client) -> None:
    live(world, zed)

    text = orjson.dumps(exported(zed)).decode()

    for own in ("By me", "By me again", "Hello", "Here", "Mine"):
        assert f'"{own}"' in text
    assert "Not by them" not in text


def test_small_pages_have_what_one_large_page_has(world: World, zed: Client) -> None:
    comment_everywhere(world, zed)
    be_known(world, zed)
    world.workers.drain()
    whole = [each for each in exported(zed) if each["kind"] != "user"]
    assert len(whole) > 20

    for limit in (1, 7):
        assert [each for each in exported(zed, limit) if each["kind"] != "user"] == whole


def test_nothing_is_left_to_export_after_an_erasure(world: World, zed: Client) -> None:
    comment_everywhere(world, zed)
    be_known(world, zed)
    made(zed.delete("/users/me"))
    world.workers.drain()

    assert exported(zed) == []


def test_an_export_is_the_callers_own(world: World, zed: Client) -> None:
    be_known(world, zed)
    first = made(zed.get("/users/me/export?limit=1"))

    refused = world.as_("admin").get(f"/users/me/export?limit=1&cursor={first['next']}")

    assert refused.code == "invalid_cursor"
    assert zed_of(world.client).get("/users/me/export?cursor=x").code == "invalid_cursor"


def test_exports_have_a_limit_of_their_own(runtime: Runtime, token: Any) -> None:
    limited = runtime.settings.model_copy(update={"limits": 1.0})
    ann = Client(create_app(dataclasses.replace(runtime, settings=limited)), token).as_("ann")

    answers = [ann.get("/users/me/export?limit=1").status for _ in range(61)]

    assert answers == [200] * 60 + [429]
