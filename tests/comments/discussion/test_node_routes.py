"""Nodes by HTTP: who makes and changes them, and which site they belong to."""

from typing import Any

import pytest

from chalicelib.comments import nodes
from chalicelib.runtime import Runtime
from tests.comments.support.calls import post
from tests.support.http_client import Client

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}


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
        "votes": "off",
        "order": "oldest",
        "opens_at": None,
        "closes_at": None,
        "slow_seconds": 0,
        "counts": {"visible": 0},
    }


@pytest.mark.parametrize(("deletions", "status"), [(1, 201), (2, 201), (3, 503)])
def test_a_node_that_is_deleted_during_its_change_is_made_again(
    publisher: Client, monkeypatch: pytest.MonkeyPatch, deletions: int, status: int
) -> None:
    update, left = nodes.update, deletions
    publisher.put("/nodes/a-page", **PAGE)

    def interrupted(*given: Any) -> Any:
        nonlocal left
        left -= 1
        assert publisher.delete("/nodes/a-page").status == 204
        try:
            return update(*given)
        finally:
            if left:
                # Another caller makes it again before the next attempt.
                assert publisher.put("/nodes/a-page", **PAGE).status == 201

    monkeypatch.setattr(nodes, "update", interrupted)

    assert publisher.put("/nodes/a-page", **PAGE, locked=True).status == status


def test_settings_that_a_change_leaves_out_stay(publisher: Client) -> None:
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
