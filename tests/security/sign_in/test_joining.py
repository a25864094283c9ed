"""Attacks on the join of a guest's past with an account."""

import threading
from typing import Any

import pytest

from chalicelib.comments.people.rows import PEOPLE
from chalicelib.runtime import Runtime
from tests.comments.support.guests import COMMENTS, SITE, GuestSite
from tests.comments.support.joining import (
    ANN,
    EVE,
    JOINED,
    account,
    authors,
    id_of,
    join,
    person,
    posted,
    token_of,
)
from tests.support.http_client import Client


@pytest.fixture
def writer(site: GuestSite) -> Client:
    """A guest with a confirmed address and a comment."""
    made = site.guest()
    site.press()
    posted(made)
    return made


def test_nobody_takes_a_guest_by_their_id_or_name_or_address_alone(
    site: GuestSite, writer: Client
) -> None:
    eve = account(site, EVE, "Eve")
    for body in ({"token": id_of(writer)}, {"token": "guest.e30.AAAA"}, {"token": ""}):
        assert (eve.post(JOINED, **body).code) == "invalid_request"
    assert eve.post(JOINED, person=id_of(writer)).code == "invalid_request"
    assert eve.post(JOINED).json == {"people": []}
    assert eve.get(JOINED).json == {"people": []}

    assert authors(site) == [(id_of(writer), "Passenger")]


def test_a_token_of_another_site_or_that_has_ended_proves_nobody(
    site: GuestSite, writer: Client
) -> None:
    site.admin.put("/nodes/shop:lamp", title="Lamp", url="https://shop.example/")
    site.admin.put("/sites/shop/comments/settings", guests="name")
    site.clock.advance(seconds=6)
    elsewhere = site.client.post("/sites/shop/guests", name="Passenger").json["token"]
    reader = site.client.as_("ann", name="Ann")

    assert reader.post(JOINED, token=elsewhere).code == "invalid_request"
    assert reader.post("/sites/shop/people/me/joined", token=token_of(writer)).status == 422
    site.clock.advance(days=91)
    assert reader.post(JOINED, token=token_of(writer)).code == "invalid_request"


def test_an_account_of_another_site_takes_nobody(site: GuestSite, writer: Client) -> None:
    ann = account(site)

    assert ann.post("/sites/shop/people/me/joined", token=token_of(writer)).status == 401


def test_a_guest_takes_nobody(site: GuestSite, writer: Client) -> None:
    other = site.guest("Pilot", email="bob@mail.example")

    refused = join(other, writer)

    assert (refused.status, refused.code) == (403, "forbidden")
    assert writer.get(JOINED).json == {"people": []}


def test_staff_takes_no_guest_without_their_token(site: GuestSite, writer: Client) -> None:
    assert site.admin.post(JOINED).json == {"people": []}

    assert authors(site) == [(id_of(writer), "Passenger")]


def test_one_account_alone_takes_a_guest(site: GuestSite, writer: Client) -> None:
    assert join(account(site), writer).status == 202

    refused = join(account(site, EVE, "Eve"), writer)

    assert (refused.status, refused.code) == (409, "person_taken")
    assert authors(site) == [(ANN, "Ann")]


def test_of_accounts_at_once_one_takes_a_guest(site: GuestSite, writer: Client) -> None:
    accounts = [account(site, f"p_{number:022}", f"Name {number}") for number in range(4)]
    barrier, ends = threading.Barrier(len(accounts)), list[int]()

    def take(reader: Client) -> None:
        barrier.wait()
        ends.append(join(reader, writer).status)

    threads = [threading.Thread(target=take, args=[each]) for each in accounts]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert sorted(ends) == [202, 409, 409, 409]
    assert len(set(authors(site))) == 1


