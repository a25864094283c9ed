"""Discussions that open and close by the clock."""

import dataclasses
from typing import Any

import pytest

from app import create_app
from chalicelib.comments import nodes, permissions
from chalicelib.runtime import Runtime
from tests.comments.support.calls import post
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
LISTING = "/nodes/a-page/comments"
# The clock begins at noon.
ONE, TWO = "2026-03-01T13:00:00Z", "2026-03-01T14:00:00Z"
SETTINGS = "/sites/default/comments/settings"


def told(reply: Reply) -> tuple[int, str, Any]:
    return reply.status, reply.code, reply.json.get("facts")


@pytest.fixture
def mo(client: Client) -> Client:
    return client.as_("mo", roles=["moderator"])


@pytest.fixture
def page(publisher: Client) -> str:
    """A node that takes comments from one to two o'clock."""
    assert publisher.put("/nodes/a-page", **PAGE, opens_at=ONE, closes_at=TWO).status == 201
    return LISTING


def test_nobody_posts_before_the_discussion_opens(ann: Client, page: str, clock: Clock) -> None:
    assert told(ann.post(page, text="early")) == (409, "node_closed", {"opens_at": ONE})

    clock.advance(hours=1)
    assert ann.post(page, text="on time").status == 201


def test_nobody_posts_once_the_discussion_has_closed(ann: Client, page: str, clock: Clock) -> None:
    clock.advance(hours=2, milliseconds=-1)
    assert ann.post(page, text="at the last moment").status == 201

    clock.advance(milliseconds=1)
    assert told(ann.post(page, text="late")) == (409, "node_closed", {"closed_at": TWO})


@pytest.mark.parametrize("hours", [0, 2])
def test_a_moderator_of_the_site_posts_at_any_time(
    client: Client, mo: Client, page: str, clock: Clock, hours: int
) -> None:
    clock.advance(hours=hours)

    elsewhere = client.as_("mia", roles=["moderator"], sites=["shop"])
    assert mo.post(page, text="Welcome").status == 201
    assert elsewhere.post(page, text="Me too").code == "node_closed"


def test_a_locked_node_takes_nothing_from_moderators_whatever_its_times(
    publisher: Client, mo: Client, page: str
) -> None:
    publisher.put("/nodes/a-page", **PAGE, locked=True)

    assert mo.post(page, text="Welcome").code == "node_locked"


def test_a_refused_post_takes_no_number(ann: Client, page: str, runtime: Runtime) -> None:
    before = nodes.find(runtime.database, "a-page")
    ann.post(page, text="early")

    assert nodes.find(runtime.database, "a-page") == before


def test_taking_a_number_and_closing_cannot_cross(runtime: Runtime, clock: Clock) -> None:
    node = nodes.new_node("a-page")
    nodes.insert(runtime.database, node)
    nodes.NODES.of(runtime.database).update_one(
        {"_id": "a-page"}, {"$set": {"closes_at": clock.time}}
    )

    assert nodes.take_seq(runtime, "a-page") is None
    assert nodes.take_seq(runtime, "a-page", None) is not None


def test_nodes_of_earlier_releases_have_no_times(runtime: Runtime, clock: Clock) -> None:
    nodes.insert(runtime.database, nodes.new_node("a-page"))
    gone = {"opens_at": "", "closes_at": "", "slow_seconds": ""}
    nodes.NODES.of(runtime.database).update_one({"_id": "a-page"}, {"$unset": gone})

    assert nodes.take_seq(runtime, "a-page") is not None
    assert permissions.is_open(nodes.find(runtime.database, "a-page"), clock.time)


