"""Who has a place in a zone: its settings, an advertiser's share, and the weakest row's exit."""

from datetime import timedelta

import pytest

from chalicelib.ads import jobs
from chalicelib.ads.budgets import exhaustion
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory import campaigns, fitting
from chalicelib.runtime import Runtime
from tests.ads.inventory.support.places import add, reasons, refill
from tests.ads.support.factories import (
    activate,
    ad_unit,
    add_zones,
    advertiser,
    cpm,
    placed,
    put_campaign,
    zone,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

MINE, RICH, POOR, OTHER = "mercedes:mine", "rich:one", "poor:one", "other:one"


UNITS = [ad_unit("a"), ad_unit("b")]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zones that hold four rows, three of them of one advertiser."""
    monkeypatch.setattr(fitting, "MAX_ADS", 4)
    monkeypatch.setattr(fitting, "MAX_ADS_OF_ADVERTISER", 3)


@pytest.mark.usefixtures("small")
def test_the_weakest_row_of_a_full_zone_leaves_for_one_that_pays_more(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, POOR, 1_000, ad_units=UNITS)
    add(runtime, OTHER, 2_000, ad_units=UNITS)

    add(runtime, RICH, 3_000)

    assert placed(runtime, "blog/banner") == [RICH, OTHER, OTHER, POOR]
    assert reasons(runtime, POOR) == {"blog/banner/b": "zone_full"}
    assert reasons(runtime, RICH) == {}


@pytest.mark.usefixtures("small")
def test_no_row_leaves_for_one_that_pays_no_more(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, POOR, 1_000, ad_units=UNITS)
    add(runtime, OTHER, 2_000, ad_units=UNITS)
    before = zone(runtime, "blog/banner")

    add(runtime, "a:equal", 1_000)

    assert zone(runtime, "blog/banner") == before
    assert campaigns.get(runtime.database, "a:equal")["status"] == "active"
    assert reasons(runtime, "a:equal") == {"blog/banner/one": "zone_full"}


@pytest.mark.usefixtures("small")
def test_an_advertiser_s_share_is_of_its_own_best_rows(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, "rich:weak", 1_000, ad_units=UNITS)
    add(runtime, "rich:strong", 3_000, ad_units=UNITS)
    add(runtime, "rich:weaker", 1_000)

    assert placed(runtime, "blog/banner") == ["rich:strong", "rich:strong", "rich:weak"]
    assert reasons(runtime, "rich:weak") == {"blog/banner/b": "advertiser_share"}
    assert reasons(runtime, "rich:weaker") == {"blog/banner/one": "advertiser_share"}


def test_an_advertiser_cannot_fill_a_zone_by_itself(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    for number in range(5):
        units = [ad_unit(f"unit-{each}") for each in range(50)]
        add(runtime, f"greedy:campaign-{number}", 10**9, ad_units=units)

    add(runtime, MINE, 1_000)

    rows = placed(runtime, "blog/banner")
    assert len(rows) == fitting.MAX_ADS_OF_ADVERTISER + 1
    assert rows[-1] == MINE


def test_a_share_is_of_one_advertiser_and_not_of_those_whose_names_begin_alike(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "MAX_ADS_OF_ADVERTISER", 1)
    add_zones(runtime, "blog/banner")
    names = ["a:one", "ab:one", "a-b:one", "a_:one", "a0:one"]
    for name in names:
        add(runtime, name, 1_000)

    assert sorted(placed(runtime, "blog/banner")) == sorted(names)


@pytest.mark.usefixtures("small")
def test_a_row_that_left_comes_back_when_there_is_room(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, POOR, 1_000, ad_units=UNITS)
    add(runtime, OTHER, 2_000, ad_units=UNITS)
    add(runtime, RICH, 3_000, ad_units=UNITS)
    assert placed(runtime, "blog/banner") == [RICH, RICH, OTHER, OTHER]
    assert refill(runtime) == 0

    lifecycle.deactivate(runtime.database, OTHER)

    assert refill(runtime) == 1
    assert placed(runtime, "blog/banner") == [RICH, RICH, POOR, POOR]
    assert reasons(runtime, POOR) == {}
    assert refill(runtime) == 0


@pytest.mark.usefixtures("small")
def test_of_those_that_wait_the_best_paying_come_back_first(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, RICH, 9_000, ad_units=UNITS)
    add(runtime, OTHER, 8_000, ad_units=UNITS)
    for number in (1, 3, 2):
        add(runtime, f"poor:{number}", number * 1_000, ad_units=UNITS)
    lifecycle.deactivate(runtime.database, OTHER)

    refill(runtime)

    assert placed(runtime, "blog/banner") == [RICH, RICH, "poor:3", "poor:3"]


@pytest.mark.usefixtures("small")
def test_a_campaign_that_is_paused_or_goes_elsewhere_waits_no_more(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    add(runtime, RICH, 9_000, ad_units=UNITS)
    add(runtime, OTHER, 8_000, ad_units=UNITS)
    add(runtime, POOR, 1_000)
    add(runtime, "poor:two", 1_000)

    lifecycle.deactivate(runtime.database, POOR)
    put_campaign(runtime, "poor:two", "blog/side", pricing=cpm(1_000))

    assert reasons(runtime, POOR) == reasons(runtime, "poor:two") == {}
    lifecycle.deactivate(runtime.database, RICH)
    assert refill(runtime) == 0
    assert placed(runtime, "blog/banner") == [OTHER, OTHER]


@pytest.mark.usefixtures("small")
def test_an_exhausted_campaign_is_back_the_next_morning_even_in_a_full_zone(
    runtime: Runtime, clock: Clock
) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    daily = {"total_micros": 10**6, "daily_micros": 1_000, "pacing": "asap"}
    click = {"type": "cpc", "bid_micros": 1_000}
    put_campaign(runtime, POOR, "blog/banner", "blog/side", pricing=click, budget=daily)
    activate(runtime, POOR)
    take_all = {"$set": {"balance.available_micros": 0, "balance.spent_micros": 1_000}}
    runtime.database[campaigns.CAMPAIGNS.name].update_one({"_id": POOR}, take_all)
    exhaustion.refresh_all(runtime.database, runtime.now(), runtime.random)
    assert campaigns.get(runtime.database, POOR)["status"] == "exhausted"
    add(runtime, RICH, 9_000_000, ad_units=UNITS)
    add(runtime, OTHER, 9_000_000, ad_units=UNITS)

    clock.advance(days=1)
    exhaustion.refresh_all(runtime.database, runtime.now(), runtime.random)

    assert campaigns.get(runtime.database, POOR)["status"] == "active"
    assert placed(runtime, "blog/side") == [POOR]
    assert reasons(runtime, POOR) == {"blog/banner/one": "zone_full"}


def test_a_changed_row_keeps_its_place_in_a_full_zone(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "MAX_ADS", 2)
    add_zones(runtime, "blog/banner")
    add(runtime, RICH, 3_000)
    add(runtime, POOR, 1_000)

    put_campaign(runtime, POOR, pricing=cpm(1_000), ad_units=[ad_unit("new"), ad_unit("newer")])

    assert [row["ad_unit_id"] for row in zone(runtime, "blog/banner")["ads"]] == ["one", "new"]
    assert reasons(runtime, POOR) == {"blog/banner/newer": "zone_full"}


def test_a_raised_budget_leaves_what_waits_as_it_is(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner", floor_ecpm_micros=2_000)
    add(runtime, POOR, 1_000)

    put_campaign(runtime, POOR, pricing=cpm(1_000), budget={"total_micros": 60_000_000})

    assert reasons(runtime, POOR) == {"blog/banner/one": "below_floor"}


@pytest.mark.usefixtures("small")
def test_an_advertiser_reads_which_of_its_ads_have_no_place(
    client: Client, runtime: Runtime
) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    add(runtime, RICH, 9_000, ad_units=UNITS)
    add(runtime, OTHER, 9_000, ad_units=UNITS)
    put_campaign(runtime, MINE, "blog/banner", "blog/side", ad_units=UNITS, pricing=cpm(1_000))
    unplaced = [
        {
            "site_id": "blog",
            "zone_id": "banner",
            "reason": "zone_full",
            "ad_unit_ids": ["a", "b"],
        }
    ]

    reply = advertiser(client).post(f"/campaigns/{MINE}/activate")

    assert (reply.status, reply.json["status"]) == (200, "active")
    assert reply.json["unplaced"] == unplaced
    assert advertiser(client).get(f"/campaigns/{MINE}").json["unplaced"] == unplaced
    assert advertiser(client).post(f"/campaigns/{MINE}/deactivate").json["unplaced"] == []


def test_the_schedule_refills_zones(runtime: Runtime, clock: Clock) -> None:

    add_zones(runtime, "blog/banner", floor_ecpm_micros=2_000)
    add(runtime, POOR, 1_000)
    add_zones(runtime, "blog/banner")
    clock.advance(seconds=timedelta(minutes=1).total_seconds())

    assert jobs.run_minute(runtime)["zones_entered"] == 1
    assert placed(runtime, "blog/banner") == [POOR]
