"""Sites whose nodes are made by the first comment."""

import dataclasses
from datetime import timedelta

import pytest

from app import create_app
from chalicelib import limits
from chalicelib.comments.people import changing
from chalicelib.comments.people.rows import NO_COUNTS
from chalicelib.runtime import Runtime
from tests.comments.support.calls import post, texts
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply


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
    # Long known, or their posts would be too many first.
    known = {"counts": {**NO_COUNTS, "visible": 20}, "first_at": clock() - timedelta(days=2)}
    changing.store(runtime, "default", "vic", known)

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
    clock.advance(seconds=3)
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
