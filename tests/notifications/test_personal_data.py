"""Notifications of a person who exports, erases, or joins a past with an account."""

import pytest

from chalicelib.jobs import outbox
from chalicelib.notifications import mailing, personal_data
from chalicelib.notifications.mailing import MAILINGS
from chalicelib.notifications.rows import INBOXES, ITEMS
from chalicelib.runtime import Runtime
from chalicelib.social.messages import JOB
from tests.comments.support.guest_fixtures import settings, site
from tests.comments.support.guests import GuestSite
from tests.comments.support.joining import ANN, account, id_of, join, posted
from tests.notifications.support.mailbox import run, state_of, tell, turn_on, written
from tests.support.clock import Clock
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
    assert ann.put("/notifications/mail", every="daily", email="ann@plaza.example").status == 200
    exported = ann.get("/users/me/export?limit=200").json["entries"]
    assert {"notification", "inbox", "notification_mail"} <= {each["kind"] for each in exported}

    assert ann.delete("/users/me").status == 202
    workers.drain()

    assert remaining(runtime, "ann") == 0
    assert (
        ITEMS.of(runtime.database).count_documents({"$or": [{"user_id": "ann"}, {"by": "ann"}]})
        == 0
    )
    for each in (INBOXES, MAILINGS):
        assert each.of(runtime.database).count_documents({"_id": "ann"}) == 0
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


@pytest.mark.parametrize("is_withheld", [False, True])
def test_what_a_guest_is_told_during_a_join_counts_for_the_account(
    runtime: Runtime, *, is_withheld: bool
) -> None:
    """An edited reply names the guest again, and the account no more."""
    tell(runtime, "1", "guest")
    personal_data.give(runtime.database, "harbour", "guest", "ann")
    of_ann = {"wanted": False, **({"withheld": True} if is_withheld else {})}
    ITEMS.of(runtime.database).update_one({"user_id": "ann"}, {"$set": of_ann})
    tell(runtime, "1", "guest")

    personal_data.give(runtime.database, "harbour", "guest", "ann")

    (kept,) = ITEMS.of(runtime.database).find()
    assert (kept["user_id"], kept["wanted"]) == ("ann", not is_withheld)


def test_a_guests_letters_become_the_accounts_unless_it_has_its_own(
    told: GuestSite, workers: Workers, clock: Clock
) -> None:
    runtime = told.runtime
    guest = told.guest("Passenger", email=None, return_to=None)
    guest_id = id_of(guest)
    turn_on(runtime, guest_id, every="daily", hour=5)
    clock.advance(seconds=1)
    tell(runtime, "1", guest_id)
    ann = account(told, email="ann@plaza.example")

    assert join(ann, guest).status == 202
    workers.drain()

    assert mailing.find(runtime, guest_id) is None
    given = state_of(runtime, ANN)
    assert (given["hour"], given["email"]) == (5, "ann@plaza.example")

    turn_on(runtime, "other", every="weekly")
    mailing.give(runtime, "other", ANN, [])
    assert mailing.find(runtime, "other") is None
    assert given["former"] == [guest_id]
    assert state_of(runtime, ANN) == {
        **given,
        "former": [guest_id, "other"],
        "wakes": given["wakes"] + 1,
    }


@pytest.mark.parametrize("verified", ["", "ann@plaza.example"])
def test_an_address_that_is_not_the_accounts_gets_none_of_its_letters(
    told: GuestSite, workers: Workers, verified: str
) -> None:
    """Whoever used the guest's browser before may have confirmed an address of their own."""
    runtime = told.runtime
    guest = told.guest("Passenger", email=None, return_to=None)
    guest_id = id_of(guest)
    turn_on(runtime, guest_id, "eve@plaza.example")
    ann = account(told, email=verified)

    assert join(ann, guest).status == 202
    workers.drain()

    assert ann.get("/notifications/mail").json["state"] == "off"
    assert MAILINGS.of(runtime.database).count_documents({}) == 0


def test_an_account_with_letters_of_its_own_keeps_them_whatever_a_guest_had(
    told: GuestSite, workers: Workers
) -> None:
    runtime = told.runtime
    guest = told.guest("Passenger", email=None, return_to=None)
    turn_on(runtime, id_of(guest), every="daily")
    turn_on(runtime, ANN, every="weekly")

    assert join(account(told), guest).status == 202
    workers.drain()

    kept = state_of(runtime, ANN)
    assert (kept["every"], kept["former"]) == ("weekly", [id_of(guest)])


@pytest.mark.parametrize("has_seen", [False, True])
def test_a_guests_due_letter_comes_at_its_hour_after_a_join(
    told: GuestSite, workers: Workers, clock: Clock, *, has_seen: bool
) -> None:
    runtime = told.runtime
    guest = told.guest("Passenger", email=None, return_to=None)
    first = posted(guest)
    turn_on(runtime, id_of(guest), every="daily", hour=5)
    clock.advance(seconds=1)
    posted(told.client.as_("bob", name="Bob"), "It is", parent=first)
    workers.drain()
    clock.advance(seconds=1)
    if has_seen:
        assert guest.put("/notifications/seen", until=clock().isoformat()).status == 204
    due = state_of(runtime, id_of(guest))["next_due"]
    ann = account(told, email="Ann@plaza.example")

    assert join(ann, guest).status == 202
    workers.drain()
    clock.advance(seconds=(due - clock()).total_seconds())

    assert run(runtime) == (0 if has_seen else 1)
    assert [each["to"] for each in written(runtime)] == ([] if has_seen else ["ann@plaza.example"])


def test_a_guests_news_are_in_the_next_letter_of_an_account_with_its_own(
    told: GuestSite, workers: Workers, clock: Clock
) -> None:
    runtime = told.runtime
    guest = told.guest("Passenger", email=None, return_to=None)
    first = posted(guest)
    for each in (id_of(guest), ANN):
        turn_on(runtime, each, every="daily", hour=5)
    clock.advance(days=1)
    assert run(runtime) == 0
    posted(told.client.as_("bob", name="Bob"), "It is", parent=first)
    workers.drain()

    assert join(account(told), guest).status == 202
    workers.drain()
    clock.advance(days=1)

    assert run(runtime) == 1


def test_an_erasure_leaves_nothing_that_a_joined_guest_chose_meanwhile(
    told: GuestSite, workers: Workers, clock: Clock
) -> None:
    runtime = told.runtime
    guest = told.guest("Passenger", email=None, return_to=None)
    guest_id, ann = id_of(guest), account(told)
    posted(guest)
    assert guest.put("/notifications/seen", until=clock().isoformat()).status == 204
    assert join(ann, guest).status == 202
    clock.advance(minutes=21)
    outbox.sweep(runtime, JOB)
    workers.drain()
    assert remaining(runtime, guest_id) == 1, "the document that says whose the past is"
    assert guest.put("/notifications/seen", until=clock().isoformat()).status == 204
    # A call from before the join may store its choice now.
    turn_on(runtime, guest_id, "a@b.example")

    assert ann.delete("/users/me").status == 202
    workers.drain()

    assert [remaining(runtime, each) for each in (guest_id, ANN)] == [0, 0]


def test_an_erasure_leaves_a_setting_from_after_it(told: GuestSite, clock: Clock) -> None:
    runtime = told.runtime
    before = runtime.now()
    clock.advance(seconds=1)
    turn_on(runtime)

    personal_data.erase(runtime, "ann", before)
    assert mailing.find(runtime, "ann") is not None
    personal_data.erase(runtime, "ann", runtime.now())
    assert mailing.find(runtime, "ann") is None
