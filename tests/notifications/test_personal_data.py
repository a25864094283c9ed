"""Notifications of a person who exports, erases, or joins a past with an account."""

import pytest

from chalicelib.notifications.rows import INBOXES, ITEMS
from chalicelib.runtime import Runtime
from tests.comments.support.guest_fixtures import settings, site
from tests.comments.support.guests import GuestSite
from tests.comments.support.joining import ANN, account, id_of, join, posted
from tests.support.http_client import Client
from tests.support.people import remaining
from tests.support.workers import Workers

__all__ = ["settings", "site"]


def kinds(client: Client) -> list[tuple[str, str]]:
    found = client.get("/notifications").json["notifications"]
    return [(each["kind"], each["excerpt"]) for each in found]


@pytest.fixture
def told(site: GuestSite) -> GuestSite:
    """A site that lets guests write, and tells of comments."""
    site.decide(guests="name", notifications=True)
    return site


def test_an_export_has_the_inbox_and_an_erasure_leaves_nothing_of_it(
    told: GuestSite, runtime: Runtime, workers: Workers
) -> None:
    ann, bob = (told.client.as_(each, name=each.title()) for each in ("ann", "bob"))
    first = posted(ann)
    answer = posted(bob, "It is", parent=first)
    posted(ann, "Is it not?", parent=answer)
    workers.drain()
    assert ann.put("/notifications/seen", until="2026-01-01T00:00:00Z").status == 204
    exported = ann.get("/users/me/export?limit=200").json["entries"]
    assert {"notification", "inbox"} <= {each["kind"] for each in exported}

    assert ann.delete("/users/me").status == 202
    workers.drain()

    assert remaining(runtime, "ann") == 0
    assert (
        ITEMS.of(runtime.database).count_documents({"$or": [{"user_id": "ann"}, {"by": "ann"}]})
        == 0
    )
    assert INBOXES.of(runtime.database).count_documents({"_id": "ann"}) == 0
    assert kinds(bob) == []


def test_a_guests_notifications_become_the_accounts(told: GuestSite, workers: Workers) -> None:
    guest = told.guest("Passenger", email=None, return_to=None)
    bob = told.client.as_("bob", name="Bob")
    first = posted(guest)
    posted(bob, "It is", parent=first)
    workers.drain()
    assert kinds(guest) == [("comment.reply", "It is")]
    ann = account(told)

    assert join(ann, guest).status == 202
    workers.drain()

    assert kinds(ann) == [("comment.reply", "It is")]
    assert ITEMS.of(told.runtime.database).count_documents({"user_id": {"$ne": ANN}}) == 0
    later = posted(bob, "Is it?", parent=first)
    workers.drain()
    assert len(kinds(ann)) == 2
    assert id_of(ann) == ANN
    assert later
