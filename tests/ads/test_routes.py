from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.ads.inventory import campaigns, creatives
from chalicelib.runtime import Runtime
from tests.ads.support.factories import (
    BANNER,
    LANDING_URL,
    activate,
    ad_unit,
    add_zones,
    advertiser,
    campaign_body,
    cpm,
    html,
    publisher,
    put_campaign,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

SPRING = "mercedes:spring"
CAMPAIGN = f"/campaigns/{SPRING}"
ZONE = "/sites/blog/zones/banner"
ADS = "/ads/blog/banner"


def served(client: Client, target: str = ADS) -> list[str]:
    """The campaigns of the ads that an answer holds."""
    reply = client.get(target)
    assert reply.status == 200, reply.body
    return [ad["campaign_id"] for ad in reply.json["ads"]]


def test_a_publisher_makes_a_zone_and_reads_it(client: Client) -> None:
    pat = publisher(client)

    reply = pat.put(ZONE, size=BANNER, floor_ecpm_micros=100_000, count_on="decision")

    assert reply.status == 201
    assert reply.json == {
        "site_id": "blog",
        "id": "banner",
        "size": BANNER,
        "floor_ecpm_micros": 100_000,
        "count_on": "decision",
        "can_hold_html": False,
        "allowed_advertisers": None,
        "blocked_advertisers": [],
        "version": 1,
        "ad_count": 0,
    }
    assert pat.get(ZONE).json == reply.json


def test_a_changed_zone_keeps_its_ads(client: Client, runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)

    reply = publisher(client).put(ZONE, size=BANNER, floor_ecpm_micros=1)

    assert reply.status == 200
    assert (reply.json["version"], reply.json["ad_count"]) == (3, 1)
    assert served(client) == [SPRING]


def test_a_campaign_is_made_changed_and_read(client: Client, runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    ann = advertiser(client)

    made = ann.put(CAMPAIGN, **campaign_body())
    changed = ann.put(CAMPAIGN, **campaign_body(pricing=cpm(1_000)))

    assert (made.status, changed.status) == (201, 200)
    assert made.json == {
        "id": SPRING,
        "status": "draft",
        "flight": {"starts_at": "2026-03-01T00:00:00Z", "ends_at": "2026-04-01T00:00:00Z"},
        "time_zone": "UTC",
        "pricing": {"type": "cpm", "bid_micros": 250_000},
        "budget": {"total_micros": 50_000_000, "daily_micros": None, "pacing": "asap"},
        "caps": [{"scope": "ad", "event": "impression", "limit": 1, "window_seconds": 86_400}],
        "targets": [{"site_id": "blog", "zone_id": "banner"}],
        "ad_units": [{**ad_unit(), "keywords": []}],
        "unplaced": [],
    }
    assert ann.get(CAMPAIGN).json == {**made.json, "pricing": cpm(1_000)}


def test_an_activated_ad_is_served_and_a_deactivated_one_is_not(
    client: Client, runtime: Runtime
) -> None:
    add_zones(runtime, "blog/banner")
    ann = advertiser(client)
    ann.put(CAMPAIGN, **campaign_body())
    assert served(client) == []

    activated = ann.request("POST", f"{CAMPAIGN}/activate")
    assert (activated.status, activated.json["status"]) == (200, "active")
    assert served(client) == [SPRING]

    deactivated = ann.request("POST", f"{CAMPAIGN}/deactivate")
    assert (deactivated.status, deactivated.json["status"]) == (200, "paused")
    assert served(client) == []


def test_a_decision_holds_its_id_and_the_ad(client: Client, runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)

    reply = client.get(ADS)

    (ad,) = reply.json["ads"]
    assert ad.pop("impression_url").startswith("/ads/events/")
    assert ad.pop("click_url").startswith("/ads/click/")
    assert ad == {"campaign_id": SPRING, "ad_unit_id": "one", "creative": ad_unit()["creative"]}
    assert len(reply.json["id"]) == 16
    assert reply.json["id"] != client.get(ADS).json["id"]
    assert reply.headers["Cache-Control"] == "no-store"


def test_the_best_paying_campaign_is_served(client: Client, runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, "bmw:summer", pricing=cpm(200_000))
    put_campaign(runtime, SPRING, pricing=cpm(250_000))
    put_campaign(runtime, "audi:clicks", pricing={"type": "cpc", "bid_micros": 60_000})
    activate(runtime, "bmw:summer", SPRING)

    assert served(client) == [SPRING]
    activate(runtime, "audi:clicks")
    assert served(client) == ["audi:clicks"]


def test_a_zone_without_ads_answers_and_an_unknown_one_is_not_found(
    client: Client, runtime: Runtime
) -> None:
    add_zones(runtime, "blog/banner")

    assert served(client) == []
    assert client.get("/ads/blog/none").code == "unknown_zone"
    assert client.get("/ads/none/banner").code == "unknown_zone"
    assert publisher(client).get("/sites/blog/zones/none").code == "unknown_zone"


def test_a_campaign_starts_and_ends_by_itself(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    add_zones(runtime, "blog/banner")
    flight = {"starts_at": "2026-03-02T00:00:00Z", "ends_at": "2026-03-03T00:00:00Z"}
    put_campaign(runtime, SPRING, flight=flight)
    activate(runtime, SPRING)

    assert served(client) == []
    clock.time = datetime(2026, 3, 2, tzinfo=UTC)
    assert served(client) == [SPRING]
    clock.time = datetime(2026, 3, 3, tzinfo=UTC)
    assert served(client) == []


def test_a_campaign_whose_flight_is_over_is_not_activated(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    clock.time = datetime(2026, 4, 1, tzinfo=UTC)

    reply = advertiser(client).post(f"{CAMPAIGN}/activate")

    assert (reply.status, reply.code) == (409, "flight_over")


def test_a_large_creative_is_served_whole(client: Client, runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    fields = {f"field_{number}": "é" * 500 for number in range(16)}
    large = {"type": "native", "landing_url": LANDING_URL, "fields": fields}
    put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=large)])
    activate(runtime, SPRING)

    assert client.get(ADS).json["ads"][0]["creative"] == large


def test_an_ad_whose_creative_has_just_gone_gives_way_to_the_next(
    client: Client, runtime: Runtime
) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=html("x" * 2_000))])
    put_campaign(runtime, "bmw:summer", pricing=cpm(1_000))
    activate(runtime, SPRING, "bmw:summer")
    runtime.database[creatives.CREATIVES.name].delete_many({})

    assert served(client) == ["bmw:summer"]


