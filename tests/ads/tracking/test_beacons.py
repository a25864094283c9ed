"""From the page: beacons, pixels and clicks, and all that could be wrong with them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from chalice.app import Chalice
from chalice.local import LocalChalice
from pydantic import SecretStr

from app import create_app
from chalicelib.ads.budgets import audit
from chalicelib.ads.reports import counters
from chalicelib.ads.tracking import events
from chalicelib.ads.tracking.events import AdEvent
from chalicelib.ads.visitors import profiles
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from deploy.declared import declared_queues, visibility_timeout_seconds
from tests.ads.support.events import CLICKS, PRICE, SPRING, Page, stored, totals
from tests.ads.support.factories import LANDING_URL, activate, add_zones, cpm, placed, put_campaign
from tests.support.clock import Clock
from tests.support.http_client import BROWSER, Client
from tests.support.workers import Workers

GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
SUMMER = "bmw:summer"


class Refusing(Queues):
    """Queues that SQS cannot be reached for."""

    def __init__(self) -> None:
        super().__init__("plaza-test-")

    def send(self, *messages: Any) -> bool:
        assert messages
        return False


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


def profile(runtime: Runtime, visitor: str) -> Any:
    return runtime.database[profiles.PROFILES.name].find_one({"_id": visitor})


def test_a_beacon_is_counted_and_billed(page: Page, runtime: Runtime) -> None:
    reply = page.see(page.ad())

    assert (reply.status, reply.body) == (204, b"")
    assert reply.headers["Cache-Control"] == "no-store"
    assert totals(runtime) == {"impressions": 1, "spend_micros": 250, "revenue_micros": 175}


def test_a_pixel_is_a_beacon_too(page: Page, runtime: Runtime) -> None:
    ad = page.ad()

    assert [page.pixel(ad).status, page.see(ad).status] == [204, 204]

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


@pytest.mark.parametrize("site", ["events", "click", "conversions"])
def test_no_site_bears_the_name_of_a_path_of_ours(client: Client, site: str) -> None:
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


def test_the_urls_stand_under_the_public_url(runtime: Runtime, token: Any) -> None:
    public = runtime.settings.model_copy(update={"public_url": "https://ads.example/api"})
    app = create_app(replace(runtime, settings=public), LocalChalice)

    ad = Page(Client(app, token)).ad()

    assert ad["impression_url"].startswith("https://ads.example/api/ads/events/")
    assert ad["click_url"].startswith("https://ads.example/api/ads/click/")


def test_the_grace_exceeds_five_visibility_timeouts(runtime: Runtime, app: Chalice) -> None:
    (queue,) = [each for each in declared_queues(app) if each.name == "count_ad_events"]

    assert runtime.settings.beacon_grace_seconds > 5 * visibility_timeout_seconds(queue)


def test_what_goes_through_the_queue_is_counted_once_however_often_it_is_delivered(
    runtime: Runtime, sqs: Any, workers: Workers, client: Client
) -> None:
    queued = replace(runtime, queues=Queues(runtime.settings.queue_prefix, client=sqs))
    page = Page(Client(create_app(queued, LocalChalice), client.token))
    ad = page.ad()
    for _ in range(3):
        page.see(ad)
    assert stored(runtime) == []

    assert workers.drain() == 3

    assert totals(runtime)["impressions"] == 1


def test_a_batch_that_fails_is_delivered_again_whole(
    app: Any, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    message = AdEvent(
        type="impression",
        decision="decision",
        slot=0,
        campaign_id=SPRING,
        ad_unit_id="one",
        site_id="blog",
        zone_id="banner",
        price_micros=0,
        lease_id=None,
        ts=clock(),
    )
    bodies = {"good": message.model_dump_json(), "bad": "{}"}
    records = [
        {"messageId": name, "body": body, "eventSourceARN": "arn:aws:sqs:x:y:ad-events"}
        for name, body in bodies.items()
    ]

    def failed() -> set[str]:
        answer = app.handler_map["count_ad_events"]({"Records": records}, None)
        return {item["itemIdentifier"] for item in answer["batchItemFailures"]}

    with monkeypatch.context() as patch:
        patch.setattr(counters, "add", lambda *_: 1 / 0)
        assert failed() == {"good", "bad"}
    assert stored(runtime) == []

    assert failed() == {"bad"}
    assert len(stored(runtime)) == 1


def test_events_are_kept_for_ninety_days(runtime: Runtime) -> None:
    indexes = runtime.database[events.EVENTS.name].index_information()

    assert indexes["plaza_ts_1"]["expireAfterSeconds"] == timedelta(days=90).total_seconds()
