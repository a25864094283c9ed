"""Attacks on sign-ins by providers: on the way to a provider and back."""

import dataclasses
import hashlib
import threading
from collections.abc import Iterator

import pytest

from chalicelib import signing
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.signing_in import (
    LOCAL_URL,
    ORIGIN,
    PAGE,
    SITE,
    SigningIn,
    code_of,
    signing_in,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

FAILED = f"{PAGE}#plaza-sign-in=provider_failed"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"public_url": LOCAL_URL})


@pytest.fixture
def site(client: Client, runtime: Runtime, clock: Clock) -> Iterator[SigningIn]:
    with signing_in(client, runtime, clock) as made:
        yield made


def test_a_sign_in_ends_where_it_began_after_ten_minutes(site: SigningIn) -> None:
    browser = site.browser()
    asked = browser.go()
    site.provider.give(site.provider.sign(site.provider.claims(asked["nonce"])))

    site.clock.advance(minutes=10)

    assert browser.come_back(code="code", state=asked["state"]).status == 400
    assert site.is_empty()


@pytest.mark.parametrize("state", ["", "A" * 43, "\N{SNOWMAN}"])
def test_an_answer_without_the_state_of_its_browser_leads_nowhere(
    site: SigningIn, state: str
) -> None:
    browser = site.browser()
    browser.go()

    refused = browser.come_back(code="code", state=state)

    assert (refused.status, b"sign_in_expired" in refused.body) == (400, True)
    assert "Location" not in refused.headers
    assert site.is_empty()


@pytest.mark.parametrize("cookie", ["none", "altered", "another browser's", "tossed"])
def test_an_answer_counts_in_the_browser_that_began_alone(site: SigningIn, cookie: str) -> None:
    """An attacker's own answer, sent to a victim, would sign the victim in as the attacker."""
    attacker, victim = site.browser(), site.browser()
    asked, own = attacker.go(), victim.go()
    site.provider.give(site.provider.sign(site.provider.claims(asked["nonce"])))
    name, _, sealed = victim.cookie.partition("=")
    victim.cookie = {
        "none": "",
        "altered": f"{name}={sealed[:-2]}AA",
        "another browser's": victim.cookie,
        "tossed": f"{name}=AAAA; {victim.cookie}; {name}={'B' * 60}",
    }[cookie]

    refused = victim.come_back(code="code", state=asked["state"])

    assert (refused.status, b"sign_in_expired" in refused.body) == (400, True)
    assert own["state"] != asked["state"]
    assert site.is_empty()


def test_a_code_is_exchanged_with_the_verifier_of_its_browser(site: SigningIn) -> None:
    browser = site.browser()
    asked = browser.go()
    site.provider.give(site.provider.sign(site.provider.claims(asked["nonce"])))
    browser.come_back(code="code", state=asked["state"])

    _, headers, form = next(each for each in site.provider.asked if each[0] == "/token")
    challenge = signing.encode(hashlib.sha256(form["code_verifier"].encode()).digest())
    assert (asked["code_challenge"], asked["code_challenge_method"]) == (challenge, "S256")
    assert form["redirect_uri"] == asked["redirect_uri"]
    assert headers["Authorization"].startswith("Basic ")
    assert "client_secret" not in form


def test_an_answer_counts_once(site: SigningIn) -> None:
    browser = site.browser()
    asked = browser.go()
    cookie = browser.cookie
    site.provider.give(site.provider.sign(site.provider.claims(asked["nonce"])))
    answer = {"code": "code", "state": asked["state"]}

    first = browser.come_back(**answer)
    assert browser.come_back(**answer).status == 400
    browser.cookie = cookie

    assert code_of(first)
    assert browser.come_back(**answer).headers["Location"] == FAILED


