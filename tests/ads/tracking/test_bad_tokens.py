"""Tokens that are altered, expired or foreign change nothing."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from chalice.local import LocalChalice
from pydantic import SecretStr

from app import create_app
from chalicelib.runtime import Runtime
from tests.ads.support.events import PRICE, SPRING, Page, stored, totals
from tests.ads.support.factories import activate, add_zones, cpm, put_campaign
from tests.ads.tracking.support.pages import Refusing, profile
from tests.support.clock import Clock
from tests.support.http_client import Client

SUMMER = "bmw:summer"


@pytest.fixture
def runtime(runtime: Runtime) -> Runtime:
    """A runtime whose events are counted within the request, with a campaign at work."""
    runtime = replace(runtime, queues=Refusing())
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, budget={"total_micros": 500 * PRICE})
    activate(runtime, SPRING)
    return runtime


@pytest.fixture
def page(client: Client) -> Page:
    return Page(client)


def altered(url: str) -> str:
    head, token = url.rsplit("/", 1)
    return f"{head}/{token[:-1]}{'A' if token[-1] != 'A' else 'B'}"


BAD: dict[str, Callable[[str], str]] = {
    "altered": altered,
    "cut": lambda url: url[:-1],
    "empty": lambda url: url.rsplit("/", 1)[0] + "/%20",
    "huge": lambda url: url + "A" * 2_000,
    "hostile": lambda url: url.rsplit("/", 1)[0] + "/%24where%00",
    "swapped": lambda url: (
        url.replace("/events/", "/click/") if "events" in url else url.replace("click", "events")
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_token_changes_nothing(page: Page, runtime: Runtime, fault: str) -> None:
    ad = page.ad("ann")
    bad = {name: BAD[fault](ad[name]) for name in ("impression_url", "click_url")}
    if fault == "swapped":
        bad = {"impression_url": bad["click_url"], "click_url": bad["impression_url"]}

    replies = [page.see(bad), page.pixel(bad), page.click(bad)]

    assert {reply.status // 100 for reply in replies} == {4}
    assert (totals(runtime), stored(runtime), profile(runtime, "ann")) == ({}, [], None)


def test_an_expired_token_changes_nothing(page: Page, runtime: Runtime, clock: Clock) -> None:
    ad = page.ad()
    clock.advance(hours=24)

    replies = [page.see(ad), page.pixel(ad), page.click(ad)]

    assert [(reply.status, reply.code) for reply in replies] == [(410, "token_expired")] * 3
    assert stored(runtime) == []


def test_a_token_of_a_foreign_key_changes_nothing(page: Page, runtime: Runtime) -> None:
    foreign = replace(
        runtime,
        settings=runtime.settings.model_copy(
            update={"signing_keys": (SecretStr("a key of another Plaza, as long as it must be"),)}
        ),
    )
    ad = page.ad()
    elsewhere = Page(Client(create_app(foreign, LocalChalice), page.client.token))

    assert (elsewhere.see(ad).code, elsewhere.click(ad).code) == ("invalid_token",) * 2
    assert stored(runtime) == []


def test_a_token_of_one_ad_counts_for_no_other(page: Page, runtime: Runtime) -> None:
    put_campaign(runtime, SUMMER, pricing=cpm(1_000_000))
    summer_is_dearer = page.ad()
    activate(runtime, SUMMER)
    head, token = summer_is_dearer["impression_url"].rsplit("/", 1)

    page.see({"impression_url": f"{head}/{token}?campaign_id={SUMMER}&price_micros=1"})

    (event,) = stored(runtime)
    assert (event["campaign_id"], event["price_micros"]) == (SPRING, PRICE)
