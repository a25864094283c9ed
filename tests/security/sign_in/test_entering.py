"""Attacks on guests of before, who sign in: on their codes, links and addresses."""

from dataclasses import replace
from typing import Any

import pytest

from app import create_app
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.runtime import Runtime
from tests.comments.support.guests import (
    COMMENTS,
    CONFIRMATION,
    ORIGIN,
    PAGE,
    GuestSite,
    stored,
    wanted,
)
from tests.support.commands import Commands
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers


def ask(site: GuestSite, **said: Any) -> Reply:
    given = {"email": "ann@mail.example", "return_to": PAGE, **said}
    return site.client.post("/sites/blog/sign-in", **given)


def exchange(site: GuestSite, code: str, of: str = "blog") -> Reply:
    return site.client.post(f"/sites/{of}/sign-in/token", code=code)


def code_of(site: GuestSite) -> str:
    """Ask for a letter, press its button, and return the code."""
    assert ask(site).status == 202
    page, _, code = site.press().headers["Location"].partition("#plaza-guest=")
    assert page == PAGE
    return code


def test_a_guest_comes_back_as_who_they_were(known: GuestSite) -> None:
    (person,) = PEOPLE.of(known.runtime.database).find()

    entered = exchange(known, code_of(known)).json

    assert (entered["id"], entered["name"]) == (person["user_id"], "Passenger")
    back = known.holding(entered["token"])
    assert back.post(COMMENTS, text="I am back").json["state"] == "visible"
    assert back.get("/me").json["id"] == person["user_id"]


def test_of_several_guests_of_an_address_the_first_comes_back(known: GuestSite) -> None:
    (first,) = PEOPLE.of(known.runtime.database).find()
    known.clock.advance(minutes=1)
    known.guest("Pilot", email="ANN@mail.example")
    known.press()

    assert exchange(known, code_of(known)).json["id"] == first["user_id"]


def test_a_page_of_a_sign_in_asks_by_name_and_changes_nothing(known: GuestSite) -> None:
    ask(known, language="fr")
    before = stored(known.runtime)

    page = known.client.get(f"{CONFIRMATION}?token={known.link()}").body.decode()

    assert "\u00c9crire \u00e0 nouveau sur blog" in page
    assert "<bdi>Passenger</bdi>" in page
    assert stored(known.runtime) == before


def test_an_address_without_a_guest_is_answered_alike_and_gets_no_letter(
    known: GuestSite, listened: Runtime, commands: Commands
) -> None:
    heard = replace(known, client=Client(create_app(listened), known.client.token))
    commands.names.clear()
    of_known = ask(heard).json, [*commands.names]
    commands.names.clear()

    assert (ask(heard, email="new@mail.example").json, [*commands.names]) == of_known
    assert len(wanted(known)) == 2


@pytest.mark.parametrize(("seconds", "status"), [(-1, 302), (0, 404)])
def test_a_link_of_a_sign_in_ends_after_fifteen_minutes(
    known: GuestSite, seconds: int, status: int
) -> None:
    ask(known)

    known.clock.advance(minutes=15, seconds=seconds)

    assert known.press().status == status


@pytest.mark.parametrize(("seconds", "status"), [(-1, 200), (0, 404)])
def test_a_code_ends_after_two_minutes(known: GuestSite, seconds: int, status: int) -> None:
    code = code_of(known)

    known.clock.advance(minutes=2, seconds=seconds)

    assert exchange(known, code).status == status


def test_a_code_and_a_link_of_a_sign_in_work_once(known: GuestSite) -> None:
    ask(known)
    token = known.link()
    code = known.press(token).headers["Location"].rpartition("=")[2]

    assert known.press(token).code == "unknown_link"
    assert exchange(known, code).status == 200
    assert exchange(known, code).code == "unknown_link"


def test_a_code_is_no_link_and_a_link_no_code(known: GuestSite) -> None:
    code = code_of(known)
    ask(known)

    assert known.press(code).code == "unknown_link"
    assert exchange(known, known.link()).code == "unknown_link"
    assert exchange(known, code, of="shop").code == "guests_off"
    assert exchange(known, "A" * 43).code == "unknown_link"


def test_a_code_of_one_site_is_none_at_another(known: GuestSite) -> None:
    code = code_of(known)
    # The other site has guests of the same kind.
    given = {"guests": "email", "origins": [ORIGIN]}
    assert known.admin.put("/sites/shop/comments/settings", **given).status == 200

    assert exchange(known, code, of="shop").code == "unknown_link"
    assert exchange(known, code).status == 200


def test_a_site_without_such_guests_signs_nobody_in(known: GuestSite) -> None:
    code = code_of(known)
    known.decide(guests="name")

    assert ask(known).code == exchange(known, code).code == "guests_off"


def test_without_mail_nobody_signs_in(known: GuestSite) -> None:
    object.__setattr__(known.runtime.settings, "mail_folder", "")

    assert ask(known).code == "mail_off"


def test_an_erased_guest_does_not_come_back(known: GuestSite, workers: Workers) -> None:
    entered = exchange(known, code_of(known)).json
    code = code_of(known)
    assert known.holding(entered["token"]).delete("/users/me").status == 202
    workers.drain()

    assert exchange(known, code).code == "unknown_link"


@pytest.mark.parametrize("page", ["https://evil.example/", f"{ORIGIN}@evil.example/", "//blog"])
def test_a_sign_in_leads_back_to_pages_of_the_site_alone(known: GuestSite, page: str) -> None:
    assert ask(known, return_to=page).code == "invalid_request"