def test_pages_say_when_readers_may_write_and_what_the_caller_may(
    publisher: Client, ann: Client, mo: Client, page: str, clock: Clock
) -> None:
    post(mo, "Welcome")

    for hours, is_open in ((0, False), (1, True), (1, False)):
        clock.advance(hours=hours)
        shown = ann.get(page).json
        about = {name: shown["node"][name] for name in ("open", "opens_at", "closes_at", "locked")}
        assert about == {"open": is_open, "opens_at": ONE, "closes_at": TWO, "locked": False}
        assert shown["viewer"]["can"] == (["post"] if is_open else [])
        assert shown["comments"][0]["can"] == (["reply"] if is_open else [])
        assert mo.get(page).json["viewer"]["can"] == ["post", "moderate"]
    assert publisher.get("/nodes/a-page").json["closes_at"] == TWO


def test_a_held_page_is_renewed_when_the_discussion_opens(
    client: Client, page: str, clock: Clock
) -> None:
    held = client.get(page)
    again = {"If-None-Match": held.headers["ETag"]}
    assert client.request("GET", page, headers=again).status == 304

    clock.advance(hours=1)
    assert client.request("GET", page, headers=again).status == 200


def test_nobody_votes_or_reacts_in_a_closed_discussion(
    publisher: Client, ann: Client, mo: Client, page: str, clock: Clock
) -> None:
    heart = {"key": "heart", "emoji": "\N{HEAVY BLACK HEART}"}
    publisher.put(SETTINGS, votes="up", reactions=[heart])
    clock.advance(hours=1)
    comment = post(mo, "Welcome")["id"]
    clock.advance(hours=1)

    for target in (f"{page}/{comment}/reactions/heart", "/nodes/a-page/reactions/heart"):
        assert told(ann.put(target)) == (409, "node_closed", {"closed_at": TWO})
        assert ann.delete(target).code == "node_closed"
    assert ann.put(f"{page}/{comment}/vote", value=1).code == "node_closed"


def test_null_takes_a_time_back_and_what_is_left_out_stays(
    publisher: Client, ann: Client, page: str
) -> None:
    assert publisher.put("/nodes/a-page", **PAGE).json["opens_at"] == ONE
    assert publisher.put("/nodes/a-page", **PAGE, opens_at=None).json["closes_at"] == TWO

    assert ann.post(page, text="at noon").status == 201


def test_a_discussion_closes_after_it_has_opened(publisher: Client) -> None:
    reply = publisher.put("/nodes/a-page", **PAGE, opens_at=ONE, closes_at=ONE)

    assert (reply.status, reply.code) == (422, "invalid_request")


def test_a_new_node_closes_as_its_site_says(publisher: Client) -> None:
    publisher.put("/nodes/old", **PAGE)
    publisher.put(SETTINGS, close_after_days=30)

    assert publisher.put("/nodes/a-page", **PAGE).json["closes_at"] == "2026-03-31T12:00:00Z"
    assert publisher.put("/nodes/brief", **PAGE, closes_at=TWO).json["closes_at"] == TWO
    assert publisher.put("/nodes/endless", **PAGE, closes_at=None).json["closes_at"] is None
    assert publisher.put("/nodes/old", **PAGE).json["closes_at"] is None


def test_a_node_that_a_first_comment_makes_closes_as_its_site_says(
    publisher: Client, ann: Client, runtime: Runtime
) -> None:
    settings = runtime.settings.model_copy(update={"open_nodes": ("default",)})
    app = create_app(dataclasses.replace(runtime, settings=settings))
    publisher.put(SETTINGS, close_after_days=1)

    visitor = dataclasses.replace(ann, app=app)
    assert visitor.post("/nodes/new/comments", text="first").status == 201
    assert publisher.get("/nodes/new").json["closes_at"] == "2026-03-02T12:00:00Z"


@pytest.mark.usefixtures("page")
def test_times_move_with_their_node(publisher: Client, client: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE, slow_seconds=30)
    client.as_("root", roles=["admin"]).post("/nodes/a-page/move", to="there")

    moved = publisher.get("/nodes/there").json
    assert (moved["opens_at"], moved["closes_at"], moved["slow_seconds"]) == (ONE, TWO, 30)
