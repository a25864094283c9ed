"""A container remembers for five seconds which authors have posts above the pull threshold."""

import dataclasses
import random

import pytest

from chalicelib.memory import Memory
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.social.timelines import pull
from tests.social.support.drivers import Town, circle, follow, ids, news, publish


@pytest.fixture(params=["references", "copies"])
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Each design that stores news; a post to two readers is above the threshold."""
    return settings.model_copy(update={"news": request.param, "pull_audience": 1})


@pytest.fixture
def other(watched: Town) -> Runtime:
    """Return the runtime of another container."""
    return dataclasses.replace(watched.runtime, memory=Memory())


def deliver(town: Town, runtime: Runtime) -> None:
    town.courier.deliver(runtime, random.Random(7))


def test_the_first_post_above_the_threshold_is_shown_within_five_seconds(
    watched: Town, other: Runtime
) -> None:
    follow(watched.client, "bob", "ann")
    follow(watched.client, "cy", "ann")
    deliver(watched, other)
    assert news(watched.client, "bob") == []

    post = publish(watched.client, "ann")
    deliver(watched, other)

    watched.clock.advance(seconds=4.999)
    assert news(watched.client, "bob") == []
    watched.clock.advance(seconds=0.001)
    assert news(watched.client, "bob") == [post]


def test_the_container_that_delivers_it_shows_it_at_once(watched: Town) -> None:
    follow(watched.client, "bob", "ann")
    follow(watched.client, "cy", "ann")
    deliver(watched, watched.runtime)
    assert news(watched.client, "bob") == []

    post = publish(watched.client, "ann")
    deliver(watched, watched.runtime)

    assert news(watched.client, "bob") == [post]


@pytest.mark.parametrize("most", [0, 1, 2])
def test_more_authors_than_a_container_remembers_are_all_read(
    watched: Town, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(pull, "_MOST_MARKED", most)
    for reader in ("bob", "cy"):
        follow(watched.client, reader, "ann", "eve")
    circle(watched.client, "ann", "club", "bob", "cy")
    deliver(watched, watched.runtime)

    posts = []
    for author, to in (("ann", "*public*"), ("eve", "*public*"), ("ann", "club")):
        watched.clock.advance(seconds=1)
        posts.append(publish(watched.client, author, [to]))
    deliver(watched, watched.runtime)

    assert news(watched.client, "bob") == posts[::-1]
    assert ids(watched.client.as_("bob").get("/users/me/incoming")) == [posts[2]]
