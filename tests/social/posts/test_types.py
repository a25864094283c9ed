"""The types of posts that a deployment takes."""

import dataclasses
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.runtime import Runtime
from chalicelib.settings import InvalidSettings, Settings
from tests.social.support.drivers import publish, try_post
from tests.support.http_client import Client

LINK: dict[str, Any] = {"type": "link", "detail": {"url": "https://site.example/"}}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"post_types": ("status", "photo")})


def test_a_deployment_takes_posts_of_the_types_that_it_names(client: Client) -> None:
    refused = try_post(client, "ann", **LINK)

    assert (refused.status, refused.code) == (422, "post_type_not_allowed")
    assert client.as_("ann").get("/users/me").status == 404
    assert publish(client, "ann")


def test_what_is_there_of_other_types_can_still_be_edited(client: Client, runtime: Runtime) -> None:
    post = publish(client, "ann")
    other = {"type": "link", "detail": LINK["detail"]}
    runtime.database["social.post"].update_one({"_id": post}, {"$set": other})

    detail = {"url": "https://site.example/other"}
    assert client.as_("ann").patch(f"/posts/{post}", detail=detail).json["detail"] == detail


def test_a_post_of_a_type_that_there_is_no_more_is_not_edited(
    client: Client, runtime: Runtime
) -> None:
    post = publish(client, "ann")
    runtime.database["social.post"].update_one({"_id": post}, {"$set": {"type": "bygone"}})

    refused = client.as_("ann").patch(f"/posts/{post}", detail={"text": "Better"})

    assert (refused.status, refused.code) == (422, "post_type_not_allowed")
    stored = runtime.database["social.post"].find_one({"_id": post})
    assert stored
    assert stored["detail"] == {"text": "Hello"}


def test_a_type_that_there_is_not_is_told_before_the_first_request(runtime: Runtime) -> None:
    settings = runtime.settings.model_copy(update={"post_types": ("status", "pol")})

    with pytest.raises(InvalidSettings, match=r"PLAZA_POST_TYPES: no type is called pol; there"):
        create_app(dataclasses.replace(runtime, settings=settings), LocalChalice)
