"""Editing, deleting and moderating over HTTP: who may, and what the others see."""

from typing import Any

import pytest

from chalicelib.comments.errors import CommentChanged
from chalicelib.comments.rendered import render_text
from chalicelib.comments.writing import edit
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, Discussion, Layout
from tests.support.clock import Clock
from tests.support.http_client import Client

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}


@pytest.fixture(autouse=True)
def _node(client: Client) -> None:
    client.as_("paula", roles=["publisher"]).put("/nodes/a-page", **PAGE)


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann")


@pytest.fixture
def moderator(client: Client) -> Client:
    return client.as_("mo", roles=["moderator"])


def post(client: Client, text: str = "first", **parent: str) -> Any:
    reply = client.post("/nodes/a-page/comments", text=text, **parent)
    assert reply.status == 201
    return reply.json


def path(comment: Any) -> str:
    return f"/nodes/{comment['node_id']}/comments/{comment['id']}"


@pytest.mark.parametrize(("seconds", "status"), [(0, 200), (900, 200), (900.001, 403)])
def test_an_author_edits_for_fifteen_minutes(
    ann: Client, clock: Clock, seconds: float, status: int
) -> None:
    comment = post(ann)
    clock.advance(seconds=seconds)

    reply = ann.patch(path(comment), text="second")

    assert reply.status == status
    if status == 403:
        assert reply.code == "edit_window_over"
    else:
        assert (reply.json["text"], reply.json["html"]) == ("second", "<p>second</p>\n")
        assert reply.json["edited_at"] is not None


def test_a_moderator_edits_at_any_time_and_others_never(
    client: Client, ann: Client, moderator: Client, clock: Clock
) -> None:
    comment = post(ann)
    clock.advance(days=100)

    assert moderator.patch(path(comment), text="moderated").status == 200
    assert client.as_("bob").patch(path(comment), text="mine").code == "forbidden"
    assert client.patch(path(comment), text="mine").status == 401


def test_a_deleted_comment_is_gone_or_a_tombstone(client: Client, ann: Client) -> None:
    leaf, root = post(ann, "leaf"), post(ann, "root")
    reply = post(client.as_("bob"), "reply", parent=root["id"])

    assert ann.delete(path(leaf)).status == 204
    assert ann.delete(path(root)).status == 204

    assert client.get(path(leaf)).code == "unknown_comment"
    tombstone = client.get(path(root)).json
    assert (tombstone["state"], tombstone["replies"]) == ("deleted", 1)
    assert tombstone["author"] is tombstone["text"] is tombstone["html"] is None
    page = client.get("/nodes/a-page/comments").json
    assert [comment["id"] for comment in page["comments"]] == [root["id"], reply["id"]]
    assert page["count"] == 1


def test_only_its_author_and_moderators_delete_a_comment(
    client: Client, ann: Client, moderator: Client
) -> None:
    first, second = post(ann), post(ann)

    assert client.delete(path(first)).status == 401
    assert client.as_("bob").delete(path(first)).code == "forbidden"
    elsewhere = client.as_("mia", roles=["moderator"], sites=["shop"])
    assert elsewhere.delete(path(first)).code == "forbidden"
    assert ann.delete(path(first)).status == 204
    assert moderator.delete(path(second)).status == 204
    assert ann.delete(path(first)).code == "unknown_comment"


def test_an_author_deletes_a_hidden_comment_and_learns_nothing_else(
    client: Client, ann: Client, moderator: Client
) -> None:
    root = post(ann)
    post(client.as_("bob"), "reply", parent=root["id"])
    moderator.post(f"{path(root)}/state", state="hidden")

    assert client.as_("bob").delete(path(root)).code == "unknown_comment"
    assert ann.get(path(root)).code == "unknown_comment"
    assert ann.patch(path(root), text="again").code == "unknown_comment"
    deleted = ann.delete(path(root))
    assert (deleted.status, deleted.body) == (204, b"")
    tombstone = moderator.get(path(root)).json
    assert (tombstone["state"], tombstone["text"]) == ("deleted", None)


def test_a_tombstone_changes_no_more(client: Client, ann: Client, moderator: Client) -> None:
    root = post(ann)
    post(client.as_("bob"), "reply", parent=root["id"])
    ann.delete(path(root))

    assert moderator.delete(path(root)).code == "comment_deleted"
    assert moderator.patch(path(root), text="back").code == "comment_deleted"
    assert moderator.post(f"{path(root)}/state", state="visible").code == "comment_deleted"


def test_staff_of_the_site_alone_sets_states(
    client: Client, ann: Client, moderator: Client
) -> None:
    comment = post(ann)

    assert client.post(f"{path(comment)}/state", state="hidden").status == 401
    for caller in (ann, client.as_("paula", roles=["publisher"], sites=["shop"])):
        assert caller.post(f"{path(comment)}/state", state="hidden").status == 403
    elsewhere = client.as_("mia", roles=["moderator"], sites=["shop"])
    assert elsewhere.post(f"{path(comment)}/state", state="hidden").status == 403
    hidden = moderator.post(f"{path(comment)}/state", state="hidden")
    assert (hidden.status, hidden.json["state"]) == (200, "hidden")
    assert ann.get(path(comment)).status == client.get(path(comment)).status == 404
    assert moderator.post(f"{path(comment)}/state", state="deleted").status == 422
    publisher = client.as_("paula", roles=["publisher"])
    assert publisher.post(f"{path(comment)}/state", state="visible").json["state"] == "visible"


