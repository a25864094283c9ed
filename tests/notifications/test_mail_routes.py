"""A reader's letters of notifications, by the API and by the links in letters."""

import re
from dataclasses import dataclass
from typing import Any

import pytest

from chalicelib.mail import events as mail_events
from chalicelib.mail.addressing import address_keys
from chalicelib.notifications import mail_links, mailing
from chalicelib.notifications.mailing import NEVER
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.mail.conftest import courier
from tests.mail.support.stand_in import StandIn
from tests.notifications.support.mailbox import ANN, run, state_of, tell, turn_on
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

__all__ = ["courier"]
MAIL = "/notifications/mail"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Office:
    """A deployment that sends letters, and the reader who asks for them."""

    runtime: Runtime
    workers: Workers
    courier: StandIn
    clock: Clock
    ann: Client

    def confirmation(self) -> str:
        """Have the reader ask, and return the link of the letter."""
        assert self.ann.put(MAIL, every="at_once", email=ANN).status == 200
        self.workers.drain()
        return link_of(self.courier)


@pytest.fixture
def office(
    runtime: Runtime, workers: Workers, courier: StandIn, clock: Clock, ann: Client
) -> Office:
    return Office(runtime, workers, courier, clock, ann)


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann", name="Ann")


def link_of(courier: StandIn) -> str:
    """Return the path of the only link of the last letter."""
    (found,) = re.findall(r"https://plaza\.example(/\S+)", courier.carried[-1].text)
    return str(found)


def press(client: Client, path: str, body: bytes = b"") -> Reply:
    """Post as a browser or a mail provider does: a form, without a token or a cookie."""
    return client.request("POST", path, body=body, headers=FORM)


def test_there_are_no_letters_until_a_reader_asks(ann: Client) -> None:
    assert ann.get(MAIL).json == {
        "every": "off",
        "hour": 8,
        "weekday": 1,
        "time_zone": "UTC",
        "language": "en",
        "email": None,
        "state": "off",
    }


def test_an_address_is_confirmed_by_a_press_in_a_letter(
    client: Client, ann: Client, courier: StandIn, workers: Workers
) -> None:
    asked = ann.put(MAIL, every="daily", email=ANN, language="de")
    assert (asked.status, asked.json["state"]) == (200, "unconfirmed")
    workers.drain()
    (letter,) = courier.carried
    assert (letter.to, letter.subject) == (ANN, "Bestätige deine Adresse")

    page = client.get(link_of(courier))
    assert page.status == 200
    assert '<html lang="de" dir="ltr">' in page.body.decode()
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert ann.get(MAIL).json["state"] == "unconfirmed"
    for _ in range(2):
        assert press(client, link_of(courier)).status == 200

    assert ann.get(MAIL).json["state"] == "on"
    assert ann.put(MAIL, every="weekly").json["state"] == "on"
    assert len(courier.carried) == 1


def test_a_second_press_leaves_what_came_between(client: Client, office: Office) -> None:
    link = office.confirmation()
    press(client, link)
    before = state_of(office.runtime)
    office.clock.advance(minutes=1)
    press(client, link)

    assert state_of(office.runtime) == before


@pytest.mark.parametrize("how", ["a day later", "another address", "erased", "forged", "to stop"])
def test_a_link_confirms_one_address_for_a_day(client: Client, office: Office, how: str) -> None:
    link, runtime = office.confirmation(), office.runtime
    match how:
        case "a day later":
            office.clock.advance(days=1)
        case "another address":
            office.ann.put(MAIL, every="daily", email="other@plaza.example")
        case "erased":
            mailing.MAILINGS.of(runtime.database).delete_one({"_id": "ann"})
        case "forged":
            link = f"{link[:-2]}{'AA' if link[-2:] != 'AA' else 'BB'}"
        case _:
            stop = mail_links.stop_url(runtime, "ann").partition("=")[2]
            link = f"{MAIL}/confirmation?token={stop}"

    for reply in (client.get(link), press(client, link)):
        assert (reply.status, reply.code) == (404, "unknown_mail_link")


