"""A page of news whose posts together are larger than a document of MongoDB may be."""

import copy
from datetime import timedelta

import pytest

from chalicelib.http import PageQuery
from chalicelib.ids import new_id
from chalicelib.settings import Settings
from chalicelib.social.posts import posts
from chalicelib.social.timelines import news
from tests.social.support.drivers import Town, follow, publish

# An application's own type of post may have a detail as large as the body of a request.
LARGE = 90_000
LARGEST_DOCUMENT = 16 * 1024 * 1024
PAGE = 200


@pytest.fixture(params=["references", "copies"])
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Each design that stores news."""
    return settings.model_copy(update={"news": request.param})


def test_a_page_of_large_posts_is_read_to_its_end(town: Town) -> None:
    follow(town.client, "bob", "ann")
    publish(town.client, "ann")
    town.workers.drain()
    rows = posts.POSTS.of(town.runtime.database)
    first = rows.find_one({})
    assert first is not None
    made = []
    for number in range(PAGE):
        post = copy.deepcopy(first)
        post["ts"] = first["ts"] + timedelta(milliseconds=number + 1)
        post["_id"] = new_id(post["ts"], town.runtime.random)
        post["detail"] = {"text": "x" * LARGE}
        made.append(post)
    rows.insert_many(made)
    view = news.stored_design(town.runtime)
    assert view is not None
    view.add(made, ["bob"])
    assert LARGE * PAGE > LARGEST_DOCUMENT

    page = news.read(town.runtime, "bob", PageQuery(limit=PAGE))

    assert [post["id"] for post in page["posts"]] == [post["_id"] for post in reversed(made)]
    assert page["next"] is not None
