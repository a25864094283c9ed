"""The calls on nodes and comments, as a site's page makes them."""

import dataclasses
from typing import Any

import pytest

from app import create_app
from chalicelib.runtime import Runtime
from tests.comments.support.calls import post, texts
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}


def test_locations_begin_with_the_public_url(runtime: Runtime, token: Any) -> None:
    public = runtime.settings.model_copy(update={"public_url": "https://x.example/api"})
    app = create_app(dataclasses.replace(runtime, settings=public))
    client = Client(app, token).as_("paula", roles=["publisher"])
    client.put("/nodes/a-page", **PAGE)
    client.put("/users/me")

    comment = client.post("/nodes/a-page/comments", text="Hello")
    post = client.post("/posts", type="status", detail={"text": "Hello"}, circles=["*public*"])

    assert comment.headers["Location"].startswith("https://x.example/api/nodes/a-page/comments/")
    assert post.headers["Location"] == f"https://x.example/api/posts/{post.json['id']}"


def test_a_comment_is_given_back_with_its_place(
    publisher: Client, ann: Client, client: Client
) -> None:
    publisher.put("/nodes/a-page", **PAGE)
    root = post(ann, "Is *this* so?")

    made = client.as_("bob").post("/nodes/a-page/comments", text="It is.", parent=root["id"])

    comment = made.json
    assert made.headers["Location"] == f"/nodes/a-page/comments/{comment['id']}"
    assert client.as_("bob").get(made.headers["Location"]).json == comment
    assert comment == {
        "id": comment["id"],
        "node_id": "a-page",
        "parent_id": root["id"],
        "reply_to": None,
        "slug": f"{root['id']}/{comment['id']}",
        "depth": 1,
        "posted_at": "2026-03-01T12:00:00Z",
        "edited_at": None,
        "author": {"id": "bob", "name": "Bob"},
        "text": "It is.",
        "html": "<p>It is.</p>\n",
        "mentions": [],
        "state": "visible",
        "replies": 0,
        "can": ["reply", "edit", "delete"],
        "editable_until": "2026-03-01T12:15:00Z",
        "votes": None,
        "reactions": {},
        "mine": None,
    }
    assert client.get(f"/nodes/a-page/comments/{root['id']}").json["replies"] == 1
    assert client.get("/nodes/a-page").json["counts"] == {"visible": 2}


def test_a_threaded_node_reads_depth_first(publisher: Client, ann: Client, client: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE)
    first = post(ann, "1")
    second = post(ann, "2")
    post(ann, "1.1", first["id"])
    nested = post(ann, "2.1", second["id"])
    post(ann, "1.2", first["id"])
    post(ann, "2.1.1", nested["id"])

    oldest = client.get("/nodes/a-page/comments")
    newest = client.get("/nodes/a-page/comments?order=newest")
    thread = client.get(f"/nodes/a-page/comments/{second['id']}/thread")

    assert texts(oldest) == ["1", "1.1", "1.2", "2", "2.1", "2.1.1"]
    assert texts(newest) == ["2", "2.1", "2.1.1", "1", "1.1", "1.2"]
    assert texts(thread) == ["2", "2.1", "2.1.1"]
    assert oldest.json["count"] == 6


@pytest.mark.parametrize("threaded", [True, False])
@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_pages_follow_one_another(
    publisher: Client, ann: Client, client: Client, *, threaded: bool, order: str
) -> None:
    publisher.put("/nodes/a-page", **PAGE, threaded=threaded)
    parent = None
    for number in range(7):
        made = post(ann, str(number), parent)
        parent = made["id"] if threaded and number % 3 == 0 else parent
    whole = texts(client.get(f"/nodes/a-page/comments?order={order}"))

    paged: list[str] = []
    target = f"/nodes/a-page/comments?order={order}&limit=2"
    cursor = ""
    while cursor is not None:
        reply = client.get(target + (f"&cursor={cursor}" if cursor else ""))
        paged += texts(reply)
        cursor = reply.json["next"]

    assert len(whole) == 7
    assert paged == whole


def test_clocks_decide_nothing(
    publisher: Client, ann: Client, client: Client, clock: Clock
) -> None:
    publisher.put("/nodes/a-page", **PAGE)
    root = post(ann, "root")
    post(ann, "earlier", root["id"])
    clock.advance(hours=-1)
    post(ann, "later, by a clock that is late", root["id"])

    assert texts(client.get("/nodes/a-page/comments"))[1] == "earlier"


