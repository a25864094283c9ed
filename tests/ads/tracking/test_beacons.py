"""From the page: beacons, pixels and clicks, and all that could be wrong with them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.ads.budgets import audit
from chalicelib.ads.visitors import profiles
from chalicelib.runtime import Runtime
from tests.ads.support.events import CLICKS, PRICE, SPRING, Page, stored, totals
from tests.ads.support.factories import LANDING_URL, activate, add_zones, placed, put_campaign
from tests.ads.tracking.support.pages import Refusing, profile
from tests.support.http_client import BROWSER, Client

GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


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


def test_a_beacon_is_counted_and_billed(page: Page, runtime: Runtime) -> None:
    reply = page.see(page.ad())

    assert (reply.status, reply.body) == (204, b"")
    assert reply.headers["Cache-Control"] == "no-store"
    assert totals(runtime) == {"impressions": 1, "spend_micros": 250, "revenue_micros": 175}


def test_a_pixel_is_a_beacon_too(page: Page, runtime: Runtime) -> None:
    ad = page.ad()

    assert [page.pixel(ad).status, page.see(ad).status] == [200, 204]

    assert totals(runtime)["impressions"] == 1


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/json",
        "application/octet-stream",
        None,
    ],
)
def test_a_beacon_may_have_any_body(
    page: Page, client: Client, runtime: Runtime, content_type: str | None
) -> None:
    headers = {"User-Agent": BROWSER} | ({"Content-Type": content_type} if content_type else {})
    url = page.ad()["impression_url"]

    reply = client.request("POST", url, headers=headers, body=b'{"price_micros": 0}')

    assert reply.status == 204
    assert totals(runtime)["spend_micros"] == 250


def test_what_is_served_costs_nothing_until_it_is_seen(page: Page, runtime: Runtime) -> None:
    assert page.ad()

    assert totals(runtime) == {}
    assert audit.read(runtime.database, SPRING)["spent_micros"] == 0


def test_a_click_leads_to_the_campaign_s_own_page(page: Page, runtime: Runtime) -> None:
    reply = page.click(page.ad())

    assert (reply.status, reply.headers["Location"]) == (302, LANDING_URL)
    assert totals(runtime) == {"clicks": 1}


def test_a_click_leads_nowhere_that_the_request_names(page: Page, client: Client) -> None:
    url = page.ad()["click_url"]
    evil = "https://evil.example/"

    for query in (f"?url={evil}", f"?landing_url={evil}&redirect={evil}", f"?to={evil}"):
        reply = client.request(
            "GET", url + query, headers={"Referer": evil, "Host": "evil.example", "Origin": evil}
        )
        assert reply.headers["Location"] == LANDING_URL


def test_a_click_on_a_cpc_ad_is_charged(page: Page, runtime: Runtime) -> None:
    pricing = {"type": "cpc", "bid_micros": 60_000}
    put_campaign(runtime, CLICKS, pricing=pricing, budget={"total_micros": 60_000})
    activate(runtime, CLICKS)
    ads = [ad for ad in (page.ad() for _ in range(2)) if ad["campaign_id"] == CLICKS]

    for ad in ads:
        page.see(ad)
        assert page.click(ad).status == 302

    assert totals(runtime, campaign_id=CLICKS) == {
        "impressions": 2,
        "clicks": 2,
        "unbilled": 1,
        "spend_micros": 60_000,
        "revenue_micros": 42_000,
    }
    assert placed(runtime, "blog/banner") == [SPRING]


def test_a_thousand_identical_beacons_at_once_count_one(page: Page, runtime: Runtime) -> None:
    ad = page.ad("ann")

    with ThreadPoolExecutor(16) as pool:
        statuses = set(pool.map(lambda _: page.see(ad).status, range(1_000)))

    assert statuses == {204}
    assert totals(runtime) == {"impressions": 1, "spend_micros": 250, "revenue_micros": 175}
    assert len(profile(runtime, "ann")["advertisers"]["mercedes"]["impressions"]) == 1


def test_copies_of_a_beacon_evict_no_other_impression_from_the_profile(
    page: Page, runtime: Runtime
) -> None:
    put_campaign(runtime, SPRING, caps=[], budget={"total_micros": 500 * PRICE})
    first, second = page.ad("ann"), page.ad("ann")
    page.see(first)

    for _ in range(150):
        page.see(second)

    seen = profile(runtime, "ann")["advertisers"]["mercedes"]["impressions"]
    assert [entry["decision"] for entry in seen] == [
        event["decision"] for event in sorted(stored(runtime), key=lambda row: row["ts"])
    ]
    assert len(seen) == 2


def test_a_seen_ad_is_capped_and_a_click_is_remembered(page: Page, runtime: Runtime) -> None:
    ad = page.ad("ann")
    page.see(ad)
    page.click(ad)

    assert page.ad("ann") is None
    assert page.ad("bob")
    history = profile(runtime, "ann")["advertisers"]["mercedes"]
    assert [len(history["impressions"]), len(history["clicks"])] == [1, 1]


def test_the_log_of_events_does_not_say_who_it_was(page: Page, runtime: Runtime) -> None:
    ad = page.ad("a-visitor-by-name")
    page.see(ad)
    page.click(ad)

    assert "a-visitor-by-name" not in str(stored(runtime))
    assert len(stored(runtime)) == 2


def test_without_a_visitor_no_profile_is_kept(page: Page, runtime: Runtime) -> None:
    ad = page.ad()
    page.see(ad)
    page.click(ad)

    assert runtime.database[profiles.PROFILES.name].count_documents({}) == 0


@pytest.mark.parametrize("agent", [GOOGLEBOT, "curl/8.5.0", "python-requests/2.32.3", ""])
def test_a_bot_is_answered_and_recorded_apart(page: Page, runtime: Runtime, agent: str) -> None:
    ad = page.ad("ann")

    assert (page.see(ad, agent).status, page.click(ad, agent).status) == (204, 302)

    assert totals(runtime) == {"bots": 2}
    assert profile(runtime, "ann") is None
    assert audit.read(runtime.database, SPRING)["spent_micros"] == 0


@pytest.mark.parametrize("site", ["events", "click", "conversions"])
def test_no_site_has_the_name_of_a_path_of_the_api(client: Client, site: str) -> None:
    admin = client.as_("boss", roles=["admin"])

    reply = admin.put(f"/sites/{site}/zones/banner", size={"width": 1, "height": 1})

    assert reply.code == "invalid_request"


def test_a_click_on_an_ad_that_is_no_more_is_not_found(page: Page, runtime: Runtime) -> None:
    ad = page.ad()
    runtime.database["ad.campaign"].delete_many({})

    assert page.click(ad).code == "unknown_campaign"
    assert stored(runtime) == []


def test_a_zone_that_counts_decisions_bills_what_it_serves(page: Page, runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", count_on="decision")

    ad = page.ad("ann")
    assert totals(runtime)["impressions"] == 1
    page.see(ad)

    assert totals(runtime) == {"impressions": 1, "spend_micros": 250, "revenue_micros": 175}
    assert len(profile(runtime, "ann")["advertisers"]["mercedes"]["impressions"]) == 1
    assert page.ad()
    assert totals(runtime)["impressions"] == 2


def test_the_urls_are_below_the_public_url(runtime: Runtime, token: Any) -> None:
    public = runtime.settings.model_copy(update={"public_url": "https://ads.example/api"})
    app = create_app(replace(runtime, settings=public), LocalChalice)

    ad = Page(Client(app, token)).ad()

    assert ad["impression_url"].startswith("https://ads.example/api/ads/events/")
    assert ad["click_url"].startswith("https://ads.example/api/ads/click/")


def test_a_prefetched_click_is_no_click_and_takes_no_persons_place(
    page: Page, client: Client, runtime: Runtime
) -> None:
    pricing = {"type": "cpc", "bid_micros": 60_000}
    put_campaign(runtime, CLICKS, pricing=pricing, budget={"total_micros": 120_000})
    activate(runtime, CLICKS)
    ad = next(ad for ad in (page.ad() for _ in range(2)) if ad["campaign_id"] == CLICKS)

    ahead = client.request("GET", ad["click_url"], headers={"Sec-Purpose": "prefetch;prerender"})
    assert totals(runtime, campaign_id=CLICKS) == {"bots": 1}
    clicked = page.click(ad)

    assert (ahead.status, clicked.status) == (302, 302)
    assert ahead.headers["Location"] == clicked.headers["Location"] == LANDING_URL
    assert totals(runtime, campaign_id=CLICKS)["clicks"] == 1
    assert totals(runtime, campaign_id=CLICKS)["spend_micros"] == 60_000


def test_ads_of_a_page_that_is_rendered_ahead_pay_once_a_person_sees_them(
    page: Page, client: Client, runtime: Runtime
) -> None:
    ahead = {"Sec-Purpose": "prefetch;prerender"}
    (ad,) = client.request("GET", "/ads/blog/banner", headers=ahead).json["ads"]
    assert totals(runtime) == {}

    page.see(ad)

    assert totals(runtime) == {"impressions": 1, "spend_micros": 250, "revenue_micros": 175}