def test_an_address_that_the_issuer_vouches_for_needs_no_letter(
    client: Client, courier: StandIn, workers: Workers
) -> None:
    ann = client.as_("ann", email=ANN, email_verified=True)
    assert ann.put(MAIL, every="daily").json["state"] == "on"
    assert ann.put(MAIL, every="daily", email="Ann@plaza.example").json["state"] == "on"
    assert ann.put(MAIL, every="daily", email="bo@plaza.example").json["state"] == "unconfirmed"
    workers.drain()

    assert [each.to for each in courier.carried] == ["bo@plaza.example"]


@pytest.mark.parametrize("claims", [{"email": ANN}, {"email": ANN, "email_verified": "yes"}, {}])
def test_without_a_verified_address_letters_need_one(client: Client, claims: Any) -> None:
    reply = client.as_("ann", **claims).put(MAIL, every="daily")

    assert (reply.status, reply.code) == (409, "no_mail_address")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("hour", each) for each in (-1, 24, 1.5)],
        *[("weekday", each) for each in (0, 8)],
        *[("time_zone", each) for each in ("", "Mars/Olympus", "localtime", "../etc/passwd")],
        *[("language", each) for each in ("xx", "EN")],
        *[("every", each) for each in ("never", None)],
        *[
            ("email", each)
            for each in ("ann", f"{ANN}\r\nBcc: bo@plaza.example", "änn@plaza.example")
        ],
    ],
)
def test_a_wrong_value_changes_nothing(ann: Client, field: str, value: object) -> None:
    before = ann.get(MAIL).json
    reply = ann.put(MAIL, **{"every": "daily", "email": ANN, field: value})

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert [each["field"] for each in reply.json["errors"]] == [field]
    assert ann.get(MAIL).json == before


def test_an_address_that_refuses_letters_says_so_to_its_reader_alone(
    client: Client, office: Office
) -> None:
    runtime = office.runtime
    turn_on(runtime)
    returned = {
        "eventType": "Bounce",
        "bounce": {"bounceType": "Permanent"},
        "mail": {"tags": {"address": address_keys(ANN, runtime.settings.signing_keys)[:1]}},
    }
    mail_events.apply(runtime, mail_events.MailEvent.model_validate(returned))
    office.clock.advance(seconds=1)
    tell(runtime)
    office.clock.advance(minutes=5)
    run(runtime)
    office.workers.drain()

    assert office.courier.carried == []
    assert office.ann.get(MAIL).json["state"] == "refused"
    assert client.as_("bo").put(MAIL, every="daily", email=ANN).json["state"] == "unconfirmed"


class TestLimits:
    """With the limits that a deployment has."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"limits": 1.0})

    def test_a_mailbox_gets_three_links_whoever_asks(self, client: Client, office: Office) -> None:
        states = {
            client.as_(f"reader-{who}").put(MAIL, every="daily", email=ANN).json["state"]
            for who in range(5)
        }
        office.workers.drain()

        assert states == {"unconfirmed"}, "nobody is told"
        assert len(office.courier.carried) == 3

    def test_a_reader_asks_for_three_links(self, ann: Client) -> None:
        asked = [ann.put(MAIL, every="daily", email=f"{who}@a.example").status for who in "abcd"]

        assert asked == [200, 200, 200, 429]
        assert ann.get(MAIL).json["email"] == "c@a.example"


@pytest.fixture
def link(office: Office) -> str:
    """The path of the link of a letter that turns such letters off."""
    turn_on(office.runtime, language="ar")
    office.clock.advance(seconds=1)
    tell(office.runtime)
    office.clock.advance(minutes=5)
    run(office.runtime)
    office.workers.drain()
    return office.courier.carried[-1].stop_url.removeprefix("https://plaza.example")


def test_the_link_to_turn_off_shows_a_page_and_changes_nothing(
    client: Client, runtime: Runtime, link: str
) -> None:
    before = state_of(runtime)
    page = client.get(link)

    assert page.status == 200
    html = page.body.decode()
    assert '<html lang="ar" dir="rtl">' in html
    assert '<form method="post" action="?token=' in html
    assert "<script" not in html
    assert state_of(runtime) == before


@pytest.mark.parametrize("body", [b"List-Unsubscribe=One-Click", b""])
def test_one_post_turns_letters_off_however_often_it_comes(
    client: Client, office: Office, link: str, body: bytes
) -> None:
    for _ in range(2):
        page = press(client, link, body)
        assert page.status == 200
        assert "<form" not in page.body.decode()
    assert office.ann.get(MAIL).json["state"] == "off"
    tell(office.runtime, "2")
    office.clock.advance(days=1)

    assert run(office.runtime) == 0


def keys_of(runtime: Runtime) -> list[str]:
    """Return the hashes of the address that the account's provider has verified."""
    return address_keys(ANN, runtime.settings.signing_keys)


