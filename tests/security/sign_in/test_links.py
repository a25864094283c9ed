"""Attacks on links in letters: on their tokens, and on the pages that they lead back to."""

import threading
from collections.abc import Callable

import pytest

from chalicelib.comments.sign_in import confirming
from chalicelib.errors import Problem
from tests.comments.support.guests import (
    CONFIRMATION,
    HTML,
    ORIGIN,
    GuestSite,
    stored,
)
from tests.support.workers import Workers

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
