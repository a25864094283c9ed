"""Attacks on letters: on what stands in them, on mailboxes, and on the names of others."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app import create_app
from chalicelib.comments.sign_in import letters
from chalicelib.limits import SITE_LETTERS
from chalicelib.mail import events
from chalicelib.mail.events import MailEvent
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.guests import (
    COMMENTS,
    CONFIRMATION,
    GuestSite,
    stored,
    wanted,
)
from tests.support.commands import Commands
from tests.support.http_client import Client

# What goes into a letter.


@pytest.mark.parametrize(
    "address",
    [
        "ann@mail.example\r\nBcc: bo@mail.example",
        "ann@mail.example\nBcc: bo@mail.example",
        "ann\x00@mail.example",
        "ann@mail.example\x00",
        "ann@mail.example,bo@mail.example",
        "ann@mail.example;bo@mail.example",
        "Ann <ann@mail.example>",
        '"ann bo"@mail.example',
        "ann@bo@mail.example",
        "ann@[127.0.0.1]",
        "ann@localhost",
        "@mail.example",
        "ann@",
        "ann",
        f"{'a' * 64}@{'b' * 63}.{'c' * 63}.{'d' * 63}.{'e' * 60}.example",
        f"{'a' * 65}@mail.example",
        f"{'a' * 308}@mail.example",
        "\N{CYRILLIC SMALL LETTER A}nn@mail.example",
        "ann@mail.example\N{RIGHT-TO-LEFT OVERRIDE}",
    ],
)
def test_no_letter_goes_to_what_is_no_single_address(site: GuestSite, address: str) -> None:
    reply = site.begin(email=address)

    assert reply.code == "invalid_request"
    assert [each["field"] for each in reply.json["errors"]] == ["email"]
    assert stored(site.runtime) == [[], []]
    assert site.letters() == []


def test_an_address_of_another_script_is_written_in_ascii(site: GuestSite) -> None:
    site.guest(email="ann@b\N{LATIN SMALL LETTER U WITH DIAERESIS}cher.example")

    assert site.letters()[0]["to"] == "ann@xn--bcher-kva.example"


@pytest.mark.parametrize(
    "name",
    ["Ann\r\nBcc: bo@mail.example", "Ann\x00", "{link}", "{0.__class__}", "%s", "<b>Ann</b>"],
)
def test_a_name_is_refused_or_shown_as_text_and_in_no_letter(site: GuestSite, name: str) -> None:
    reply = site.begin(name)
    if reply.status != 201:
        assert [each["field"] for each in reply.json["errors"]] == ["name"]
        return

    (letter,) = site.letters()
    assert name not in letter["text"] + letter["subject"]
    page = site.client.get(f"{CONFIRMATION}?token={site.link()}").body.decode()
    assert name.replace("<", "&lt;").replace(">", "&gt;") in page


# Who has an address.


def told(site: GuestSite, email: str) -> Any:
    """Return what a caller is told of an address, without what is random."""
    reply = site.begin(email=email)
    drawn = ("id", "token")
    return reply.status, {each: reply.json[each] for each in reply.json if each not in drawn}


def refuse_mail(site: GuestSite, email: str) -> None:
    site.guest(email=email)
    (letter,) = (each for each in site.letters() if each.get("to") == email)
    bounce = {
        "eventType": "Bounce",
        "bounce": {"bounceType": "Permanent"},
        "mail": {"tags": {"address": letter["address_keys"]}},
    }
    events.apply(site.runtime, MailEvent.model_validate(bounce))


def fill(site: GuestSite, email: str) -> None:
    for _ in range(4):
        site.guest(email=email)


def confirm(site: GuestSite, email: str) -> None:
    site.guest("Somebody else", email=email)
    site.press()


class TestKnownAddresses:
    """Addresses of which a site knows something, under the limits of a deployment."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"limits": 1.0, "trusted_hops": 1})

    @pytest.mark.parametrize("known", [refuse_mail, fill, confirm])
    def test_the_answer_and_the_writes_are_those_of_any_address(
        self,
        site: GuestSite,
        listened: Runtime,
        commands: Commands,
        known: Callable[[GuestSite, str], None],
    ) -> None:
        known(site, "ann@mail.example")
        caller = Client(create_app(listened), site.client.token)
        heard = GuestSite(caller, listened, site.clock)
        commands.names.clear()
        of_known = told(heard, "ann@mail.example"), writes_of(commands)
        commands.names.clear()

        assert (told(heard, "new@mail.example"), writes_of(commands)) == of_known
        assert commands.names.count("insert") == 2

    def test_a_mailbox_gets_three_letters_at_once_whoever_asks(self, site: GuestSite) -> None:
        spellings = [f"{each}@mail.example" for each in ("ann", "ANN", "ann+1", "Ann+2+3")]
        for number in range(12):
            network = {"X-Forwarded-For": f"192.0.{number}.1, 10.0.0.1"}
            caller = Client(site.client.app, site.client.token, network)
            asked = replace(site, client=caller).begin(email=spellings[number % 4])
            assert asked.status == 201

        assert len(wanted(site)) == 3
        site.clock.advance(minutes=20)
        site.begin()
        assert len(wanted(site)) == 4

    def test_letters_that_a_site_withholds_use_up_no_other_sites_letters(
        self, site: GuestSite
    ) -> None:
        """A stranger signs in by Ann's address where Ann is no guest."""
        rules = {"guests": "email", "origins": ["https://other.example"]}
        assert site.admin.put("/sites/other/comments/settings", **rules).status == 200
        for number in range(12):
            network = {"X-Forwarded-For": f"192.0.{number}.1, 10.0.0.1"}
            asked = Client(site.client.app, site.client.token, network).post(
                "/sites/other/sign-in",
                email="ann@mail.example",
                return_to="https://other.example/",
            )
            assert asked.status == 202
        assert wanted(site) == []

        site.begin()

        assert len(wanted(site)) == 1

    def test_a_network_asks_for_ten_letters_at_once(self, site: GuestSite) -> None:
        replies = [site.begin(email=f"reader{number}@mail.example") for number in range(11)]

        assert [each.status for each in replies] == 10 * [201] + [429]
        assert len(site.letters()) == 10

    def test_a_site_has_a_bound_of_its_own(
        self, site: GuestSite, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(letters, "SITE_LETTERS", replace(SITE_LETTERS, burst=2))
        replies = [site.begin(email=f"reader{number}@mail.example") for number in range(3)]

        assert [each.status for each in replies] == [201, 201, 429]
        assert replies[2].code == "too_fast"
        assert len(site.letters()) == 2


def writes_of(commands: Commands) -> list[str]:
    return [each for each in commands.names if each != "find"]


# Names.


@pytest.mark.parametrize(
    "name", ["Bob", "8ob", "B\N{CYRILLIC SMALL LETTER O}b", "\N{FULLWIDTH LATIN SMALL LETTER B}ob"]
)
@pytest.mark.parametrize("owner", ["account", "guest"])
def test_no_guest_looks_like_an_account_or_a_confirmed_guest(
    site: GuestSite, name: str, owner: str
) -> None:
    if owner == "account":
        site.client.as_("bob", name="Bob").post(COMMENTS, text="Mine")
    else:
        site.guest("Bob")
        site.press()

    assert site.begin(name, email="eve@mail.example").code == "name_taken"
    assert len(site.letters()) == (0 if owner == "account" else 1)
