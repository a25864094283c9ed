"""Attacks on links in letters: on their tokens, their mailboxes, their readers and their names."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app import create_app
from chalicelib.comments.people.links import CONFIRMATIONS
from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.sign_in import confirming, letters
from chalicelib.errors import Problem
from chalicelib.limits import SITE_LETTERS
from chalicelib.mail import events
from chalicelib.mail.events import MailEvent
from chalicelib.mail.rows import LETTERS
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.guests import (
    COMMENTS,
    CONFIRMATION,
    ORIGIN,
    PAGE,
    PUBLIC_URL,
    GuestSite,
    mailing,
)
from tests.support.clock import Clock
from tests.support.commands import Commands
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

HTML = {"Accept": "text/html"}


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update=mailing(tmp_path))


@pytest.fixture
def site(client: Client, runtime: Runtime, clock: Clock) -> GuestSite:
    made = GuestSite(client, runtime, clock)
    made.settle()
    return made


@pytest.fixture
def waiting(site: GuestSite) -> GuestSite:
    """The site, with a comment that waits for the letter of its guest."""
    assert site.guest().post(COMMENTS, text="A fine evening").json["state"] == "pending"
    return site


def stored(runtime: Runtime) -> Any:
    """Return all that a link can change."""
    rows = (CONFIRMATIONS, PEOPLE)
    return [list(each.of(runtime.database).find().sort("_id", 1)) for each in rows]


# Tokens.


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        HTML,
        {"User-Agent": "Mozilla/5.0 (compatible; link scanner)"},
        {"Sec-Purpose": "prefetch"},
        {"X-HTTP-Method-Override": "POST"},
    ],
)
def test_programs_that_open_links_confirm_none(
    waiting: GuestSite, method: str, headers: dict[str, str]
) -> None:
    token, before = waiting.link(), stored(waiting.runtime)

    for _ in range(2):
        waiting.client.request(method, f"{CONFIRMATION}?token={token}", headers=headers)

    assert stored(waiting.runtime) == before
    assert waiting.shown() == []
    assert waiting.press(token).status == 302


def test_a_link_works_once(waiting: GuestSite) -> None:
    token = waiting.link()
    assert waiting.press(token).status == 302

    assert (waiting.press(token).status, waiting.press(token).code) == (404, "unknown_link")
    shown = waiting.client.request("GET", f"{CONFIRMATION}?token={token}", headers=HTML)
    assert (shown.status, b"already" in shown.body) == (404, True)


def test_of_calls_at_once_one_uses_a_link_up(waiting: GuestSite) -> None:
    token, ends = waiting.link(), []
    barrier = threading.Barrier(8)

    def press() -> None:
        barrier.wait()
        try:
            confirming.confirm(waiting.runtime, "blog", token)
            ends.append("confirmed")
        except Problem as problem:
            ends.append(problem.code)

    callers = [threading.Thread(target=press) for _ in range(8)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()

    assert sorted(ends) == ["confirmed"] + 7 * ["unknown_link"]
    assert waiting.shown() == ["A fine evening"]


@pytest.mark.parametrize(("seconds", "status"), [(-1, 302), (0, 404), (1, 404)])
def test_a_link_ends_after_a_day(waiting: GuestSite, seconds: int, status: int) -> None:
    token = waiting.link()

    waiting.clock.advance(days=1, seconds=seconds)

    assert waiting.press(token).status == status


def test_a_link_of_one_site_is_none_at_another(waiting: GuestSite) -> None:
    other = f"/sites/shop/guests/confirmation?token={waiting.link()}"

    assert waiting.client.request("POST", other).code == "unknown_link"
    assert waiting.client.get(other).code == "unknown_link"
    assert waiting.shown() == []


@pytest.mark.parametrize(
    ("forge", "code"),
    [
        (lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"), "unknown_link"),
        (lambda token: token.swapcase(), "unknown_link"),
        (lambda token: token[::-1], "unknown_link"),
        (lambda _token: "A" * 43, "unknown_link"),
        (lambda token: token[:-1], "invalid_request"),
        (lambda token: token + "A", "invalid_request"),
        (lambda token: token + "%0A", "invalid_request"),
        (lambda token: token + "%00", "invalid_request"),
        (lambda token: f"%20{token}", "invalid_request"),
        (lambda _token: "", "invalid_request"),
        (lambda token: token * 100, "invalid_request"),
        (lambda _token: "%7B%22$ne%22:null%7D" + "A" * 20, "invalid_request"),
        (lambda token: f"{token}&token={'A' * 43}", "unknown_link"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_altered_token_leads_nowhere(
    waiting: GuestSite, forge: Callable[[str], str], code: str, method: str
) -> None:
    target = f"{CONFIRMATION}?token={forge(waiting.link())}"

    assert waiting.client.request(method, target).code == code
    assert waiting.client.request(method, f"{CONFIRMATION}?token[$ne]=x").code == "invalid_request"
    assert waiting.shown() == []


def test_only_a_hash_of_a_token_is_stored_once_the_letter_is_sent(
    workers: Workers, waiting: GuestSite
) -> None:
    token = waiting.link()
    workers.drain()

    database = waiting.runtime.database
    for name in database.list_collection_names():
        assert token not in str(list(database[name].find())), name


# Pages that links lead back to.


@pytest.mark.parametrize(
    "page",
    [
        "//evil.example/",
        "///evil.example/",
        "https:evil.example",
        "https:/evil.example",
        "https:///evil.example/",
        "https:\\\\evil.example/",
        f"{ORIGIN}\\@evil.example/",
        f"{ORIGIN}@evil.example/",
        "https://blog.example:pass@evil.example/",
        "https://user@blog.example/",
        f"{ORIGIN}:444/moon",
        f"{ORIGIN}:443/moon",
        f"{ORIGIN}/moon#top",
        "http://blog.example/moon",
        "javascript:alert(1)//blog.example/",
        "data:text/html,<script>alert(1)</script>",
        f"{ORIGIN}.evil.example/",
        "https://evilblog.example/",
        "https://evil.example/?https://blog.example/",
        "https://xn--blg-0na.example/",
        "https://bl\N{CYRILLIC SMALL LETTER O}g.example/",
        "https://blog.example\N{FULLWIDTH SOLIDUS}evil.example/",
        "https://BLOG.example/",
        f"{ORIGIN}./moon",
        f"{ORIGIN}/moon\r\nSet-Cookie: a=b",
        f"{ORIGIN}/moon\n",
        f"{ORIGIN}/moon\x00",
        f" {ORIGIN}/moon",
        f"{ORIGIN}/a b",
        f'{ORIGIN}/"><script>',
        f"{ORIGIN}?page",
        "/moon",
        "moon",
        "",
        f"{ORIGIN}/{'a' * 2_000}",
    ],
)
def test_a_link_leads_back_to_pages_of_the_site_alone(site: GuestSite, page: str) -> None:
    reply = site.begin(return_to=page)

    assert reply.code == "invalid_request"
    assert [each["field"] for each in reply.json["errors"]] == ["return_to"]
    assert site.letters() == []


@pytest.mark.parametrize("page", [ORIGIN, f"{ORIGIN}/", f"{ORIGIN}//evil.example/%0D%0A?a=@b"])
def test_pages_of_the_site_are_led_back_to_as_they_are(site: GuestSite, page: str) -> None:
    site.guest(return_to=page)

    assert site.press().headers["Location"] == page


def test_a_page_may_have_lost_its_origin_meanwhile(site: GuestSite) -> None:
    """What was checked when it was asked for holds for the day of its link."""
    site.guest()
    site.decide(origins=[])

    assert site.press().status == 302
    assert site.begin("Pilot").code == "invalid_request"


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
    events.heed(site.runtime, MailEvent.model_validate(bounce))


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


def wanted(site: GuestSite) -> list[Any]:
    """Return the letters that a worker sends."""
    return list(LETTERS.of(site.runtime.database).find({"state": "waiting"}))


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


# Readers of the page.


def test_the_page_is_in_no_frame_and_has_no_script_and_leads_to_the_site_alone(
    site: GuestSite,
) -> None:
    site.guest("Ann", language="ar")
    page = site.client.request("GET", f"{CONFIRMATION}?token={site.link()}", headers=HTML)

    assert page.status == 200
    assert page.headers["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action 'self' {ORIGIN}"
    )
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    text = page.body.decode()
    assert '<html lang="ar" dir="rtl">' in text
    assert "<script" not in text
    assert "mail.example" not in text
    assert f'href="{PUBLIC_URL}/web/v1/page.css"' in text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "null", "Cookie": "session=1"},
        {"Content-Type": "text/plain", "Origin": "https://evil.example"},
    ],
)
def test_a_form_on_another_page_gains_nothing_without_the_token(
    waiting: GuestSite, headers: dict[str, str]
) -> None:
    """The token alone confirms, and no cookie does: who has it has read the letter."""
    for target in (CONFIRMATION, f"{CONFIRMATION}?token={'A' * 43}"):
        assert waiting.client.request("POST", target, headers=headers).status in (404, 422)
    assert waiting.shown() == []

    pressed = waiting.press(**headers)

    assert (pressed.status, pressed.body) == (302, b"")
    assert "Set-Cookie" not in pressed.headers


def test_a_confirmation_gives_its_caller_no_token(waiting: GuestSite) -> None:
    """A reader of the letter shows the comments, and becomes nobody else's guest."""
    pressed = waiting.press()

    assert "guest." not in json.dumps([dict(pressed.headers), pressed.body.decode()])


def test_no_line_of_the_log_has_a_token_or_an_address(
    site: GuestSite, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG", logger="plaza"):
        site.guest()
        token = site.link()
        site.client.get(f"{CONFIRMATION}?token={token}")
        site.press(token)

    logged = " ".join(str(vars(each)) for each in caplog.records if each.name == "plaza")
    assert "confirmation" in logged
    assert token not in logged
    assert "mail.example" not in logged


# Guests of before, who sign in.


def ask(site: GuestSite, **said: Any) -> Reply:
    given = {"email": "ann@mail.example", "return_to": PAGE, **said}
    return site.client.post("/sites/blog/sign-in", **given)


def exchange(site: GuestSite, code: str, of: str = "blog") -> Reply:
    return site.client.post(f"/sites/{of}/sign-in/token", code=code)


@pytest.fixture
def known(site: GuestSite) -> GuestSite:
    """The site, with a guest whose address is confirmed."""
    site.guest()
    site.press()
    return site


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
