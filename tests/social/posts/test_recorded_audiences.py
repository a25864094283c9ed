"""The recorded audience of a post `at_post` stays with its post, and goes if none is stored."""

import json
from typing import Any

import pytest

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.graph import circles
from chalicelib.social.posts import audiences, posts
from chalicelib.social.posts.forms import NewPost
from tests.comments.support.crash_points import crash_everywhere
from tests.social.support.drivers import circle
from tests.support.http_client import Client

ANN = Principal("ann", "Ann")
MEMBERS = ["bob", "cy", "dan", "eve"]
pytestmark = pytest.mark.bounds(social={"audience_members": 2})


def new_post() -> NewPost:
    given = {"type": "status", "detail": {"text": "Hello"}, "circles": ["club"]}
    return NewPost.model_validate_json(json.dumps({**given, "audience": "at_post"}))


def rows(runtime: Runtime, **where: Any) -> list[Document]:
    return list(runtime.database["social.audience"].find(where).sort("first"))


@pytest.fixture
def club(client: Client) -> None:
    circle(client, "ann", "club", *MEMBERS)


@pytest.mark.usefixtures("club")
def test_a_post_that_may_end_anywhere_leaves_no_audience_for_ever(
    runtime: Runtime, mongodb_uri: str
) -> None:
    def call(ending: Runtime) -> None:
        posts.publish(ending, ANN, new_post())

    points = 0
    for _ in crash_everywhere(runtime, mongodb_uri, call):
        points += 1
        stored = set(runtime.database["social.post"].distinct("_id"))
        stays = rows(runtime, expires={"$exists": False})
        assert {each["post_id"] for each in stays} == stored
        for post in stored:
            found = rows(runtime, post_id=post)
            assert [member for each in found for member in each["members"]] == MEMBERS
            assert all("expires" not in each for each in found)
    assert points > 5


@pytest.mark.usefixtures("club")
def test_a_repeated_call_loses_no_member_when_another_leaves_between_the_two(
    client: Client, runtime: Runtime
) -> None:
    key = circles.keys(runtime.database, "ann", [["club"]])["club"]
    post: Any = {"_id": "p", "ts": runtime.now(), "by": {"id": "ann"}, "circles": [key]}
    audiences.keep(runtime, post)
    # The first call ended before its second row.
    runtime.database["social.audience"].delete_one({"first": "dan"})
    assert client.as_("ann").delete("/users/me/circles/club/members/bob").status == 204

    audiences.keep(runtime, post)

    assert [each["members"] for each in rows(runtime)] == [["bob", "cy"], ["dan", "eve"]]
