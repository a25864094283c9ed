"""Attacks on the claim of imported people by an address."""

import threading
from typing import Any

import pytest

from chalicelib.comments.importing.shapes import Item
from tests.comments.support.guests import PAGE, GuestSite
from tests.comments.support.importing import author, bring, comment, thread
from tests.comments.support.joining import ANN, EVE, JOINED, account, authors
from tests.support.issuing import ISS, SECRET, IssuingSite

ADDRESS = "ann@mail.example"
VERIFIED = {"email": ADDRESS, "email_verified": True}


@pytest.fixture
def old(site: GuestSite) -> GuestSite:
    """The site, into which a comment of the address was imported."""
    items: list[Item] = [thread(url=PAGE), comment("1", 9, author=author("Old Ann", email=ADDRESS))]
    assert bring(site.runtime, items, site="blog")["status"] == "done"
    return site


def issuing(old: GuestSite, *, is_trusted: bool) -> IssuingSite:
    made = IssuingSite(old.client, old.runtime, old.clock)
    made.accept("accounts", secret=SECRET, trust_email=is_trusted)
    return made


def test_of_two_accounts_with_the_address_one_has_the_past(old: GuestSite) -> None:
    eve, ann = account(old, EVE, "Eve", ADDRESS), account(old, email=ADDRESS)
    assert [each["name"] for each in ann.get(JOINED).json["people"]] == ["Old Ann"]

    assert eve.post(JOINED).json["people"] != []
    late = ann.post(JOINED)

    assert (late.status, late.json) == (202, {"people": []})
    assert authors(old) == [(EVE, "Eve")]


def test_of_accounts_at_once_one_has_the_past(old: GuestSite) -> None:
    accounts = [account(old, f"p_{each:022}", f"Name {each}", ADDRESS) for each in range(4)]
    barrier, taken = threading.Barrier(len(accounts)), list[bool]()

    def take(reader: Any) -> None:
        barrier.wait()
        reply = reader.post(JOINED)
        taken.append(reply.status == 202 and reply.json["people"] != [])

    threads = [threading.Thread(target=take, args=[each]) for each in accounts]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert taken.count(True) == 1
    assert len(set(authors(old))) == 1


def test_an_issuer_that_the_site_trusts_proves_an_address(old: GuestSite) -> None:
    ann = issuing(old, is_trusted=True).person(**VERIFIED)

    assert [each["name"] for each in ann.post(JOINED).json["people"]] == ["Old Ann"]


def test_the_deployments_issuer_proves_an_address(old: GuestSite) -> None:
    ann = old.client.as_("ann", name="Ann", **VERIFIED)

    assert [each["name"] for each in ann.get(JOINED).json["people"]] == ["Old Ann"]
    assert ann.post(JOINED).status == 202
    assert authors(old) == [("ann", "Ann")]


@pytest.mark.parametrize("is_verified", [None, False, "true"])
def test_an_address_that_the_deployments_issuer_has_not_verified_claims_nobody(
    old: GuestSite, *, is_verified: Any
) -> None:
    ann = old.client.as_("ann", name="Ann", email=ADDRESS, email_verified=is_verified)

    assert ann.get(JOINED).json == ann.post(JOINED).json == {"people": []}
    assert [name for _, name in authors(old)] == ["Old Ann"]


@pytest.mark.parametrize(
    ("said", "is_trusted"),
    [
        (VERIFIED, False),
        ({"email": ADDRESS}, True),
        ({"email": ADDRESS, "email_verified": False}, True),
        ({"email": ADDRESS, "email_verified": "true"}, True),
    ],
    ids=str,
)
def test_an_address_that_no_trusted_issuer_has_verified_claims_nobody(
    old: GuestSite, said: Any, *, is_trusted: bool
) -> None:
    ann = issuing(old, is_trusted=is_trusted).person(**said)

    assert ann.get(JOINED).json == {"people": []}
    assert ann.post(JOINED).json == {"people": []}
    assert [name for _, name in authors(old)] == ["Old Ann"]


def test_an_issuer_of_another_site_claims_nobody(old: GuestSite) -> None:
    given = {"iss": ISS, "secret": SECRET, "trust_email": True}
    assert old.admin.put("/sites/shop/issuers/accounts", **given).status in (200, 201)
    elsewhere = issuing(old, is_trusted=True)
    ann = elsewhere.person(aud="plaza:shop", **VERIFIED)

    assert ann.get("/sites/shop/people/me/joined").json == {"people": []}
    assert ann.post(JOINED).status == 401
    assert [name for _, name in authors(old)] == ["Old Ann"]


def test_a_token_of_a_guest_with_the_address_in_the_file_claims_nobody(old: GuestSite) -> None:
    guest = old.guest()
    old.press()

    assert guest.get(JOINED).json == {"people": []}
    assert account(old, ANN).post(JOINED).json == {"people": []}