def test_a_reply_below_the_deepest_level_joins_it(publisher: Client, ann: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE, max_depth=2)
    chain = [post(ann, "0")]
    for number in range(1, 5):
        chain.append(post(ann, str(number), chain[-1]["id"]))

    assert [comment["depth"] for comment in chain] == [0, 1, 2, 2, 2]
    assert {comment["parent_id"] for comment in chain[2:]} == {chain[1]["id"]}


def test_a_locked_node_takes_no_comments(publisher: Client, ann: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE, locked=True)

    reply = ann.post("/nodes/a-page/comments", text="too late")

    assert (reply.status, reply.code) == (409, "node_locked")


def test_unknown_nodes_and_comments_are_404(publisher: Client, ann: Client, client: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE)

    assert client.get("/nodes/none").code == "unknown_node"
    assert client.get("/nodes/none/comments").code == "unknown_node"
    assert ann.post("/nodes/none/comments", text="x").code == "unknown_node"
    assert client.get("/nodes/a-page/comments/0123456789").code == "unknown_comment"
    assert client.get("/nodes/a-page/comments/0123456789/thread").code == "unknown_comment"
    reply = ann.post("/nodes/a-page/comments", text="x", parent="0123456789")
    assert (reply.status, reply.code) == (404, "unknown_comment")


def test_a_page_has_one_place(publisher: Client, ann: Client, client: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE)
    ids = [post(ann, str(number))["id"] for number in range(5)]
    listing = "/nodes/a-page/comments?limit=2"

    page = client.get(f"{listing}&around={ids[3]}")
    both = client.get(f"{listing}&around={ids[3]}&cursor={page.json['next']}")

    assert texts(page) == ["3", "4"]
    assert texts(client.get(f"{listing}&cursor={page.json['previous']}")) == ["1", "2"]
    assert (both.status, both.code) == (422, "invalid_request")
    assert client.get(f"{listing}&around=0123456789").code == "unknown_comment"
    assert client.get(f"{listing}&around=%20").code == "invalid_request"


def test_a_flat_node_takes_no_replies(publisher: Client, ann: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE, threaded=False)
    root = post(ann, "root")

    reply = ann.post("/nodes/a-page/comments", text="reply", parent=root["id"])

    assert (reply.status, reply.code) == (422, "not_threaded")


def test_a_pending_comment_is_seen_by_its_author_and_by_staff_of_the_site_alone(
    publisher: Client, ann: Client, client: Client
) -> None:
    publisher.put("/nodes/a-page", **PAGE, moderation="before")
    comment = post(ann, "first")
    target = f"/nodes/a-page/comments/{comment['id']}"
    moderator = client.as_("mo", roles=["moderator"])
    elsewhere = client.as_("mia", roles=["moderator"], sites=["shop"])
    dismissed = client.as_("max", roles=["moderator"], sites=[])

    assert comment["state"] == "pending"
    for caller in (ann, moderator, publisher):
        assert caller.get(target).status == 200
        assert texts(caller.get("/nodes/a-page/comments")) == ["first"]
    for caller in (client, client.as_("bob"), elsewhere, dismissed):
        assert caller.get(target).code == "unknown_comment"
        assert texts(caller.get("/nodes/a-page/comments")) == []
    assert dismissed.get("/moderation/comments").json["comments"] == []
    for caller in (client, ann, client.as_("bob"), elsewhere, dismissed):
        assert caller.get("/nodes/a-page").json["counts"] == {"visible": 0}
    for caller in (publisher, moderator, client.as_("root", roles=["admin"])):
        assert caller.get("/nodes/a-page").json["counts"] == {"visible": 0, "pending": 1}


def test_posting_needs_a_token(publisher: Client, client: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE)

    assert client.post("/nodes/a-page/comments", text="x").code == "unauthenticated"


def test_a_comment_that_the_caller_may_not_see_cannot_be_replied_to(
    publisher: Client, ann: Client, client: Client
) -> None:
    """Neither to speak under it, nor to learn that it is there."""
    publisher.put("/nodes/a-page", **PAGE, moderation="before")
    bob, moderator = client.as_("bob"), client.as_("mo", roles=["moderator"])
    waiting, hidden = post(ann, "waits"), post(ann, "hidden")
    moderator.post(f"/nodes/a-page/comments/{hidden['id']}/state", state="hidden")

    def reply_of(caller: Client, parent: Any) -> Reply:
        return caller.post("/nodes/a-page/comments", text="So?", parent=parent["id"])

    for caller, parent in ((bob, waiting), (bob, hidden), (ann, hidden)):
        refused = reply_of(caller, parent)
        assert (refused.status, refused.code) == (404, "unknown_comment")
    assert reply_of(ann, waiting).status == 201
    assert reply_of(moderator, hidden).status == 201
