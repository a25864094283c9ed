from typing import Any

import pytest

from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.errors import FlightOver, UnknownCampaign
from chalicelib.ads.inventory import campaigns, creatives
from chalicelib.errors import InvalidRequest
from chalicelib.runtime import Runtime
from tests.ads.support.factories import (
    activate,
    ad_unit,
    add_zones,
    assert_zones_agree,
    campaign,
    cpm,
    html,
    placed,
    put_campaign,
    zone,
)

SPRING = "mercedes:spring"
SUMMER = "bmw:summer"


def status(runtime: Runtime, campaign_id: str = SPRING) -> str:
    return str(campaigns.get(runtime.database, campaign_id)["status"])


def test_a_new_campaign_is_a_draft_in_no_zone(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")

    stored, created = lifecycle.put(runtime, SPRING, campaign())

    assert created
    assert stored["status"] == "draft"
    assert placed(runtime, "blog/banner") == []


def test_a_campaign_reads_as_it_was_written(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")

    stored = put_campaign(runtime, SPRING, time_zone="Europe/Berlin")

    assert campaigns.get(runtime.database, SPRING) == stored
    assert (
        stored
        == {"_id": SPRING, "status": "draft", "by": None, "made": runtime.now()}
        | campaign(time_zone="Europe/Berlin").model_dump()
    )


def test_activation_puts_each_ad_unit_into_each_zone(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", "blog/side", "shop/banner")
    put_campaign(
        runtime, SPRING, "blog/banner", "shop/banner", ad_units=[ad_unit("one"), ad_unit("two")]
    )

    activate(runtime, SPRING)

    assert status(runtime) == "active"
    assert placed(runtime, "blog/banner") == placed(runtime, "shop/banner") == [SPRING, SPRING]
    assert placed(runtime, "blog/side") == []
    assert_zones_agree(runtime, "blog/banner", "blog/side", "shop/banner")


def test_ads_are_in_descending_ecpm(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    for name, bid_micros in (
        ("b:mid", 2_000),
        ("a:mid", 2_000),
        ("a:low", 1_000),
        ("a:top", 3_000),
    ):
        put_campaign(runtime, name, pricing=cpm(bid_micros))
        activate(runtime, name)

    assert placed(runtime, "blog/banner") == ["a:top", "a:mid", "b:mid", "a:low"]


def test_every_change_raises_the_version_of_the_zones_concerned_alone(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    put_campaign(runtime, SPRING)

    def versions() -> tuple[int, int]:
        return zone(runtime, "blog/banner")["version"], zone(runtime, "blog/side")["version"]

    assert versions() == (1, 1)
    activate(runtime, SPRING)
    assert versions() == (2, 1)
    put_campaign(runtime, SPRING, pricing=cpm(1_000))
    assert versions() == (3, 1)
    lifecycle.deactivate(runtime.database, SPRING)
    assert versions() == (4, 1)


def test_activating_twice_changes_nothing(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)
    before = zone(runtime, "blog/banner")

    activate(runtime, SPRING)

    assert zone(runtime, "blog/banner") == before


def test_deactivation_pauses_and_leaves_the_ads_of_others(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", "shop/banner")
    for name in (SPRING, SUMMER):
        put_campaign(runtime, name, "blog/banner", "shop/banner")
        activate(runtime, name)

    lifecycle.deactivate(runtime.database, SPRING)

    assert status(runtime) == "paused"
    assert placed(runtime, "blog/banner") == placed(runtime, "shop/banner") == [SUMMER]


def test_a_draft_is_not_paused(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)

    assert lifecycle.deactivate(runtime.database, SPRING)["status"] == "draft"


def test_the_zones_of_an_active_campaign_follow_its_change(runtime: Runtime) -> None:
    names = ("blog/banner", "blog/side", "shop/banner")
    add_zones(runtime, *names)
    put_campaign(runtime, SPRING, "blog/banner", "blog/side")
    activate(runtime, SPRING)

    put_campaign(
        runtime, SPRING, "blog/side", "shop/banner", pricing=cpm(7_000), ad_units=[ad_unit("new")]
    )

    assert status(runtime) == "active"
    assert placed(runtime, "blog/banner") == []
    assert [ad["ad_unit_id"] for ad in zone(runtime, "blog/side")["ads"]] == ["new"]
    assert zone(runtime, "shop/banner")["ads"][0]["ecpm_micros"] == 7_000
    assert_zones_agree(runtime, *names)


def test_a_changed_paused_campaign_stays_out_of_the_zones(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)
    lifecycle.deactivate(runtime.database, SPRING)

    put_campaign(runtime, SPRING, pricing=cpm(1_000))

    assert status(runtime) == "paused"
    assert placed(runtime, "blog/banner") == []


def test_a_text_with_operators_is_only_a_text(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    unit = ad_unit("one", keywords=["$ads", "{$gt: 1}"])
    unit["creative"] |= {"headline": "$version", "body": "$$ROOT"}
    put_campaign(runtime, SPRING, ad_units=[unit])

    activate(runtime, SPRING)

    (ad,) = zone(runtime, "blog/banner")["ads"]
    assert ad["creative"]["headline"] == "$version"
    assert ad["creative"]["body"] == "$$ROOT"
    assert ad["keywords"] == ["$ads", "{$gt: 1}"]


def test_targets_without_a_zone_are_named_and_nothing_is_stored(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")

    with pytest.raises(InvalidRequest) as refused:
        put_campaign(runtime, SPRING, "blog/banner", "blog/none", "none/banner")

    assert [(fault.field, fault.code) for fault in refused.value.errors] == [
        ("targets.1", "unknown_zone"),
        ("targets.2", "unknown_zone"),
    ]
    with pytest.raises(UnknownCampaign):
        campaigns.get(runtime.database, SPRING)


def test_an_unknown_campaign_is_neither_activated_nor_made(runtime: Runtime) -> None:
    with pytest.raises(UnknownCampaign):
        lifecycle.activate(runtime.database, SPRING, runtime.now())
    with pytest.raises(UnknownCampaign):
        lifecycle.deactivate(runtime.database, SPRING)
    with pytest.raises(UnknownCampaign):
        campaigns.get(runtime.database, SPRING)


def test_a_flight_can_be_activated_until_its_end(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    now = runtime.now()
    put_campaign(runtime, SPRING, flight={"starts_at": "2026-01-01T00:00:00Z", "ends_at": now})
    put_campaign(
        runtime,
        SUMMER,
        flight={"starts_at": "2026-01-01T00:00:00Z", "ends_at": "2026-03-01T12:00:00.001Z"},
    )

    with pytest.raises(FlightOver):
        activate(runtime, SPRING)
    activate(runtime, SUMMER)

    assert status(runtime) == "draft"
    assert placed(runtime, "blog/banner") == [SUMMER]


def test_an_active_campaign_given_a_flight_that_is_over_ends(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)
    over = {"starts_at": "2026-01-01T00:00:00Z", "ends_at": "2026-03-01T12:00:00Z"}

    put_campaign(runtime, SPRING, flight=over)
    assert status(runtime) == "ended"
    assert placed(runtime, "blog/banner") == []

    put_campaign(runtime, SPRING)
    assert status(runtime) == "paused"
    activate(runtime, SPRING)
    assert placed(runtime, "blog/banner") == [SPRING]


def kept_creatives(runtime: Runtime) -> list[dict[str, Any]]:
    return [kept["creative"] for kept in runtime.database[creatives.CREATIVES.name].find()]


def test_only_a_creative_over_1_kib_is_stored_apart(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    small, large = html("<b>small</b>"), html("<b>large</b>" * 200)
    put_campaign(
        runtime, SPRING, ad_units=[ad_unit("a", creative=small), ad_unit("b", creative=large)]
    )
    activate(runtime, SPRING)

    inline, apart = zone(runtime, "blog/banner")["ads"]

    assert inline["creative"] == small
    assert "creative" not in apart
    assert creatives.find(runtime.database, apart["creative_id"]) == large
    assert kept_creatives(runtime) == [large]


def test_large_creatives_follow_their_campaign(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    first, second = html("1" * 2_000), html("2" * 2_000)
    put_campaign(runtime, SPRING, ad_units=[ad_unit("a", creative=first)])

    put_campaign(runtime, SPRING, ad_units=[ad_unit("a", creative=second)])
    assert kept_creatives(runtime) == [second]

    put_campaign(
        runtime, SPRING, ad_units=[ad_unit("a", creative=second), ad_unit("b", creative=first)]
    )
    assert sorted(kept_creatives(runtime), key=str) == [first, second]

    put_campaign(runtime, SPRING, ad_units=[ad_unit("a")])
    assert kept_creatives(runtime) == []


def test_two_campaigns_with_the_same_large_creative_do_not_share_it(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    large = [ad_unit("a", creative=html("x" * 2_000))]
    for name in (SPRING, SUMMER):
        put_campaign(runtime, name, ad_units=large)
    activate(runtime, SUMMER)

    put_campaign(runtime, SPRING)

    (ad,) = zone(runtime, "blog/banner")["ads"]
    assert creatives.find(runtime.database, ad["creative_id"]) == html("x" * 2_000)
