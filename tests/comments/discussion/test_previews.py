"""A comment shown to its author before it is posted."""

import dataclasses
from typing import Any

import pytest

from app import create_app
from chalicelib.runtime import Runtime
from tests.support.http_client import Client


def test_a_preview_is_the_html_that_a_post_would_have(publisher: Client, ann: Client) -> None:
    publisher.put("/nodes/a-page", title="A page", url="https://blog.example/a-page")
    text = "*So* it is: <script>x</script> [here](javascript:x) https://a.example"

    preview = ann.post("/preview", text=text)
    made = ann.post("/nodes/a-page/comments", text=text)

    assert preview.status == 200
    assert preview.json == {"html": made.json["html"]}
    assert "<script" not in preview.json["html"]


def test_images_are_shown_where_the_node_shows_them(runtime: Runtime, token: Any) -> None:
    with_images = runtime.settings.model_copy(update={"image_sites": ("blog",)})
    app = create_app(dataclasses.replace(runtime, settings=with_images))
    ann = Client(app, token).as_("ann")
    text = "![a boat](https://a.example/boat.png)"

    def shows_it(**node: str) -> bool:
        return "<img" in ann.post("/preview", text=text, **node).json["html"]

    assert shows_it(node="blog:a-page")
    assert not shows_it(node="a-page")
    assert not shows_it()


@pytest.mark.parametrize("text", ["", " ", "x" * 10_001, "&nbsp;", "\u202e"])
def test_a_text_that_cannot_be_posted_has_no_preview(ann: Client, text: str) -> None:
    reply = ann.post("/preview", text=text)

    assert (reply.status, reply.code) == (422, "invalid_request")


def test_a_preview_has_the_bounds_of_a_comment(runtime: Runtime, token: Any) -> None:
    bounds = dataclasses.replace(
        runtime.bounds, comments=dataclasses.replace(runtime.bounds.comments, html_bytes=100)
    )
    ann = Client(create_app(dataclasses.replace(runtime, bounds=bounds)), token).as_("ann")

    assert ann.post("/preview", text="> " * 20 + "x").code == "comment_too_large"


def test_a_preview_needs_a_token(client: Client) -> None:
    assert client.post("/preview", text="x").code == "unauthenticated"


def test_previews_have_a_limit_of_their_own(runtime: Runtime, token: Any) -> None:
    limited = runtime.settings.model_copy(update={"limits": 1.0})
    ann = Client(create_app(dataclasses.replace(runtime, settings=limited)), token).as_("ann")

    answers = [ann.post("/preview", text="x").status for _ in range(61)]

    assert answers == [200] * 60 + [429]


def test_a_preview_stores_nothing_and_mentions_nobody(
    runtime: Runtime, publisher: Client, ann: Client
) -> None:
    publisher.put("/nodes/a-page", title="A page", url="https://blog.example/a-page")
    ann.as_("bob", name="Bob").post("/nodes/a-page/comments", text="Hello")
    before = _documents(runtime)

    reply = ann.post("/preview", text="Yes, @Bob", node="a-page", mentions=["bob"])
    ann.post("/preview", text="x", node="another-page")

    assert 'data-person="bob"' in reply.json["html"]
    assert _documents(runtime) == before


def _documents(runtime: Runtime) -> dict[str, list[Any]]:
    database = runtime.database
    return {name: list(database[name].find()) for name in database.list_collection_names()}
