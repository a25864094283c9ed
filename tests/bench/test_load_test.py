import json
from functools import partial
from typing import Any

import pytest

from bench import load_test
from bench.calls import AppCalls
from bench.inventory import SITE
from bench.load_test import check, seed
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.runtime import Runtime
from chalicelib.social.timelines.references import NEWS_ITEMS
from tests.ads.support.events import ANN
from tests.support.clock import START
from tests.support.http_client import Client
from tests.support.workers import Workers

pytestmark = pytest.mark.processes

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small day, whose queues are drained before it is checked."""
    monkeypatch.setattr(load_test, "NODES", ("bench:page-0",))
    monkeypatch.setattr(load_test, "ZONES", {"small": 10})
    monkeypatch.setattr(load_test, "AUTHORS", ("author-0",))
    monkeypatch.setattr(load_test, "READERS", ("reader-0", "reader-1"))
    monkeypatch.setattr(load_test, "COMMENTS_EACH", 5)
    monkeypatch.setattr(load_test, "DRAIN_SECONDS", 0)


@pytest.fixture
def day(small: None, runtime: Runtime, client: Client, workers: Workers) -> dict[str, Any]:  # noqa: ARG001
    """A comment, an impression and a post, all acknowledged, and the queues empty."""
    seed(runtime)
    comment = AppCalls(runtime, "reader-0")(
        "POST", "/nodes/{node}/comments", {"node": "bench:page-0"}, body={"text": "So"}
    )
    body = {"type": "status", "detail": {"text": "So"}, "circles": ["*public*"]}
    post = AppCalls(runtime, "author-0")("POST", "/posts", {}, body=body)
    (ad,) = client.get(f"/ads/{SITE}/small?visitor={ANN}").json["ads"]
    seen = client.request("POST", ad["impression_url"], headers={"User-Agent": BROWSER})
    assert seen.status == 204
    workers.drain()
    return {
        "comments": [["bench:page-0", json.loads(comment)["id"]]],
        "posts": [["author-0", json.loads(post)["id"]]],
        "beacons": {"acknowledged": 1, "failed": 0},
    }


def lost(runtime: Runtime, day: dict[str, Any]) -> list[str]:
    checks = check(partial(AppCalls, runtime), day, START.date())
    return [each.what for each in checks if not each.is_whole]


def test_of_a_good_day_nothing_is_lost(runtime: Runtime, day: dict[str, Any]) -> None:
    assert lost(runtime, day) == []


def test_what_is_lost_is_named(runtime: Runtime, day: dict[str, Any]) -> None:
    runtime.database[COMMENTS.name].delete_one({"text": "So"})
    runtime.database[NEWS_ITEMS.name].delete_one({"user_id": "reader-1"})

    assert lost(runtime, day) == ["comments", "posts in followers' news"]


def test_a_comment_that_was_acknowledged_and_is_not_listed_is_lost(
    runtime: Runtime, day: dict[str, Any]
) -> None:
    runtime.database[COMMENTS.name].update_one({"text": "So"}, {"$set": {"state": "pending"}})

    assert lost(runtime, day) == ["comments"]


def test_an_impression_that_is_lost_or_counted_twice_is_named(
    runtime: Runtime, day: dict[str, Any]
) -> None:
    for acknowledged in (0, 2):
        day["beacons"]["acknowledged"] = acknowledged
        assert lost(runtime, day) == ["impressions counted"]


@pytest.mark.parametrize("counted", [1, 2])
def test_a_beacon_whose_answer_was_lost_may_count_or_not(
    runtime: Runtime, day: dict[str, Any], monkeypatch: pytest.MonkeyPatch, counted: int
) -> None:
    day["beacons"] = {"acknowledged": 1, "failed": 1}
    monkeypatch.setattr(load_test, "_impressions", lambda *_: counted)

    assert lost(runtime, day) == []


def test_a_day_on_which_every_call_failed_is_not_whole(
    runtime: Runtime, day: dict[str, Any]
) -> None:
    day |= {"comments": [], "posts": [], "beacons": {"acknowledged": 0, "failed": 9}}

    assert len(lost(runtime, day)) == 3


def test_a_comment_that_is_listed_twice_makes_up_for_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = {"comments": [{"id": "a"}, {"id": "a"}]}
    monkeypatch.setattr(load_test, "_pages", lambda *_: iter([page]))

    assert load_test._listed(AppCalls.__call__, [("n", "a"), ("n", "b")]) == 0  # type: ignore[arg-type]
