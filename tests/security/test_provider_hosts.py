"""Attacks by the hosts of providers, which publishers name, and by the names of their people."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.comments.people.rows import PEOPLE
from chalicelib.comments.providers import asking, stored
from chalicelib.comments.sites.settings import SITES
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.signing_in import (
    CLIENT_SECRET,
    COMMENTS,
    LOCAL_URL,
    PAGE,
    SITE,
    FakeProvider,
    Redirect,
    SigningIn,
    elliptic_key,
    published,
    signing_in,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

DISCOVERY = "/.well-known/openid-configuration"
FAILED = f"{PAGE}#plaza-sign-in=provider_failed"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"public_url": LOCAL_URL})


@pytest.fixture
def site(client: Client, runtime: Runtime, clock: Clock) -> Iterator[SigningIn]:
    with signing_in(client, runtime, clock) as made:
        yield made


Spoil = Callable[[FakeProvider], Any]
DOCUMENTS: dict[str, Spoil] = {
    "none": lambda _of: None,
    "of another issuer": lambda of: of.discovery(issuer="https://accounts.example"),
    "of its address with a slash": lambda of: of.discovery(issuer=f"{of.url}/"),
    "elsewhere": lambda of: Redirect(f"{of.url}/elsewhere"),
    "of 10 MB": lambda _of: b" " * 10_000_000 + b"{}",
    "no JSON": lambda _of: b"<html>",
    "deep": lambda _of: b"[" * 100_000,
    "a list": lambda _of: [],
    "without a token endpoint": lambda of: {
        name: value for name, value in of.discovery().items() if name != "token_endpoint"
    },
    "of numbers": lambda of: of.discovery(jwks_uri=7),
    "with a user in an endpoint": lambda of: of.discovery(
        authorization_endpoint="http://a@127.0.0.1/"
    ),
    "with a script": lambda of: of.discovery(authorization_endpoint="javascript:alert(1)"),
    "with a newline": lambda of: of.discovery(authorization_endpoint=f"{of.url}/\r\nA: b"),
    "with a file": lambda of: of.discovery(jwks_uri="file:///etc/passwd"),
    "with a bad port": lambda of: of.discovery(token_endpoint="http://127.0.0.1:99999/"),
}


@pytest.mark.parametrize("spoilt", DOCUMENTS)
def test_a_discovery_document_that_cannot_be_used_leads_back(site: SigningIn, spoilt: str) -> None:
    site.provider.answers[DISCOVERY] = DOCUMENTS[spoilt](site.provider)
    site.provider.answers["/elsewhere"] = site.provider.discovery()

    led = site.browser().begin()

    assert led.headers["Location"] == FAILED


def test_an_answer_that_never_ends_is_given_up(
    site: SigningIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "SECONDS", 0.3)
    site.provider.answers[DISCOVERY] = site.provider.drip

    assert site.browser().begin().headers["Location"] == FAILED


ANSWERS: dict[str, Any] = {
    "no token": {"token_type": "Bearer"},
    "an error": {"error": "invalid_grant"},
    "a list": [],
    "a token of a number": {"access_token": 7, "id_token": "x"},
    "elsewhere": Redirect("/"),
    "too long": b" " * 10_000_000,
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_exchange_that_cannot_be_used_signs_nobody_in(site: SigningIn, answer: str) -> None:
    browser = site.browser()
    asked = browser.go()
    site.provider.answers["/token"] = ANSWERS[answer]

    led = browser.come_back(code="code", state=asked["state"])

    assert led.headers["Location"] == FAILED
    assert site.is_empty()


KEYS: dict[str, Any] = {
    "none": None,
    "a list": [],
    "of a text": {"keys": "own"},
    "of junk": {
        "keys": [1, [], {}, {"kty": "RSA"}, {"kty": ["EC"]}, {"kty": "RSA", "e": 1, "n": 2}]
    },
    "for encryption": {"keys": [{**published(elliptic_key("own"), "own"), "use": "enc"}]},
    "twice": {"keys": 2 * [published(elliptic_key("own"), "own")]},
    "of another curve": {"keys": [{**published(elliptic_key("own"), "own"), "crv": "P-384"}]},
    "of a secret": {"keys": [{"kty": "oct", "k": "AAAA", "kid": "own", "alg": "ES256"}]},
}


@pytest.mark.parametrize("keys", KEYS)
def test_keys_that_cannot_be_used_sign_nobody_in(site: SigningIn, keys: str) -> None:
    site.provider.answers["/jwks"] = KEYS[keys]

    assert site.sign_in().headers["Location"] == FAILED
    assert site.is_empty()


def test_user_info_of_somebody_else_signs_nobody_in(site: SigningIn) -> None:
    document = site.provider.discovery(userinfo_endpoint=f"{site.provider.url}/me")
    site.provider.answers[DISCOVERY] = document
    site.provider.answers["/me"] = {"sub": "ben", "name": "Ben"}
    browser = site.browser()
    asked = browser.go()
    claims = site.provider.claims(asked["nonce"])
    del claims["name"]
    site.provider.give(site.provider.sign(claims))

    led = browser.come_back(code="code", state=asked["state"])

    assert led.headers["Location"] == FAILED
    assert site.is_empty()


@pytest.mark.parametrize(
    "issuer",
    [
        "https://127.0.0.1",
        "https://localhost",
        "https://[::1]",
        "https://10.0.0.1",
        "https://169.254.169.254",
        "https://accounts.example@127.0.0.1",
        "http://accounts.example",
        "https://2130706433",
        "https://accounts.example?a=b",
        "https://accounts.example/#a",
        "file:///etc/passwd",
        "https://accounts.example/\n",
    ],
)
def test_a_deployment_asks_public_hosts_by_tls_alone(site: SigningIn, issuer: str) -> None:
    object.__setattr__(site.runtime.settings, "public_url", "https://plaza.example")
    body = {"name": "Own", "kind": "oidc", "client_id": "a", "client_secret": "b"}

    put = site.admin.put(f"{SITE}/providers/inner", issuer=issuer, **body)
    if put.status == 200:
        site.clock.advance(seconds=6)
        led = site.browser().begin("inner")
        assert led.headers["Location"] == FAILED
    else:
        assert put.code == "invalid_request"
    assert site.provider.asked == []


# Secrets.


def test_a_secret_is_stored_sealed_and_never_given_back(
    site: SigningIn, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG", logger="plaza"):
        put = site.offer()
    read = [put, site.admin.get(f"{SITE}/providers"), site.client.get(COMMENTS)]
    read.append(site.admin.get(f"{SITE}/comments/settings"))

    stored = SITES.of(site.runtime.database).find_one({"_id": "blog"})
    assert all(CLIENT_SECRET.encode() not in each.body for each in read)
    assert all(b"client_secret" not in each.body for each in read)
    assert CLIENT_SECRET not in str(stored)
    assert CLIENT_SECRET not in " ".join(str(vars(each)) for each in caplog.records)


def test_a_sealed_secret_opens_for_its_provider_alone(site: SigningIn) -> None:
    """Who can write to the database moves no secret to a host of their own."""
    site.offer("evil", issuer="https://evil.example")
    rows = SITES.of(site.runtime.database)
    (own, evil) = rows.find_one({"_id": "blog"})["providers"]  # type: ignore[index]
    moved: Any = {**evil, "client_secret": own["client_secret"]}

    assert stored.secret_of(site.runtime, "blog", own) == CLIENT_SECRET
    assert stored.secret_of(site.runtime, "blog", moved) == ""
    assert stored.secret_of(site.runtime, "shop", own) == ""


# Names.


@pytest.mark.parametrize(
    ("claims", "shown"),
    [
        ({"name": "Admin", "preferred_username": "ann"}, "ann"),
        ({"name": "M0derat\N{CYRILLIC SMALL LETTER O}r", "nickname": "ann"}, "ann"),
        ({"name": "Ann\x00\x1b[2J"}, "Ann[2J"),
        ({"name": ["Ann"], "preferred_username": "ann"}, "ann"),
        ({"name": "a" * 300}, None),
        ({"name": ""}, None),
    ],
)
def test_a_name_is_shown_by_the_rules_of_accounts(
    site: SigningIn, claims: dict[str, Any], shown: str | None
) -> None:
    entered = site.enter(**claims)

    assert entered["name"] == (shown or entered["id"])


@pytest.mark.parametrize(
    ("picture", "is_kept"),
    [("https://pictures.example/ann", True), ("javascript:alert(1)", False), ("http://a", False)],
)
def test_a_picture_is_a_plain_https_address(
    site: SigningIn, picture: str, *, is_kept: bool
) -> None:
    site.enter(picture=picture)

    (person,) = PEOPLE.of(site.runtime.database).find()
    assert (person.get("picture") == picture) is is_kept


def test_people_of_two_sites_and_of_two_issuers_are_others(site: SigningIn) -> None:
    first = site.enter()["id"]
    assert site.enter()["id"] == first
    assert site.enter(sub="ben")["id"] != first

    token = site.enter()["token"]
    posted = site.holding(token).post("/nodes/shop:moon/comments", text="Hello")
    assert posted.status == 401
    assert site.holding(token).post(COMMENTS, text="Hello").status == 201


def test_a_banned_address_stays_banned_by_another_account(site: SigningIn) -> None:
    first = site.enter()
    given = {"status": "banned", "reason": "spam"}
    assert site.admin.patch(f"{SITE}/people/{first['id']}", **given).status == 200

    second = site.holding(site.enter(sub="another")["token"])

    assert second.post(COMMENTS, text="Hello").code == "banned"
