"""Signing in by GitHub, whose API a server of this machine stands for."""

from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.providers import github
from chalicelib.mail import addressing
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.signing_in import (
    CLIENT_ID,
    CLIENT_SECRET,
    LOCAL_URL,
    PAGE,
    SigningIn,
    code_of,
    signing_in,
)
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

ADDRESSES = [
    {"email": "old@mail.example", "primary": False, "verified": True},
    {"email": "ann@mail.example", "primary": True, "verified": True},
]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"public_url": LOCAL_URL})


@pytest.fixture
def site(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SigningIn]:
    with signing_in(client, runtime, clock) as made:
        monkeypatch.setattr(github, "TOKEN", f"{made.provider.url}/access_token")
        monkeypatch.setattr(github, "API", made.provider.url)
        made.provider.answers |= {
            "/access_token": {"access_token": "gho_1", "token_type": "bearer"},
            "/user": {
                "id": 583231,
                "login": "ann",
                "name": "Ann",
                "avatar_url": "https://a.example/1",
            },
            "/user/emails": ADDRESSES,
        }
        made.offer("github", name="GitHub", kind="github", issuer=None)
        yield made


def sign_in(site: SigningIn) -> Reply:
    browser = site.browser()
    asked = browser.go("github")
    return browser.come_back("github", code="code", state=asked["state"])


def test_a_reader_signs_in_by_github(site: SigningIn) -> None:
    begun = site.browser().begin("github").headers["Location"]
    assert begun.startswith("https://github.com/login/oauth/authorize?")
    assert "code_challenge_method=S256" in begun

    entered = site.exchange(code_of(sign_in(site))).json

    assert entered["name"] == "Ann"
    (person,) = PEOPLE.of(site.runtime.database).find()
    keys = addressing.address_keys("ann@mail.example", site.runtime.settings.signing_keys)
    assert (person["user_id"], person.get("email_key")) == (entered["id"], keys[0])
    assert person.get("picture") == "https://a.example/1"
    _, headers, form = next(each for each in site.provider.asked if each[0] == "/access_token")
    assert (form["client_id"], form["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)
    assert "Authorization" not in headers
    (_, headers, _) = next(each for each in site.provider.asked if each[0] == "/user")
    assert headers["Authorization"] == "Bearer gho_1"


def test_a_login_that_changes_hands_is_another_person(site: SigningIn) -> None:
    first = site.exchange(code_of(sign_in(site))).json["id"]
    site.provider.answers["/user"] = {"id": 583231, "login": "renamed", "name": None}
    renamed = site.exchange(code_of(sign_in(site))).json
    site.provider.answers["/user"] = {"id": 7, "login": "ann", "name": "Ann"}

    assert (renamed["id"], renamed["name"]) == (first, "renamed")
    assert site.exchange(code_of(sign_in(site))).json["id"] != first


@pytest.mark.parametrize(
    "addresses",
    [
        [{"email": "ann@mail.example", "primary": True, "verified": False}],
        [{"email": "ann@mail.example", "primary": False, "verified": True}],
        [{"email": 7, "primary": True, "verified": True}],
        [],
        {},
        ["ann@mail.example"],
    ],
)
def test_only_a_verified_primary_address_counts(site: SigningIn, addresses: Any) -> None:
    site.provider.answers["/user/emails"] = addresses

    assert code_of(sign_in(site))

    (person,) = PEOPLE.of(site.runtime.database).find()
    assert "email_key" not in person


@pytest.mark.parametrize(
    "user",
    [None, [], {"login": "ann"}, {"id": "583231"}, {"id": True}, {"id": 1.5}],
)
def test_an_answer_that_names_nobody_signs_nobody_in(site: SigningIn, user: Any) -> None:
    site.provider.answers["/user"] = user

    led = sign_in(site)

    assert led.headers["Location"] == f"{PAGE}#plaza-sign-in=provider_failed"
    assert site.is_empty()


def test_a_code_that_github_refuses_signs_nobody_in(site: SigningIn) -> None:
    """GitHub says so with 200."""
    site.provider.answers["/access_token"] = {"error": "bad_verification_code"}

    assert sign_in(site).headers["Location"] == f"{PAGE}#plaza-sign-in=provider_failed"