def test_targets_without_a_zone_are_named(client: Client, runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")

    reply = advertiser(client).put(CAMPAIGN, **campaign_body("blog/banner", "shop/none"))

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert reply.json["errors"] == [
        {
            "field": "targets.1",
            "code": "unknown_zone",
            "detail": "There is no zone none on the site shop",
        }
    ]
    assert advertiser(client).get(CAMPAIGN).code == "unknown_campaign"


def calls(client: Client) -> list[Any]:
    """Every call on the campaign, by this client."""
    return [
        client.put(CAMPAIGN, **campaign_body()),
        client.get(CAMPAIGN),
        client.post(f"{CAMPAIGN}/activate"),
        client.post(f"{CAMPAIGN}/deactivate"),
    ]


def test_a_campaign_is_its_advertiser_s_own(client: Client, runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)

    assert {reply.code for reply in calls(client)} == {"unauthenticated"}
    for stranger in (
        advertiser(client, "bmw"),
        client.as_("ann", roles=["advertiser"]),
        client.as_("ann", roles=["moderator"], advertiser="mercedes"),
        publisher(client),
        client.as_("mercedes"),
    ):
        assert {reply.code for reply in calls(stranger)} == {"forbidden"}
    assert {reply.status for reply in calls(client.as_("root", roles=["admin"]))} == {200}


def test_a_stranger_does_not_learn_which_campaigns_there_are(client: Client) -> None:
    assert advertiser(client, "bmw").get("/campaigns/mercedes:none").code == "forbidden"
    assert advertiser(client).get("/campaigns/mercedes:none").code == "unknown_campaign"


def test_a_zone_is_its_publisher_s_own(client: Client) -> None:
    def codes(caller: Client) -> set[str]:
        return {caller.put(ZONE, size=BANNER).code, caller.get(ZONE).code}

    assert codes(client) == {"unauthenticated"}
    for stranger in (
        publisher(client, "shop"),
        client.as_("pat", roles=["publisher"]),
        client.as_("pat", roles=["advertiser"], sites=["blog"]),
    ):
        assert codes(stranger) == {"forbidden"}
    assert client.as_("root", roles=["admin"]).put(ZONE, size=BANNER).status == 201


@pytest.mark.parametrize(
    "campaign_id",
    [
        "mercedes",
        "mercedes:",
        ":spring",
        "mercedes:a:b",
        "Mercedes:a",
        "mercedes:$ne",
        "mercedes:a.",
    ],
)
def test_a_campaign_s_id_names_an_advertiser_and_a_campaign(
    client: Client, campaign_id: str
) -> None:
    reply = advertiser(client).get(f"/campaigns/{campaign_id}")

    assert (reply.status, reply.code) == (422, "invalid_request")


@pytest.mark.parametrize("site", ["Blog", "$ne", "a.b", "a%00", "a%2Fb", "a" * 65, "bl%C3%B6g"])
def test_a_hostile_site_is_refused(client: Client, site: str) -> None:
    assert client.get(f"/ads/{site}/banner").code == "invalid_request"
    assert client.get(f"/ads/blog/{site}").code == "invalid_request"


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"{}", b"7", b'"x"', b"{", b'{"$set": {}}', b"\xff", b'{"a": NaN}'],
)
def test_a_body_that_is_no_campaign_is_refused(
    client: Client, runtime: Runtime, body: bytes
) -> None:
    headers = {"Content-Type": "application/json"}

    reply = advertiser(client).request("PUT", CAMPAIGN, body=body, headers=headers)

    assert reply.code in {"invalid_json", "invalid_request"}
    assert runtime.database[campaigns.CAMPAIGNS.name].count_documents({}) == 0
