"""Erasures of accounts whose claimed past lies in a node that moves meanwhile."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.comments import nodes, personal_data
from chalicelib.comments.shapes import StoreName
from chalicelib.comments.stores import promotion
from chalicelib.jobs import outbox
from chalicelib.people.features import Step
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
        # The move has read its batches, and has yet to write them.
        read = [iter(list(each)) if isinstance(each, Iterator) else each for each in given]
        claim_and_erase(workers, ann)
        return former(*read)

    monkeypatch.setattr(owner, name, go_on_after_the_erasure)
    monkeypatch.setattr("chalicelib.comments.stores.waits", lambda _: iter([None]))
    wanted: StoreName = "documents" if node["store"] == "buckets" else "buckets"
    promotion.move(site.runtime, node["_id"], wanted)
    go_on(site, workers)

    shown = site.client.get(f"/nodes/{node['_id']}/comments").body
    assert b"OldAnn" not in shown
    assert remaining(site.runtime, ANN) == 0


def test_a_move_that_ends_within_a_step_is_looked_at_again(
    site: GuestSite, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The move has read a batch before the claim, and writes it behind the step's carrying."""
    lines: list[Any] = [thread(url=PAGE), comment("1", 9, author=OLD)]
    assert bring(site.runtime, lines, site="blog", format="plaza")["status"] == "done"
    ann = account(site, email="ann@mail.example")
    node = nodes.NODES.of(site.runtime.database).find_one({"site": "blog", "url": PAGE})
    assert node is not None
    of, find = promotion.MoveTally.of, personal_data._find
    has_read, may_write = threading.Event(), threading.Event()

    def read_and_wait(tally: Any, batches: Any) -> Any:
        read = list(batches)
        has_read.set()
        assert may_write.wait(30)
        return of(tally, iter(read))

    monkeypatch.setattr(promotion.MoveTally, "of", read_and_wait)
    monkeypatch.setattr("chalicelib.comments.stores.waits", lambda _: iter([None]))
    wanted: StoreName = "documents" if node["store"] == "buckets" else "buckets"
    with ThreadPoolExecutor(1) as pool:
        moved = pool.submit(promotion.move, site.runtime, node["_id"], wanted)
        assert has_read.wait(30)
        assert ann.post(JOINED).status == 202
        assert personal_data.erase(site.runtime, ANN) is Step.BUSY

        def find_after_the_move(*given: Any) -> Any:
            may_write.set()
            moved.result(30)
            return find(*given)

        monkeypatch.setattr(personal_data, "_find", find_after_the_move)
        assert personal_data.erase(site.runtime, ANN) is Step.BUSY
        monkeypatch.setattr(personal_data, "_find", find)

    assert personal_data.erase(site.runtime, ANN) is Step.DONE
    assert b"OldAnn" not in site.client.get(f"/nodes/{node['_id']}/comments").body
    workers.drain()
