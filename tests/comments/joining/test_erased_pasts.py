"""Erasures of accounts whose claimed past lies in a node that moves meanwhile."""

from typing import Any

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.shapes import StoreName
from chalicelib.comments.stores import promotion
from chalicelib.jobs import outbox
from chalicelib.social.messages import JOB
from tests.comments.support.guests import PAGE, GuestSite
from tests.comments.support.importing import author, bring, comment, thread
from tests.comments.support.joining import ANN, JOINED, account
from tests.support.http_client import Client
from tests.support.people import remaining
from tests.support.workers import Workers

OLD = author("OldAnn", account="7", email="ann@mail.example")


def claim_and_erase(workers: Workers, ann: Client) -> None:
    assert ann.post(JOINED).status == 202
    workers.drain()
    assert ann.delete("/users/me").status == 202
    workers.drain()


def go_on(site: GuestSite, workers: Workers) -> None:
    """Let the erasure go on until it has looked for late writes."""
    for _ in range(4):
        site.clock.advance(minutes=21)
        outbox.sweep(site.runtime, JOB)
        workers.drain()


@pytest.mark.parametrize("step", ["MoveTally.of", "_switch"])
def test_an_erasure_during_a_move_leaves_nothing_of_the_claimed_past(
    site: GuestSite, workers: Workers, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    own: Any = {"mentions": [{"id": "7", "name": "OldAnn"}]}
    bob = comment("2", 8, author=author("Bob"), text="Hi @OldAnn", own=own)
    lines: list[Any] = [thread(url=PAGE), comment("1", 9, author=OLD), bob]
    assert bring(site.runtime, lines, site="blog", format="plaza")["status"] == "done"
    ann = account(site, email="ann@mail.example")
    node = nodes.NODES.of(site.runtime.database).find_one({"site": "blog", "url": PAGE})
    assert node is not None
    place, _, name = step.rpartition(".")
    owner = getattr(promotion, place) if place else promotion
    former = getattr(owner, name)

    def go_on_after_the_erasure(*given: Any) -> Any:
        monkeypatch.setattr(owner, name, former)
        claim_and_erase(workers, ann)
        return former(*given)

    monkeypatch.setattr(owner, name, go_on_after_the_erasure)
    monkeypatch.setattr("chalicelib.comments.stores.waits", lambda _: iter([None]))
    wanted: StoreName = "documents" if node["store"] == "buckets" else "buckets"
    promotion.move(site.runtime, node["_id"], wanted)
    go_on(site, workers)

    shown = site.client.get(f"/nodes/{node['_id']}/comments").body
    assert b"OldAnn" not in shown
    assert remaining(site.runtime, ANN) == 0
