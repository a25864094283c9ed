"""Posts and edits are judged by the settings of their site; moderators see why something waits."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.comments.nodes import NODES
from chalicelib.runtime import Runtime
from tests.support.http_client import Client
from tests.support.workers import Workers

SETTINGS = "/sites/blog/comments/settings"
PAGE = {"title": "Moon", "url": "https://blog.example/moon"}
PHRASES = [{"phrase": "casino"}, {"phrase": "slots", "action": "reject"}]


@pytest.fixture
def publisher(client: Client) -> Client:
    return client.as_("paula", roles=["publisher"], sites=["blog"])


@pytest.fixture
def moderator(client: Client) -> Client:
    return client.as_("mo", roles=["moderator"], sites=["blog"])


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann")


@pytest.fixture(params=["documents", "embedded", "buckets"])
def comments(request: pytest.FixtureRequest, publisher: Client) -> str:
    layout = {"store": request.param, "threaded": False}
    assert publisher.put("/nodes/blog:moon", **PAGE, **layout).status == 201
    assert publisher.put(SETTINGS, phrases=PHRASES, max_links=1).status == 200
    return "/nodes/blog:moon/comments"


def queued(moderator: Client, query: str = "") -> list[tuple[str, list[str]]]:
    rows = moderator.get(f"/moderation/comments{query}").json["comments"]
    return [(row["excerpt"], row["reasons"]) for row in rows]


def test_moderators_see_why_a_post_waits_and_nobody_else_does(
    ann: Client, moderator: Client, client: Client, comments: str
) -> None:
    posted = ann.post(comments, text="A casino")

    assert (posted.status, posted.json["state"]) == (201, "pending")
    assert "reasons" not in posted.json
    assert queued(moderator) == [("A casino", ["phrase"])]
    assert client.get(comments).json["comments"] == []


def test_a_post_that_is_refused_leaves_nothing(
    ann: Client, moderator: Client, comments: str
) -> None:
    refused = ann.post(comments, text="Slots!")

    assert (refused.status, refused.code) == (422, "text_refused")
    assert "slots" not in str(refused.json).lower()
    assert moderator.get(comments).json["comments"] == []
    assert queued(moderator) == []


def test_a_program_is_answered_as_anybody_whose_comment_waits(
    ann: Client, moderator: Client, comments: str
) -> None:
    filled = ann.post(comments, text="slots", website="https://spam.example")
    quick = ann.post(comments, text="hello", written_ms=200)

    assert [(each.status, each.json["state"]) for each in (filled, quick)] == [
        (201, "pending"),
        (201, "pending"),
    ]
    # Posted at the same instant, they wait in the order of their ids.
    assert queued(moderator) == []
    assert dict(queued(moderator, "?queue=spam")) == {"slots": ["decoy"], "hello": ["too_quick"]}


def test_a_person_with_a_visible_comment_answers_at_once(
    ann: Client, moderator: Client, comments: str, workers: Workers
) -> None:
    first = ann.post(comments, text="A first one", written_ms=20_000)
    workers.drain()
    quick = ann.post(comments, text="Yes!", written_ms=900)
    by_staff = moderator.post(comments, text="Thanks.", written_ms=900)

    states = [each.json["state"] for each in (first, quick, by_staff)]
    assert states == ["visible"] * 3


def test_an_edit_is_judged_again(ann: Client, moderator: Client, comments: str) -> None:
    posted = ann.post(comments, text="hello").json["id"]

    refused = ann.patch(f"{comments}/{posted}", text="slots")
    held = ann.patch(f"{comments}/{posted}", text="casino")

    assert (refused.status, refused.code) == (422, "text_refused")
    assert (held.status, held.json["state"]) == (200, "pending")
    assert queued(moderator) == [("casino", ["phrase"])]


def test_an_edit_that_gives_no_reason_leaves_the_decision_to_a_moderator(
    ann: Client, moderator: Client, comments: str
) -> None:
    posted = ann.post(comments, text="casino").json["id"]

    edited = ann.patch(f"{comments}/{posted}", text="hello")

    assert edited.json["state"] == "pending"
    assert queued(moderator) == [("hello", ["phrase"])]


def test_what_a_moderator_edits_is_not_judged(
    ann: Client, moderator: Client, comments: str
) -> None:
    posted = ann.post(comments, text="hello").json["id"]

    assert moderator.patch(f"{comments}/{posted}", text="casino").json["state"] == "visible"


def test_a_decision_empties_the_reasons(ann: Client, moderator: Client, comments: str) -> None:
    posted = ann.post(comments, text="casino").json["id"]
    state = f"{comments}/{posted}/state"

    assert moderator.post(state, state="visible").json["state"] == "visible"
    assert queued(moderator) == []
    moderator.post(state, state="pending")

    assert queued(moderator) == [("casino", [])]


@pytest.mark.parametrize("comments", ["documents"], indirect=True)
@pytest.mark.parametrize("store", ["embedded", "buckets"])
def test_a_move_keeps_why_a_comment_waits(
    publisher: Client, ann: Client, moderator: Client, comments: str, store: str
) -> None:
    posted = ann.post(comments, text="casino").json["id"]
    assert publisher.post("/nodes/blog:moon/store", store=store).status == 200

    ann.patch(f"{comments}/{posted}", text="hello")

    assert queued(moderator) == [("hello", ["phrase"])]


def test_a_refused_first_comment_makes_no_node(
    runtime: Runtime, token: Callable[..., str], publisher: Client
) -> None:
    publisher.put(SETTINGS, phrases=PHRASES)
    settings = runtime.settings.model_copy(update={"open_nodes": frozenset({"blog"})})
    opened: Any = create_app(dataclasses.replace(runtime, settings=settings), LocalChalice)
    ann = Client(opened, token).as_("ann")

    assert ann.post("/nodes/blog:sun/comments", text="slots").code == "text_refused"
    assert NODES.of(runtime.database).find_one({"_id": "blog:sun"}) is None
    assert ann.post("/nodes/blog:sun/comments", text="hello").status == 201


def test_phrases_change_no_tag_of_a_page(publisher: Client, client: Client, comments: str) -> None:
    tag = client.get(comments).headers["ETag"]

    publisher.put(SETTINGS, phrases=[{"phrase": "other"}])
    same = client.get(comments).headers["ETag"]
    publisher.put(SETTINGS, order="newest")

    assert same == tag
    assert client.get(comments).headers["ETag"] != tag
