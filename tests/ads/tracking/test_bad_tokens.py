"""Tokens that are altered, expired or foreign change nothing."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from chalice.local import LocalChalice
from pydantic import SecretStr

from app import create_app
from chalicelib.ads.campaigns import lifecycle, removal
from chalicelib.runtime import Runtime
from tests.ads.support.events import PRICE, SPRING, Page, stored, totals
from tests.ads.support.factories import (
    LANDING_URL,
    activate,
    ad_unit,
    add_zones,
    cpm,
    creative,
    put_campaign,
)
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


def test_an_old_token_counts_nothing(page: Page, runtime: Runtime, clock: Clock) -> None:
    ad = page.ad("ann")
    clock.advance(hours=24)

    seen, pixel, click = page.see(ad), page.pixel(ad), page.click(ad)

    assert (seen.status, seen.code) == (410, "token_expired")
    assert (pixel.status, pixel.headers["Content-Type"]) == (200, "image/gif")
    assert (click.status, click.headers["Location"]) == (302, LANDING_URL)
    assert (stored(runtime), profile(runtime, "ann")) == ([], None)


def test_a_token_counts_up_to_its_last_moment(page: Page, runtime: Runtime, clock: Clock) -> None:
    ad = page.ad()
    clock.advance(hours=24, milliseconds=-1)

    page.click(ad)
    clock.advance(milliseconds=1)
    page.click(ad)

    assert totals(runtime) == {"clicks": 1}


@pytest.mark.parametrize("age_days", [0, 1, 30, 364])
@pytest.mark.parametrize("change", ["replaced", "moved", "paused", "deleted"])
def test_a_click_leads_to_the_last_page_of_its_ad(
    page: Page, runtime: Runtime, clock: Clock, change: str, age_days: int
) -> None:
    old, new = "https://mercedes.example/old", "https://mercedes.example/new"
    put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=creative(landing_url=old))])
    ad = page.ad()

    match change:
        case "replaced":
            units = [ad_unit("two", creative=creative(landing_url=new))]
            put_campaign(runtime, SPRING, ad_units=units)
        case "moved":
            put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=creative(landing_url=new))])
        case "paused":
            lifecycle.deactivate(runtime.database, SPRING)
        case "deleted":
            removal.delete(runtime.database, SPRING, runtime.now())
            clock.advance(hours=2)
            removal.finish(runtime.database, timedelta(hours=1), runtime.now())
    clock.advance(days=age_days)

    reply = page.click(ad)

    assert reply.status == 302
    assert reply.headers["Location"] == (new if change == "moved" else old)
    assert len(stored(runtime)) == (1 if age_days == 0 else 0)


def test_a_page_of_an_ad_that_comes_back_is_its_present_one(page: Page, runtime: Runtime) -> None:
    first, second = "https://mercedes.example/first", "https://mercedes.example/second"
    ad = page.ad()
    for unit_id, url in (("two", first), ("one", second)):
        put_campaign(
            runtime, SPRING, ad_units=[ad_unit(unit_id, creative=creative(landing_url=url))]
        )

    assert page.click(ad).headers["Location"] == second


@pytest.mark.parametrize("fault", ["altered", "cut", "swapped"])
def test_a_forged_click_leads_nowhere_however_old(page: Page, clock: Clock, fault: str) -> None:
    ad = page.ad()
    clock.advance(days=2)
    bad = ad["impression_url"].replace("/events/", "/click/")
    bad = bad if fault == "swapped" else BAD[fault](ad["click_url"])

    reply = page.click({"click_url": bad})

    assert (reply.status, reply.code) == (400, "invalid_token")
    assert "Location" not in reply.headers


def test_a_browser_gets_a_page_of_a_click_that_leads_nowhere(page: Page, runtime: Runtime) -> None:
    ad = page.ad()
    runtime.database["ad.campaign"].delete_many({})

    reply = page.client.request("GET", ad["click_url"], headers={"Accept": "text/html"})

    assert (reply.status, reply.headers["Content-Type"]) == (404, "text/html; charset=utf-8")


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
