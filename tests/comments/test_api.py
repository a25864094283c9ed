"""The calls on nodes and comments, as a site's page makes them."""

import dataclasses
from typing import Any

import pytest

from app import create_app
from chalicelib.runtime import Runtime
from tests.conftest import Clock
from tests.http_client import Client, Reply

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}


@pytest.fixture
def publisher(client: Client) -> Client:
    return client.as_("paula", roles=["publisher"])


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann")


def post(client: Client, text: str, parent: str | None = None, node: str = "a-page") -> Any:
    reply = client.post(
        f"/nodes/{node}/comments", text=text, **({"parent": parent} if parent else {})
    )
    assert reply.status == 201, reply.body
    return reply.json


def texts(reply: Reply) -> list[str]:
    assert reply.status == 200, reply.body
    return [comment["text"] for comment in reply.json["comments"]]


def test_a_publisher_makes_a_node_and_changes_it(publisher: Client, client: Client) -> None:
    made = publisher.put("/nodes/a-page", **PAGE)
    changed = publisher.put("/nodes/a-page", **PAGE, locked=True)

    assert (made.status, changed.status) == (201, 200)
    assert client.get("/nodes/a-page").json == {
        "id": "a-page",
        "site": "default",
        **PAGE,
        "store": "documents",
        "moving_to": None,
        "threaded": True,
        "max_depth": 10,
        "locked": True,
        "moderation": "after",
        "counts": {"visible": 0, "pending": 0},
    }


def test_what_a_change_leaves_out_stays(publisher: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE, threaded=False, moderation="before")

    changed = publisher.put("/nodes/a-page", **PAGE, locked=True).json

    assert (changed["threaded"], changed["moderation"]) == (False, "before")


def test_the_layout_stays_once_there_are_comments(publisher: Client, ann: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE)
    assert publisher.put("/nodes/a-page", **PAGE, threaded=False).status == 200
    post(ann, "first")

    reply = publisher.put("/nodes/a-page", **PAGE, threaded=True)

    assert (reply.status, reply.code) == (409, "node_has_comments")


def test_a_publisher_has_its_own_sites_only(client: Client) -> None:
    ours = client.as_("paula", roles=["publisher"], sites=["blog"])
    theirs = client.as_("pete", roles=["publisher"], sites=["shop"])

    assert ours.put("/nodes/a-page", **PAGE).json["site"] == "blog"
    assert theirs.put("/nodes/a-page", **PAGE).code == "forbidden"
    assert theirs.put("/nodes/b-page", **PAGE, site="blog").code == "forbidden"
    assert ours.put("/nodes/a-page", **PAGE, site="shop").code == "site_is_fixed"


def test_only_publishers_and_moderators_make_nodes(client: Client, ann: Client) -> None:
    assert client.put("/nodes/a-page", **PAGE).status == 401
    assert ann.put("/nodes/a-page", **PAGE).status == 403
    assert client.as_("mo", roles=["moderator"]).put("/nodes/a-page", **PAGE).status == 201


def test_what_is_made_is_located_under_the_public_url(runtime: Runtime, token: Any) -> None:
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
    assert client.get(made.headers["Location"]).json == comment
    assert comment == {
        "id": comment["id"],
        "node_id": "a-page",
        "parent_id": root["id"],
        "slug": f"{root['id']}/{comment['id']}",
        "depth": 1,
        "posted": "2026-03-01T12:00:00Z",
        "edited": None,
        "author": {"id": "bob", "name": "Bob"},
        "text": "It is.",
        "html": "<p>It is.</p>\n",
        "state": "visible",
        "replies": 0,
    }
    assert client.get(f"/nodes/a-page/comments/{root['id']}").json["replies"] == 1
    assert client.get("/nodes/a-page").json["counts"] == {"visible": 2, "pending": 0}


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


def test_unknown_things_are_404(publisher: Client, ann: Client, client: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE)

    assert client.get("/nodes/none").code == "unknown_node"
    assert client.get("/nodes/none/comments").code == "unknown_node"
    assert ann.post("/nodes/none/comments", text="x").code == "unknown_node"
    assert client.get("/nodes/a-page/comments/0123456789").code == "unknown_comment"
    assert client.get("/nodes/a-page/comments/0123456789/thread").code == "unknown_comment"
    reply = ann.post("/nodes/a-page/comments", text="x", parent="0123456789")
    assert (reply.status, reply.code) == (404, "unknown_comment")


def test_a_flat_node_takes_no_replies(publisher: Client, ann: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE, threaded=False)
    root = post(ann, "root")

    reply = ann.post("/nodes/a-page/comments", text="reply", parent=root["id"])

    assert (reply.status, reply.code) == (422, "not_threaded")


def test_a_pending_comment_is_seen_by_its_author_and_moderators_alone(
    publisher: Client, ann: Client, client: Client
) -> None:
    publisher.put("/nodes/a-page", **PAGE, moderation="before")
    comment = post(ann, "first")
    target = f"/nodes/a-page/comments/{comment['id']}"
    moderator = client.as_("mo", roles=["moderator"])
    elsewhere = client.as_("mia", roles=["moderator"], sites=["shop"])
    dismissed = client.as_("max", roles=["moderator"], sites=[])

    assert comment["state"] == "pending"
    for caller in (ann, moderator):
        assert caller.get(target).status == 200
        assert texts(caller.get("/nodes/a-page/comments")) == ["first"]
    for caller in (client, client.as_("bob"), publisher, elsewhere, dismissed):
        assert caller.get(target).code == "unknown_comment"
        assert texts(caller.get("/nodes/a-page/comments")) == []
    assert dismissed.get("/moderation/comments").json["comments"] == []
    assert client.get("/nodes/a-page").json["counts"] == {"visible": 0, "pending": 1}


def test_posting_needs_a_token(publisher: Client, client: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE)

    assert client.post("/nodes/a-page/comments", text="x").code == "unauthenticated"


def test_the_first_comment_makes_an_open_node(runtime: Runtime, client: Client) -> None:
    settings = runtime.settings.model_copy(update={"open_nodes": True})
    app = create_app(dataclasses.replace(runtime, settings=settings))
    ann = dataclasses.replace(client, app=app).as_("ann")

    post(ann, "first", node="new")

    assert texts(ann.get("/nodes/new/comments")) == ["first"]
    assert ann.get("/nodes/new").json["title"] == ""