def test_the_token_of_a_joined_guest_writes_nothing(site: GuestSite, writer: Client) -> None:
    site.decide(votes="up_down", reactions=[{"key": "heart", "emoji": "\u2764"}])
    bobs = posted(site.client.as_("bob", name="Bob"), "By Bob")
    own = site.client.get(COMMENTS).json["comments"][0]["id"]
    join(account(site), writer)

    refused = {
        "post": writer.post(COMMENTS, text="Again"),
        "vote": writer.put(f"{COMMENTS}/{bobs}/vote", value=1),
        "react": writer.put(f"{COMMENTS}/{bobs}/reactions/heart"),
        "flag": writer.put(f"{COMMENTS}/{bobs}/flag", reason="spam"),
    }

    assert {name: reply.status for name, reply in refused.items()} == dict.fromkeys(refused, 401)
    assert writer.patch(f"{COMMENTS}/{own}", text="Changed").status == 403
    assert writer.delete(f"{COMMENTS}/{own}").status == 403


def test_a_joined_guest_begins_anew_as_somebody_else(site: GuestSite, writer: Client) -> None:
    former = id_of(writer)
    join(account(site), writer)

    said = {"email": "ann@mail.example", "return_to": "https://blog.example/"}
    begun = writer.post(f"{SITE}/guests", name="Passenger", **said)

    assert begun.status == 201
    assert begun.json["id"] != former


def test_a_letter_brings_no_joined_guest_back(site: GuestSite, writer: Client) -> None:
    asked = {"email": "ann@mail.example", "return_to": "https://blog.example/"}
    site.client.post(f"{SITE}/sign-in", **asked)
    link = site.link()

    join(account(site), writer)

    assert site.press(link).status == 404
    before = len(site.letters())
    assert site.client.post(f"{SITE}/sign-in", **asked).status == 202
    assert [each["state"] for each in site.letters()[before:]] != ["waiting"]


@pytest.mark.parametrize("status", ["banned", "shadowed"])
def test_a_guest_whom_moderators_hold_back_is_not_washed(
    site: GuestSite, writer: Client, status: str
) -> None:
    assert site.admin.patch(f"{SITE}/people/{id_of(writer)}", status=status).status == 200

    ann = account(site)
    join(ann, writer)

    assert person(site, ANN)["status"] == status
    told = ann.get(f"{SITE}/people/{ANN}").json["status"]
    assert told == ("banned" if status == "banned" else "ok")


def test_the_address_of_a_banned_guest_stays_banned_as_its_account_is(
    site: GuestSite, writer: Client
) -> None:
    site.admin.patch(f"{SITE}/people/{id_of(writer)}", status="banned")
    join(account(site), writer)

    again = site.guest("Pilot")
    site.press()
    assert again.post(COMMENTS, text="Back").code == "banned"
    for user in (ANN, id_of(again)):
        assert site.admin.patch(f"{SITE}/people/{user}", status="ok").status == 200
    other = site.guest("Captain")
    site.press()

    assert other.post(COMMENTS, text="Back").status == 201


class TestAddresses:
    """A verified address proves who has confirmed it."""

    def test_the_same_address_takes_a_guest_without_their_token(
        self, site: GuestSite, writer: Client
    ) -> None:
        ann, former = account(site, email="ann@mail.example"), id_of(writer)

        found = ann.get(JOINED).json["people"]
        taken = ann.post(JOINED).json["people"]

        assert found == taken == [{"id": former, "name": "Passenger"}]
        assert authors(site) == [(ANN, "Ann")]
        assert ann.get(JOINED).json == {"people": []}

    def test_another_address_or_none_takes_nobody(self, site: GuestSite, writer: Client) -> None:
        for email in ("eve@mail.example", ""):
            eve = account(site, EVE, "Eve", email)
            assert eve.post(JOINED).json == {"people": []}
        assert authors(site) == [(id_of(writer), "Passenger")]

    def test_a_guest_who_has_not_confirmed_the_address_is_not_its(self, site: GuestSite) -> None:
        waiting = site.guest()
        posted(waiting)

        assert account(site, email="ann@mail.example").post(JOINED).json == {"people": []}

    def test_a_guests_address_of_another_site_proves_nothing_here(
        self, site: GuestSite, writer: Client, runtime: Runtime
    ) -> None:
        del writer
        moved: Any = {"$set": {"site": "shop"}}
        PEOPLE.of(runtime.database).update_many({"name": "Passenger"}, moved)

        assert account(site, email="ann@mail.example").post(JOINED).json == {"people": []}