def test_the_queue_holds_pending_comments_and_no_decided_ones(
    client: Client, ann: Client, moderator: Client, clock: Clock
) -> None:
    client.as_("paula", roles=["publisher"]).put("/nodes/a-page", **PAGE, moderation="before")
    comments = []
    for number in range(5):
        comments.append(post(ann, str(number)))
        clock.advance(seconds=number % 2)

    first = moderator.get("/moderation/comments?state=pending&limit=3").json
    rest = moderator.get(f"/moderation/comments?limit=3&cursor={first['next']}").json

    assert [row["id"] for row in first["comments"] + rest["comments"]] == [
        comment["id"] for comment in sorted(comments, key=lambda c: (c["posted_at"], c["id"]))
    ]
    assert rest["next"] is None
    assert first["comments"][0]["node_id"] == "a-page"
    moderator.post(f"{path(comments[0])}/state", state="visible")
    moderator.post(f"{path(comments[1])}/state", state="hidden")
    ann.delete(path(comments[2]))
    waiting = moderator.get("/moderation/comments").json["comments"]
    assert {row["id"] for row in waiting} == {comments[3]["id"], comments[4]["id"]}
    assert moderator.get("/nodes/a-page").json["counts"] == {"visible": 1, "pending": 2}


def test_the_queue_follows_an_edit(client: Client, ann: Client, moderator: Client) -> None:
    client.as_("paula", roles=["publisher"]).put("/nodes/a-page", **PAGE, moderation="before")
    comment = post(ann)

    ann.patch(path(comment), text="second " * 100)

    (waiting,) = moderator.get("/moderation/comments").json["comments"]
    assert waiting["excerpt"] == ("second " * 100)[:280]


def test_an_approved_comment_waits_again_once_its_author_edits_it(
    client: Client, ann: Client, moderator: Client
) -> None:
    client.as_("paula", roles=["publisher"]).put("/nodes/a-page", **PAGE, moderation="before")
    comment = post(ann, "harmless")
    moderator.post(f"{path(comment)}/state", state="visible")

    assert ann.patch(path(comment), text="not what was approved").json["state"] == "pending"
    assert client.get(path(comment)).status == 404
    assert len(moderator.get("/moderation/comments").json["comments"]) == 1
    moderator.post(f"{path(comment)}/state", state="visible")
    assert moderator.patch(path(comment), text="corrected").json["state"] == "visible"


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_an_approval_is_of_the_text_that_the_moderator_has_read(
    client: Client, ann: Client, moderator: Client, clock: Clock, layout: Layout
) -> None:
    laid_out = {"store": layout.store, "threaded": layout.threaded}
    publisher = client.as_("paula", roles=["publisher"])
    publisher.put("/nodes/a-page", **PAGE, moderation="before", **laid_out)
    comment = post(ann, "harmless")
    (read,) = moderator.get("/moderation/comments").json["comments"]
    clock.advance(seconds=1)
    ann.patch(path(comment), text="not what was read")

    reply = moderator.post(f"{path(comment)}/state", state="visible", edited_at=read["edited_at"])

    assert (reply.status, reply.code) == (409, "comment_changed")
    assert client.get(path(comment)).status == 404
    (again,) = moderator.get("/moderation/comments").json["comments"]
    reply = moderator.post(f"{path(comment)}/state", state="visible", edited_at=again["edited_at"])
    assert (reply.status, reply.json["text"]) == (200, "not what was read")


def test_an_edit_does_not_show_a_comment_that_a_moderator_hides_meanwhile(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, LAYOUTS[0], moderation="before")
    comment = discussion.post("first")

    def hidden_meanwhile(*args: Any) -> str:
        discussion.set_state(comment["id"], "hidden")
        return render_text(*args)

    monkeypatch.setattr(edit, "render_text", hidden_meanwhile)
    with pytest.raises(CommentChanged):
        discussion.edit(comment["id"], "second", by="ann")

    stored = discussion.get(comment["id"], by="mo")
    assert (stored["state"], stored["text"]) == ("hidden", "first")


def test_a_moderator_of_some_sites_sees_their_queue(client: Client, ann: Client) -> None:
    admin = client.as_("root", roles=["admin"])
    for site in ("blog", "shop"):
        admin.put(f"/nodes/{site}:page", **PAGE, moderation="before")
        ann.post(f"/nodes/{site}:page/comments", text=site)

    def sites(caller: Client) -> list[str]:
        rows = caller.get("/moderation/comments").json["comments"]
        return sorted(row["site"] for row in rows)

    assert sites(client.as_("mia", roles=["moderator"], sites=["shop"])) == ["shop"]
    assert sites(client.as_("mo", roles=["moderator"])) == ["blog", "shop"]
    assert sites(admin) == ["blog", "shop"]
    assert sites(client.as_("root", roles=["admin"], sites=["shop"])) == ["blog", "shop"]
    assert ann.get("/moderation/comments").status == 403
    assert client.get("/moderation/comments").status == 401


def test_counts_of_many_pages(client: Client, ann: Client) -> None:
    post(ann)
    post(ann)

    assert client.get("/comment-counts?nodes=a-page,b-page").json == {"a-page": 2, "b-page": 0}
    hundred = ",".join(f"page-{number}" for number in range(100))
    assert len(client.get(f"/comment-counts?nodes={hundred}").json) == 100
    for bad in (f"nodes={hundred},one-more", "nodes=", "nodes=,", ""):
        assert client.get(f"/comment-counts?{bad}").status == 422


@pytest.mark.parametrize("wrong", ["blog:caf%C3%A9", "$ne", "a/b", "%00", "", "x" * 257, "%20"])
def test_an_id_that_no_node_can_have_costs_no_other_count(
    client: Client, ann: Client, wrong: str
) -> None:
    post(ann)

    for nodes in (f"{wrong},a-page", f"a-page,{wrong}"):
        assert client.get(f"/comment-counts?nodes={nodes}").json == {"a-page": 1}
