"""An account claims a guest and erases itself, in either order."""

from typing import Any

import pytest

from chalicelib.comments.writing import post
from chalicelib.jobs import outbox
from chalicelib.social.messages import JOB
from tests.comments.support.guests import COMMENTS, NODE, SITE, GuestSite
from tests.comments.support.joining import ANN, account, authors, id_of, join, person, posted
from tests.notifications.test_push_routes import form
from tests.support.people import remaining
from tests.support.workers import Workers


def end_erasures(site: GuestSite, workers: Workers) -> None:
    """Let the second look at who erased themselves run."""
    site.clock.advance(minutes=21)
    outbox.sweep(site.runtime, JOB)
    workers.drain()


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
        end_erasures(site, workers)

    assert authors(site) == []
    assert remaining(site.runtime, former) == 0


def test_a_past_waits_for_the_end_of_an_erasure(site: GuestSite, workers: Workers) -> None:
    site.decide(guests="name")
    writer = site.guest("Passenger", email=None, return_to=None)
    former, ann = id_of(writer), account(site)
    posted(writer, "Early")
    assert site.admin.patch(f"{SITE}/people/{former}", status="banned").status == 200
    assert ann.delete("/users/me").status == 202

    refused = [join(ann, writer).status]
    workers.drain()
    refused.append(join(ann, writer).status)
    end_erasures(site, workers)

    assert (refused, authors(site)) == ([503, 503], [(former, "Passenger")])
    assert join(ann, writer).status == 202
    assert authors(site) == [(ANN, "Ann")]
    assert site.admin.get(f"{SITE}/people/{ANN}").json["status"] == "banned"


def test_a_guest_who_is_being_erased_is_claimed_afterwards(
    site: GuestSite, workers: Workers
) -> None:
    site.decide(guests="name")
    writer = site.guest("Passenger", email=None, return_to=None)
    former, ann = id_of(writer), account(site)
    posted(writer, "Early")
    assert writer.delete("/users/me").status == 202
    workers.drain()

    assert join(ann, writer).status == 503
    end_erasures(site, workers)

    assert join(ann, writer).status == 202
    assert person(site, former)["joined"] == ANN


def test_the_token_of_a_joined_guest_erases_blocks_and_tells_nobody(
    site: GuestSite, workers: Workers
) -> None:
    site.decide(guests="name")
    writer = site.guest("Passenger", email=None, return_to=None)
    former = id_of(writer)
    posted(writer)
    join(account(site), writer)
    before = person(site, former)

    said = site.client.get(COMMENTS).json["comments"][0]["id"]
    for refused in (
        writer.delete("/users/me"),
        writer.put(f"{SITE}/blocked/bob"),
        writer.put("/notifications/push", **form()),
        writer.put("/notifications/mail", every="daily", email="eve@plaza.example"),
        writer.put("/notifications/preferences", kinds={}),
        writer.put(f"{NODE}/watch", level="watching"),
        writer.put(f"{COMMENTS}/{said}/watch", level="watching"),
    ):
        assert (refused.status, refused.code) == (401, "unauthenticated")
    workers.drain()

    assert person(site, former) == before
    assert writer.post(COMMENTS, text="Late").status == 401
