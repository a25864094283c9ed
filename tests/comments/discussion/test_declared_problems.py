"""Problems of the comments API that take some bringing about, each answered once over HTTP."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.comments.rendered import render_text
from chalicelib.comments.writing import edit
from chalicelib.runtime import Runtime
from tests.support.http_client import Client, Reply

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
SMALLEST_BYTES = 4_096


@pytest.fixture
def admin(client: Client) -> Client:
    return client.as_("root", roles=["admin"])


@pytest.fixture
def cramped(runtime: Runtime, token: Callable[..., str]) -> Client:
    """An admin of a deployment whose nodes hold next to nothing inside."""
    settings = runtime.settings.model_copy(update={"embedded_max_bytes": SMALLEST_BYTES})
    app = create_app(dataclasses.replace(runtime, settings=settings), LocalChalice)
    return Client(app, token).as_("root", roles=["admin"])


def told(reply: Reply) -> tuple[int, str]:
    return reply.status, reply.code


def fill(admin: Client, store: str) -> None:
    """Make a node with more text than the smallest bound of an embedded one."""
    admin.put("/nodes/a-page", **PAGE, store=store)
    for _ in range(3):
        assert admin.post("/nodes/a-page/comments", text="word " * 500).status == 201


def test_comments_that_do_not_fit_are_not_moved_into_their_node(
    admin: Client, cramped: Client
) -> None:
    fill(admin, "documents")

    assert told(cramped.post("/nodes/a-page/store", store="embedded")) == (409, "store_too_small")
    assert admin.get("/nodes/a-page").json["store"] == "documents"


def test_a_node_whose_comments_do_not_fit_keeps_its_id(admin: Client, cramped: Client) -> None:
    fill(admin, "embedded")

    assert told(cramped.post("/nodes/a-page/move", to="there")) == (409, "store_too_small")
    assert admin.get("/nodes/a-page").status == 200


def test_a_store_of_numbers_takes_no_threads(admin: Client) -> None:
    wanted = {**PAGE, "store": "buckets", "threaded": True}

    assert told(admin.put("/nodes/a-page", **wanted)) == (422, "cannot_thread")


def test_the_state_of_a_comment_that_is_not_there_cannot_be_set(admin: Client) -> None:
    admin.put("/nodes/a-page", **PAGE)

    reply = admin.post("/nodes/a-page/comments/none/state", state="hidden")

    assert told(reply) == (404, "unknown_comment")


@pytest.mark.bounds(comments={"html_bytes": 60})
def test_an_edit_that_is_rendered_too_large_is_refused(admin: Client) -> None:
    admin.put("/nodes/a-page", **PAGE)
    comment = admin.post("/nodes/a-page/comments", text="short").json["id"]

    reply = admin.patch(f"/nodes/a-page/comments/{comment}", text="word " * 50)

    assert told(reply) == (422, "comment_too_large")


def test_an_edit_under_which_the_state_changes_is_refused(
    admin: Client, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.put("/nodes/a-page", **PAGE, moderation="before")
    ann = client.as_("ann")
    path = f"/nodes/a-page/comments/{ann.post('/nodes/a-page/comments', text='first').json['id']}"

    def hidden_meanwhile(*args: Any) -> str:
        admin.post(f"{path}/state", state="hidden")
        return render_text(*args)

    monkeypatch.setattr(edit, "render_text", hidden_meanwhile)

    assert told(ann.patch(path, text="second")) == (409, "comment_changed")