def test_of_two_answers_at_once_one_counts(site: SigningIn) -> None:
    browser = site.browser()
    asked = browser.go()
    site.provider.give(site.provider.sign(site.provider.claims(asked["nonce"])))
    found: list[str] = []

    def come_back() -> None:
        own = site.browser()
        own.cookie = browser.cookie
        led = own.come_back(code="code", state=asked["state"])
        found.append(led.headers["Location"].partition("#")[2].partition("=")[0])

    callers = [threading.Thread(target=come_back) for _ in range(2)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()

    assert sorted(found) == ["plaza-account", "plaza-sign-in"]


def test_an_answer_of_one_provider_is_none_of_another(site: SigningIn) -> None:
    site.offer("second", client_id="second")
    browser = site.browser()
    asked = browser.go()
    site.provider.give(site.provider.sign(site.provider.claims(asked["nonce"])))
    answer = {"code": "code", "state": asked["state"]}

    assert browser.come_back("second", **answer).status == 400
    assert browser.come_back(site="/sites/shop", **answer).status == 400
    assert site.is_empty()


@pytest.mark.parametrize(
    ("is_announced", "iss", "counts"),
    [
        (False, None, True),
        (False, "https://accounts.example", False),
        (True, None, False),
        (True, "own", True),
    ],
)
def test_an_answer_names_its_issuer(
    site: SigningIn, *, is_announced: bool, iss: str | None, counts: bool
) -> None:
    document = site.provider.discovery(authorization_response_iss_parameter_supported=is_announced)
    site.provider.answers["/.well-known/openid-configuration"] = document
    browser = site.browser()
    asked = browser.go()
    site.provider.give(site.provider.sign(site.provider.claims(asked["nonce"])))
    named = {} if iss is None else {"iss": site.provider.url if iss == "own" else iss}

    led = browser.come_back(code="code", state=asked["state"], **named)

    assert ("#plaza-account=" in led.headers["Location"]) is counts


def test_a_provider_that_is_taken_away_meanwhile_signs_nobody_in(site: SigningIn) -> None:
    browser = site.browser()
    asked = browser.go()
    assert site.admin.delete(f"{SITE}/providers/own").status == 204

    led = browser.come_back(code="code", state=asked["state"])

    assert led.headers["Location"] == f"{PAGE}#plaza-sign-in=unknown_provider"
    assert site.is_empty()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("access_denied", "access_denied"),
        ("server_error", "provider_failed"),
        ("<script>", "provider_failed"),
        ("access_denied#&a=b", "provider_failed"),
    ],
)
def test_a_refusal_leads_back_with_a_word_of_plazas_own(
    site: SigningIn, error: str, told: str
) -> None:
    browser = site.browser()
    asked = browser.go()

    led = browser.come_back(error=error, error_description="<b>", state=asked["state"])

    assert led.headers["Location"] == f"{PAGE}#plaza-sign-in={told}"


@pytest.mark.parametrize(
    "page",
    [
        "https://evil.example/",
        f"{ORIGIN}@evil.example/",
        f"{ORIGIN}.evil.example/",
        f"{ORIGIN}/moon#plaza-account=AAAA",
        "//evil.example/",
        "javascript:alert(1)",
        f"{ORIGIN}\\@evil.example/",
        f"{ORIGIN}/\r\nSet-Cookie: a=b",
        "",
    ],
)
def test_a_sign_in_leads_back_to_pages_of_the_site_alone(site: SigningIn, page: str) -> None:
    refused = site.browser().begin(return_to=page)

    assert refused.status == 422
    assert "Location" not in refused.headers


def test_a_page_that_is_no_longer_of_the_site_gets_no_code(site: SigningIn) -> None:
    browser = site.browser()
    asked = browser.go()
    site.provider.give(site.provider.sign(site.provider.claims(asked["nonce"])))
    site.admin.put(f"{SITE}/comments/settings", guests="accounts", origins=["https://new.example"])

    assert browser.come_back(code="code", state=asked["state"]).status == 400
    assert site.is_empty()


class TestLimits:
    """Sign-ins under the limits of a deployment."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"limits": 1.0, "trusted_hops": 1})

    def test_a_network_signs_in_thirty_times_at_once(self, site: SigningIn) -> None:
        here = {"X-Forwarded-For": "192.0.2.1, 10.0.0.1"}
        caller = Client(site.client.app, site.client.token, here)
        browser = dataclasses.replace(site.browser(), client=caller)

        begun = [browser.begin().status for _ in range(31)]

        assert begun == 30 * [302] + [429]
        there = Client(caller.app, caller.token, {"X-Forwarded-For": "192.0.3.1, 10.0.0.1"})
        assert dataclasses.replace(browser, client=there).begin().status == 302
        site.clock.advance(seconds=1)
        assert browser.begin().status == 302
