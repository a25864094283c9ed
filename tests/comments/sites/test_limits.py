"""A site says how often people post, vote and flag there."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.comments.sites import limits
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client

SETTINGS = "/sites/blog/comments/settings"
NODE = "/nodes/blog:moon"
PAGE = {"title": "Moon", "url": "https://blog.example/moon"}


@pytest.fixture
def limited(runtime: Runtime) -> Runtime:
    return dataclasses.replace(
        runtime, settings=runtime.settings.model_copy(update={"limits": 1.0})
    )


@pytest.fixture
def api(limited: Runtime, token: Callable[..., str]) -> Client:
    app: Any = create_app(limited, LocalChalice)
    client = Client(app, token)
    root = client.as_("root", roles=["admin"])
    assert root.put(NODE, **PAGE).status == 201
    return client


def put(api: Client, **settings: Any) -> None:
    root = api.as_("root", roles=["admin"])
    assert root.put(SETTINGS, **settings).status == 200


def posts(author: Client, number: int) -> list[int]:
    return [author.post(f"{NODE}/comments", text=str(each)).status for each in range(number)]


def test_newcomers_post_three_times_at_once(api: Client, clock: Clock) -> None:
    ann = api.as_("ann")

    assert posts(ann, 4) == [201, 201, 201, 429]
    refused = ann.post(f"{NODE}/comments", text="again")
    assert (refused.code, refused.headers["Retry-After"]) == ("too_fast", "60")
    clock.advance(seconds=60)
    assert posts(ann, 2) == [201, 429]


def test_a_site_says_how_often_people_post(api: Client, clock: Clock) -> None:
    limit = {"burst": 1, "every_seconds": 10}
    put(api, limits={"posts": [limit] * 3})
    ann = api.as_("ann")

    assert posts(ann, 2) == [201, 429]
    clock.advance(seconds=10)
    assert posts(ann, 2) == [201, 429]


def test_a_looser_limit_holds_for_people_who_posted_before(api: Client, clock: Clock) -> None:
    clock.advance(hours=1)
    put(api, limits={"posts": [{"burst": 5, "every_seconds": 86_400}] * 3})
    ann = api.as_("ann")
    assert posts(ann, 6) == [*[201] * 5, 429]
    put(api, limits={"posts": [{"burst": 3, "every_seconds": 60}] * 3})
    clock.advance(seconds=6)

    refused = ann.post(f"{NODE}/comments", text="again")
    assert (refused.code, refused.headers["Retry-After"]) == ("too_fast", "60")
    clock.advance(seconds=60)
    assert posts(ann, 2) == [201, 429]


def test_a_site_says_how_often_people_vote(api: Client, clock: Clock) -> None:
    put(api, votes="up", limits={"votes_per_minute": 2})
    comment = api.as_("ann").post(f"{NODE}/comments", text="x").json["id"]
    bob = api.as_("bob")

    def votes(number: int) -> list[int]:
        path = f"{NODE}/comments/{comment}/vote"
        return [bob.put(path, value=each % 2).status for each in range(number)]

    assert votes(3) == [200, 200, 429]
    clock.advance(seconds=30)
    assert votes(2) == [200, 429]


def test_people_of_one_address_are_limited_together(api: Client) -> None:
    """Ten times what twenty people might: the rest of a flood by new people is refused."""
    posted = [posts(api.as_(f"p{number}"), 1)[0] for number in range(210)]

    assert posted == [201] * 200 + [429] * 10


def test_how_often_people_flag_is_the_sites_too(api: Client, limited: Runtime) -> None:
    default = limits.flags(limited, {"node": "blog:moon"})
    put(api, limits={"flags_per_hour": 30})
    chosen = limits.flags(dataclasses.replace(limited), {"node": "blog:moon"})

    assert (default.burst, default.every.total_seconds()) == (10, 360)
    assert (chosen.burst, chosen.every.total_seconds()) == (30, 120)