@pytest.mark.parametrize("has_own", [True, False])
def test_the_link_of_a_guests_letter_turns_the_letters_of_their_account_off(
    client: Client, runtime: Runtime, link: str, *, has_own: bool
) -> None:
    if has_own:
        turn_on(runtime, "p_ann", every="daily")
    for _ in range(2):
        mailing.give(runtime, "ann", "p_ann", keys_of(runtime))
    assert '<html lang="ar"' in client.get(link).body.decode() or has_own

    assert press(client, link).status == 200

    assert state_of(runtime, "p_ann")["every"] == "off"
    assert "next_due" not in state_of(runtime, "p_ann")


def test_the_link_of_a_guests_letter_leaves_letters_to_another_address(
    client: Client, runtime: Runtime, link: str
) -> None:
    turn_on(runtime, "p_ann", "ann@other.example", every="daily")
    mailing.give(runtime, "ann", "p_ann", keys_of(runtime))

    assert press(client, link).status == 200

    assert state_of(runtime, "p_ann")["every"] == "daily"


def test_a_guests_link_still_confirms_their_address_for_the_account(
    client: Client, runtime: Runtime
) -> None:
    mailing.choose(runtime, "ann", NEVER._replace(every="daily"), ANN, sure=False)
    link = mail_links.confirm_url(runtime, "ann", ANN).removeprefix("https://plaza.example")
    mailing.give(runtime, "ann", "p_ann", keys_of(runtime))

    assert press(client, link).status == 200

    assert state_of(runtime, "p_ann")["is_confirmed"]


def test_a_letter_of_years_ago_still_turns_letters_off(
    client: Client, office: Office, link: str
) -> None:
    office.clock.advance(days=3_000)
    turn_on(office.runtime)

    assert press(client, link).status == 200
    assert state_of(office.runtime)["every"] == "off"


def test_the_link_of_an_erased_person_is_answered_alike(
    client: Client, runtime: Runtime, link: str
) -> None:
    mailing.MAILINGS.of(runtime.database).delete_one({"_id": "ann"})

    assert client.get(link).status == press(client, link).status == 200
    assert mailing.find(runtime, "ann") is None


def test_no_other_token_turns_letters_off(
    client: Client, ann: Client, runtime: Runtime, link: str
) -> None:
    path, token = link.split("=")
    person, _, tag = token.partition(".")
    bo = mail_links.stop_url(runtime, "bo").partition("=")[2]
    confirms = mail_links.confirm_url(runtime, "ann", ANN).partition("=")[2]
    forged = (
        *(
            person,
            f"{person}.",
            f"{person}.{tag[:-1]}",
            f".{tag}",
            f"{person}.{tag}.{tag}",
            "%C3%A9",
        ),
        *(f"{person}.{bo.partition('.')[2]}", f"{bo.partition('.')[0]}.{tag}", confirms),
    )
    for each in forged:
        for reply in (client.get(f"{path}={each}"), press(client, f"{path}={each}")):
            assert reply.status in {404, 422}, each
    assert ann.get(MAIL).json["state"] == "on"
    assert press(client, f"{path}={bo}").status == 200
    assert ann.get(MAIL).json["state"] == "on"


def test_a_deployment_without_its_address_sends_none(
    ann: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.notifications.mail_routes.letters.may_link", lambda _: False)
    reply = ann.put(MAIL, every="daily", email=ANN)

    assert (reply.status, reply.code) == (409, "mail_off")
    assert ann.put(MAIL, every="off").status == 200
