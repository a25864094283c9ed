"""Pages that the caller has already: 304 after a look at the node alone."""

import dataclasses
from typing import Any

import pytest

from app import create_app
from chalicelib.runtime import Runtime
from tests.comments.support.calls import post
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
LISTING = "/nodes/a-page/comments"


def again(reader: Client, held: str, target: str = LISTING) -> Reply:
    return reader.request("GET", target, headers={"If-None-Match": held})


@pytest.fixture
def thread(publisher: Client, ann: Client) -> str:
    publisher.put("/nodes/a-page", **PAGE)
    root = post(ann, "first")["id"]
    post(ann, "reply", root)
    return f"{LISTING}/{root}/thread"


def test_a_page_that_is_held_is_not_sent_again(thread: str, client: Client) -> None:
    for target in (LISTING, thread):
        tag = client.get(target).headers["ETag"]
        for held in (tag, f"W/{tag}", f'"other", {tag}'):
            reply = again(client, held, target)
            assert (reply.status, reply.body) == (304, b"")
            assert reply.headers["ETag"] == tag
        assert again(client, '"other"', target).status == 200
        assert again(client, "*", target).status == 200


def test_the_tag_is_of_the_query_and_of_the_listing(thread: str, client: Client) -> None:
    targets = [LISTING, f"{LISTING}?order=newest", f"{LISTING}?limit=1", thread]
    cursor = client.get(f"{LISTING}?limit=1").json["next"]
    targets.append(f"{LISTING}?limit=1&cursor={cursor}")

    tags = {client.get(target).headers["ETag"] for target in targets}

    assert len(tags) == len(targets)


def test_the_tag_is_of_the_caller_and_their_rights(thread: str, client: Client) -> None:
    del thread
    readers = [
        client,
        client.as_("ann"),
        client.as_("ann", name="Annie"),
        client.as_("bob"),
        client.as_("bob", roles=["moderator"]),
        client.as_("bob", roles=["publisher"]),
        client.as_("bob", roles=["moderator"], sites=["shop"]),
    ]

    tags = [reader.get(LISTING).headers["ETag"] for reader in readers]

    # A moderator of another site is a reader like any other. Publishers see what moderators see.
    assert len(set(tags)) == len(readers) - 2
    assert (tags[3], tags[4]) == (tags[6], tags[5])


def test_only_a_page_for_everybody_may_be_shared(thread: str, client: Client) -> None:
    for target in (LISTING, thread):
        for reader, kept in (
            (client, "public, max-age=5, stale-while-revalidate=30"),
            (client.as_("bob"), "private, no-cache"),
        ):
            page = reader.get(target)
            for reply in (page, again(reader, page.headers["ETag"], target)):
                assert reply.headers["Cache-Control"] == kept
                assert "Authorization" in reply.headers["Vary"]
                assert "ETag" in reply.headers["Access-Control-Expose-Headers"]
        missing = client.as_("bob").get("/nodes/none/comments")
        assert missing.headers["Cache-Control"] == "private, no-store"


def test_a_tag_ends_with_the_time_to_edit(
    thread: str, client: Client, ann: Client, clock: Clock
) -> None:
    del thread
    for_author, for_others = (each.get(LISTING).headers["ETag"] for each in (ann, client))

    clock.advance(minutes=15)
    assert again(ann, for_author).status == 304
    clock.advance(seconds=1)

    late = again(ann, for_author)
    assert (late.status, late.json["comments"][0]["can"]) == (200, ["reply", "delete"])
    assert again(ann, late.headers["ETag"]).status == 304
    assert again(client, for_others).status == 304


@pytest.mark.parametrize("until", ["", "x", "9" * 30, "-1", "²"])
def test_a_tag_with_a_made_up_time_harms_nobody(thread: str, ann: Client, until: str) -> None:
    del thread
    digest = ann.get(LISTING).headers["ETag"].strip('"').partition(".")[0]

    reply = again(ann, f'"{digest}.{until}"'.encode().decode("latin-1"))

    assert reply.status == (200 if until else 304)


def test_a_new_node_with_an_old_id_has_new_tags(publisher: Client, client: Client) -> None:
    tags = []
    for _ in range(2):
        publisher.put("/nodes/a-page", **PAGE)
        tags.append(client.get(LISTING).headers["ETag"])
        publisher.delete("/nodes/a-page")

    assert len(set(tags)) == 2
    assert again(client, tags[-1]).code == "unknown_node"


def test_a_moved_node_has_new_tags(thread: str, client: Client) -> None:
    del thread
    admin, tags = client.as_("root", roles=["admin"]), []
    for here, there in (("a-page", "b-page"), ("b-page", "a-page"), ("a-page", "c-page")):
        tags.append(client.get(f"/nodes/{here}/comments").headers["ETag"])
        assert admin.post(f"/nodes/{here}/move", to=there).status == 200

    assert len(set(tags)) == 3


def test_a_new_key_that_signs_changes_the_tags(
    thread: str, client: Client, runtime: Runtime, token: Any
) -> None:
    """Else a page that is held would have cursors of a key that is gone."""
    del thread
    keys = ("another-key-that-is-long-enough-to-sign", *runtime.settings.signing_keys)
    settings = type(runtime.settings).model_validate(
        {**runtime.settings.model_dump(), "signing_keys": keys}
    )
    other = Client(create_app(dataclasses.replace(runtime, settings=settings)), token)

    assert other.get(LISTING).headers["ETag"] != client.get(LISTING).headers["ETag"]
