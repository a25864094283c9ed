"""An account claims a guest and erases itself, while a call of the guest is still running."""

from typing import Any

import pytest

from chalicelib.comments.writing import post
from chalicelib.jobs import outbox
from chalicelib.social.messages import JOB
from tests.comments.support.guests import GuestSite
from tests.comments.support.joining import account, authors, id_of, join, posted
from tests.support.people import remaining
from tests.support.workers import Workers


def test_a_comment_that_a_guest_sends_meanwhile_does_not_stay(
    site: GuestSite, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.decide(guests="name")
    writer = site.guest("Passenger", email=None, return_to=None)
    former, ann = id_of(writer), account(site)
    posted(writer, "Early")
    add = post._add

    def add_after_the_erasure(*given: Any) -> Any:
        monkeypatch.setattr(post, "_add", add)
        assert join(ann, writer).status == 202
        assert ann.delete("/users/me").status == 202
        workers.drain()
        return add(*given)

    monkeypatch.setattr(post, "_add", add_after_the_erasure)
    posted(writer, "Late")
    assert [each for each, _ in authors(site)] == [former]

    for _ in range(2):
        site.clock.advance(minutes=21)
        outbox.sweep(site.runtime, JOB)
        workers.drain()

    assert authors(site) == []
    assert remaining(site.runtime, former) == 0
