"""The calls on nodes and comments, as a site's page makes them."""

import dataclasses
from typing import Any

import pytest

from app import create_app
from chalicelib import limits
from chalicelib.comments import nodes
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

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
        "counts": {"visible": 0},
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


def test_an_id_belongs_to_the_site_that_it_begins_with(client: Client) -> None:
    ours = client.as_("paula", roles=["publisher"], sites=["blog"])
    theirs = client.as_("pete", roles=["publisher"], sites=["shop"])
    moderator = client.as_("mia", roles=["moderator"], sites=["shop"])
    dismissed = client.as_("max", roles=["publisher", "moderator"], sites=[])

    for caller in (theirs, moderator, dismissed):
        taken = caller.put("/nodes/blog:a-page", **PAGE)
        assert (taken.status, taken.code) == (403, "forbidden")
        assert caller.put("/nodes/a-page", **PAGE).status == 403
    made = ours.put("/nodes/blog:a-page", **PAGE)
    assert (made.status, made.json["site"]) == (201, "blog")
    assert theirs.put("/nodes/blog:a-page", **PAGE).status == 403
    assert moderator.put("/nodes/shop:a-page", **PAGE).json["site"] == "shop"


def test_a_percent_encoded_colon_is_a_colon(client: Client) -> None:
    ours = client.as_("paula", roles=["publisher"], sites=["blog"])

    assert ours.put("/nodes/blog%3Aa-page", **PAGE).json["id"] == "blog:a-page"
    assert ours.put("/nodes/shop%3Aa-page", **PAGE).status == 403
    posted = ours.post("/nodes/blog%3Aa-page/comments", text="x")
    assert posted.headers["Location"] == f"/nodes/blog:a-page/comments/{posted.json['id']}"


def test_a_site_in_the_body_has_to_be_the_nodes_own(client: Client) -> None:
    ours = client.as_("paula", roles=["publisher"], sites=["blog", "shop"])

    other = ours.put("/nodes/blog:a-page", **PAGE, site="shop")

    assert (other.status, other.code) == (409, "site_is_fixed")
    assert client.get("/nodes/blog:a-page").status == 404
    assert ours.put("/nodes/blog:a-page", **PAGE, site="blog").status == 201
    assert ours.put("/nodes/blog:a-page", **PAGE, site="shop").code == "site_is_fixed"


def test_a_node_of_the_last_release_stays_with_the_site_that_it_was_stored_for(
    client: Client, runtime: Runtime
) -> None:
    for node_id in ("a-page", "shop:a-page", "Blog:a-page", ".."):
        nodes.insert(runtime.database, nodes.new_node(node_id, "blog"))
        ours = client.as_("paula", roles=["publisher"], sites=["blog"])
        moderator = client.as_("mo", roles=["moderator"], sites=["blog"])
        theirs = client.as_("pete", roles=["publisher"], sites=["shop", "default"])

        changed = ours.put(f"/nodes/{node_id}", **PAGE, moderation="before")
        assert (changed.status, changed.json["site"]) == (200, "blog")
        assert theirs.put(f"/nodes/{node_id}", **PAGE).status == 403
        posted = post(client.as_("ann"), "first", node=node_id)
        (waiting,) = moderator.get("/moderation/comments").json["comments"]
        assert (waiting["node_id"], waiting["id"]) == (node_id, posted["id"])
        approved = moderator.post(
            f"/nodes/{node_id}/comments/{posted['id']}/state", state="visible"
        )
        assert approved.status == 200


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
    for caller in (client, ann, client.as_("bob"), elsewhere, dismissed):
        assert caller.get("/nodes/a-page").json["counts"] == {"visible": 0}
    for caller in (publisher, moderator, client.as_("root", roles=["admin"])):
        assert caller.get("/nodes/a-page").json["counts"] == {"visible": 0, "pending": 1}


def test_posting_needs_a_token(publisher: Client, client: Client) -> None:
    publisher.put("/nodes/a-page", **PAGE)

    assert client.post("/nodes/a-page/comments", text="x").code == "unauthenticated"


@pytest.fixture
def visitor(runtime: Runtime, client: Client) -> Client:
    """Somebody without a role, where the sites `default` and `blog` are open."""
    settings = runtime.settings.model_copy(update={"open_nodes": ("default", "blog")})
    app = create_app(dataclasses.replace(runtime, settings=settings))
    return dataclasses.replace(client, app=app).as_("vic")


def test_the_first_comment_makes_a_node_of_an_open_site(visitor: Client) -> None:
    for node_id, site in (("new", "default"), ("blog:new", "blog")):
        post(visitor, "first", node=node_id)

        assert texts(visitor.get(f"/nodes/{node_id}/comments")) == ["first"]
        node = visitor.get(f"/nodes/{node_id}").json
        assert (node["title"], node["site"]) == ("", site)


def test_nobody_makes_many_open_nodes_at_once(
    visitor: Client, runtime: Runtime, clock: Clock
) -> None:
    given = {"limits": 1.0, "open_nodes": ("default",)}
    limited = dataclasses.replace(runtime, settings=runtime.settings.model_copy(update=given))
    vic = dataclasses.replace(visitor, app=create_app(limited))

    def first(number: int) -> Reply:
        # Slowly enough for the limit of comments.
        clock.advance(seconds=3)
        return vic.post(f"/nodes/new-{number}/comments", text="first")

    # A minute passes meanwhile, and gives one more.
    most = limits.OPENED.burst + 1
    assert [first(number).status for number in range(most)] == [201] * most
    refused = first(most)

    assert (refused.status, refused.code) == (429, "too_fast")
    assert vic.get(f"/nodes/new-{most}").status == 404
    assert vic.post("/nodes/new-0/comments", text="a known node").status == 201


@pytest.mark.parametrize("node_id", ["shop:new", "Blog:new", "blog:", "blog:..", ".."])
def test_no_comment_makes_a_node_of_another_site(visitor: Client, node_id: str) -> None:
    refused = visitor.post(f"/nodes/{node_id}/comments", text="first")

    assert (refused.status, refused.code) == (404, "unknown_node")


@pytest.mark.bounds(comments={"html_bytes": 10_000})
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"text": "x", "parent": "0123456789"}, "unknown_comment"),
        ({"text": "<" * 10_000}, "comment_too_large"),
        ({"text": ""}, "invalid_request"),
    ],
)
def test_a_comment_that_is_refused_makes_no_node(
    visitor: Client, body: dict[str, str], code: str
) -> None:
    assert visitor.post("/nodes/new/comments", **body).code == code

    assert visitor.get("/nodes/new").code == "unknown_node"


def test_what_somebody_may_not_see_cannot_be_replied_to(
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
