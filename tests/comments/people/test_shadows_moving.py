"""A shadowed person sees their first comment of a page, whatever overtakes or ends its post."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.comments import jobs, nodes
from chalicelib.comments.lifecycle.relocation import relocate
from chalicelib.comments.people import changing
from chalicelib.comments.stores import promotion
from chalicelib.comments.writing import post
from chalicelib.runtime import Runtime
from tests.comments.support.crashes import Crash, crash
from tests.support.clock import Clock
from tests.support.http_client import Client

NODE, THERE = "/nodes/blog:moon", "/nodes/blog:sun"
COMMENTS = f"{NODE}/comments"


@pytest.fixture
def troll(client: Client, runtime: Runtime) -> Client:
    moderator = client.as_("mo", roles=["moderator"], sites=["blog"])
    page = {"title": "Moon", "url": "https://blog.example/moon"}
    assert moderator.put(NODE, **page, store="documents", threaded=False).status == 201
    changing.store(runtime, "blog", "troll", {"status": "shadowed"})
    return client.as_("troll")


def texts(client: Client, path: str = COMMENTS) -> list[str]:
    reply = client.get(path)
    assert reply.status == 200, reply.body
    return [each["text"] for each in reply.json["comments"]]


def overtake(monkeypatch: pytest.MonkeyPatch, move: Callable[[Runtime], Any]) -> None:
    """Have a move end between a post's comment and its confirmation."""
    add = post._add

    def overtaken(runtime: Runtime, node: Any, comment: Any) -> Any:
        monkeypatch.setattr(post, "_add", add)
        added = add(runtime, node, comment)
        move(runtime)
        return added

    monkeypatch.setattr(post, "_add", overtaken)


def test_a_move_to_another_store_overtakes_the_post(
    troll: Client, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    overtake(monkeypatch, lambda runtime: promotion.move(runtime, "blog:moon", "buckets"))

    assert troll.post(COMMENTS, text="buy").status == 201

    assert texts(troll) == ["buy"]
    assert texts(client) == []


def test_a_move_to_another_id_overtakes_the_post(
    troll: Client, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    overtake(monkeypatch, lambda runtime: relocate(runtime, "blog:moon", "blog:sun"))

    assert troll.post(COMMENTS, text="buy").status == 201

    assert texts(troll, f"{THERE}/comments") == ["buy"]
    assert texts(client, f"{THERE}/comments") == []


def test_the_comparison_of_counts_finds_a_post_that_ended_before_its_count(
    troll: Client, client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(nodes, "count", crash)
        with pytest.raises(Crash):
            troll.post(COMMENTS, text="buy")
    clock.advance(minutes=21)

    jobs.run_due(runtime)

    assert texts(troll) == ["buy"]
    assert texts(client) == []


def test_a_page_that_moves_keeps_what_a_shadowed_person_sees(
    troll: Client, runtime: Runtime
) -> None:
    troll.post(COMMENTS, text="buy")
    relocate(runtime, "blog:moon", "blog:sun")

    assert texts(troll, f"{THERE}/comments") == ["buy"]
