"""Who has a place in a zone: its settings, an advertiser's share, and the weakest row's exit."""

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pymongo
import pytest
from pymongo import _csot

from chalicelib import deadlines
from chalicelib.ads import jobs
from chalicelib.ads.budgets import exhaustion
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory import campaigns, fitting, placing, refilling, waiting
from chalicelib.ads.inventory.refilling import ZoneState, fitting_rows
from chalicelib.ads.inventory.rows import Ranked
from chalicelib.ads.inventory.waiting import WaitingRow
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


@pytest.mark.usefixtures("small")
def test_an_advertiser_s_many_waiting_rows_are_not_read(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_zones(runtime, "blog/banner")
    add(runtime, OTHER, 9_000)
    for number in range(4):
        add(runtime, f"rich:{number}", 8_000, ad_units=UNITS)
    add(runtime, POOR, 1_000)
    assert reasons(runtime, POOR) == {"blog/banner/one": "zone_full"}
    lifecycle.deactivate(runtime.database, OTHER)
    read: list[str] = []

    def note(zone: ZoneState, rows: Sequence[WaitingRow]) -> list[Ranked]:
        read.extend(row["campaign_id"] for row in rows)
        return fitting_rows(zone, rows)

    monkeypatch.setattr(refilling, "fitting_rows", note)

    assert refill(runtime) == 1

    assert placed(runtime, "blog/banner") == ["rich:0", "rich:0", "rich:1", POOR]
    assert sorted(read) == [POOR, "rich:1", "rich:2", "rich:2"]


def test_a_run_of_slow_entries_leaves_the_others_to_the_next(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_zones(runtime, "blog/banner", "blog/side", floor_ecpm_micros=2_000)
    for number in range(4):
        add(runtime, f"poor:{number}", 1_000, "blog/banner", "blog/side")
    add_zones(runtime, "blog/banner", "blog/side")
    enter, left = placing.enter, [30.0]
    monkeypatch.setattr(deadlines, "remaining", lambda: left[0])

    def be_slow(*given: Any) -> None:
        left[0] -= 5
        enter(*given)

    def run() -> int:
        left[0] = 30
        return refill(runtime)

    monkeypatch.setattr(placing, "enter", be_slow)

    assert [run() for _ in range(4)] == [3, 3, 2, 0]


def test_the_refill_has_a_part_of_the_minute_alone(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[float] = []

    def note(*_: Any) -> int:
        left.append(_csot.remaining() or 0)
        return 0

    monkeypatch.setattr(refilling, "refill", note)
    with deadlines.bound(10), pymongo.timeout(10):
        jobs.run_minute(runtime)

    assert 4 < left[0] <= 5


def test_a_bounded_number_of_zones_is_awaited(runtime: Runtime) -> None:
    names = ["blog/a", "blog/b", "news/a", "news/b", "news/c"]
    add_zones(runtime, *names, floor_ecpm_micros=2_000)
    add(runtime, POOR, 1_000, *names)

    def awaited(most: int, seed: int) -> set[str]:
        found = waiting.awaited_zones(runtime.database, random.Random(seed), most)
        return {"/".join(zone) for zone in found}

    assert awaited(9, 1) == set(names)
    assert {len(awaited(2, seed)) for seed in range(9)} == {2}
    assert set().union(*(awaited(1, seed) for seed in range(99))) == set(names)


def test_the_schedule_refills_zones(runtime: Runtime, clock: Clock) -> None:

    add_zones(runtime, "blog/banner", floor_ecpm_micros=2_000)
    add(runtime, POOR, 1_000)
    add_zones(runtime, "blog/banner")
    clock.advance(seconds=timedelta(minutes=1).total_seconds())

    assert jobs.run_minute(runtime)["zones_entered"] == 1
    assert placed(runtime, "blog/banner") == [POOR]
