"""Signing in by a certified OpenID provider, which runs beside Plaza."""

from collections.abc import Iterator

import pytest

from chalicelib.comments.people.rows import PEOPLE
from chalicelib.mail import addressing
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from tests.comments.support.signing_in import (
    COMMENTS,
    LOCAL_URL,
    PAGE,
    SITE,
    SigningIn,
    code_of,
    signing_in,
)
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.openid import Reader, register, running_provider

REDIRECT = f"{LOCAL_URL}{SITE}/providers/real/callback"
FAILED = f"{PAGE}#plaza-sign-in=provider_failed"

pytestmark = pytest.mark.processes


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"public_url": LOCAL_URL})


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with running_provider() as made:
        yield made


@pytest.fixture
def site(client: Client, runtime: Runtime, clock: Clock) -> Iterator[SigningIn]:
    # The provider's clock is the machine's.
    clock.time = utc_now()
    with signing_in(client, runtime, clock) as made:
        yield made


def offer(site: SigningIn, issuer: str, method: str = "client_secret_basic") -> str:
    """Set the provider, and return its client's secret."""
    client_id, secret = register(issuer, REDIRECT, method)
    site.offer("real", issuer=issuer, client_id=client_id, client_secret=secret)
    return secret


def test_a_reader_signs_in_and_writes(site: SigningIn, issuer: str) -> None:
    offer(site, issuer)
    browser = site.browser()
    began = browser.begin("real").headers["Location"]

    led = browser.come_back("real", **Reader(issuer, "ann").follow(began))

    entered = site.exchange(code_of(led)).json
    assert entered["name"] == "Ann"
    posted = site.holding(entered["token"]).post(COMMENTS, text="Hello").json
    assert posted["author"]["name"] == "Ann"
    (person,) = PEOPLE.of(site.runtime.database).find()
    keys = addressing.address_keys("ann@mail.example", site.runtime.settings.signing_keys)
    assert person.get("email_key") == keys[0]


def test_people_come_back_as_who_they_were(site: SigningIn, issuer: str) -> None:
    offer(site, issuer)

    def enter(name: str) -> str:
        browser = site.browser()
        began = browser.begin("real").headers["Location"]
        led = browser.come_back("real", **Reader(issuer, name).follow(began))
        return str(site.exchange(code_of(led)).json["id"])

    assert enter("ann") == enter("ann") != enter("ben")


def test_a_code_of_the_provider_counts_once_and_with_its_verifier(
    site: SigningIn, issuer: str
) -> None:
    offer(site, issuer)
    browser, other = site.browser(), site.browser()
    began = browser.begin("real").headers["Location"]
    answer = Reader(issuer, "ann").follow(began)
    kept = browser.cookie
    asked = other.go("real")

    stolen = other.come_back("real", **{**answer, "state": asked["state"]})
    first = browser.come_back("real", **answer)
    browser.cookie = kept
    again = browser.come_back("real", **answer)

    # The provider ends a code that was tried with another verifier.
    assert stolen.headers["Location"] == FAILED
    assert "#plaza-" in first.headers["Location"]
    assert again.headers["Location"] == FAILED


def test_a_wrong_secret_signs_nobody_in(site: SigningIn, issuer: str) -> None:
    client_id, _ = register(issuer, REDIRECT, "client_secret_basic")
    site.offer("real", issuer=issuer, client_id=client_id, client_secret="wrong")
    browser = site.browser()
    began = browser.begin("real").headers["Location"]

    led = browser.come_back("real", **Reader(issuer, "ann").follow(began))

    assert led.headers["Location"] == FAILED
    assert site.is_empty()
