"""Two writers at once, and a crash between two lines: zones and campaigns never disagree."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pymongo.errors import OperationFailure

from chalicelib.ads import campaigns, creatives, zones
from chalicelib.ads.models import Zone
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.ads.inventory import (
    BANNER,
    activate,
    ad_unit,
    add_zones,
    assert_zones_agree,
    campaign,
    cpm,
    html,
    placed,
    put_campaign,
    target,
    zone,
)

SPRING = "mercedes:spring"
THREADS = 6
CHANGES_PER_THREAD = 40
ZONES = [f"blog/zone-{number}" for number in range(5)]
CAMPAIGNS = [f"mercedes:campaign-{number}" for number in range(8)]


def change_something(runtime: Runtime, rng: random.Random) -> None:
    """Activate, deactivate, or give another price, other targets and other ad units."""
    campaign_id = rng.choice(CAMPAIGNS)
    match rng.randrange(4):
        case 0 | 1:
            activate(runtime, campaign_id)
        case 2:
            campaigns.deactivate(runtime.database, campaign_id)
        case _:
            put_campaign(
                runtime,
                campaign_id,
                *rng.sample(ZONES, rng.randint(1, len(ZONES))),
                pricing=cpm(rng.randint(1, 5) * 1_000),
                ad_units=[ad_unit(f"unit-{n}") for n in range(rng.randint(1, 3))],
            )


def in_threads(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def test_zones_equal_the_campaigns_after_many_writers_at_once(runtime: Runtime) -> None:
    add_zones(runtime, *ZONES)
    for campaign_id in CAMPAIGNS:
        put_campaign(runtime, campaign_id, *ZONES)

    def write(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(CHANGES_PER_THREAD):
            change_something(runtime, rng)

    in_threads(write)

    assert_zones_agree(runtime, *ZONES)


def test_no_reader_sees_a_zone_out_of_order_while_writers_are_at_work(runtime: Runtime) -> None:
    add_zones(runtime, *ZONES)
    for campaign_id in CAMPAIGNS:
        put_campaign(runtime, campaign_id, *ZONES)

    def write_or_read(number: int) -> None:
        rng, version = random.Random(number), 0
        for _ in range(CHANGES_PER_THREAD):
            if number:
                change_something(runtime, rng)
                continue
            seen = zone(runtime, ZONES[0])
            prices = [ad["ecpm_micros"] for ad in seen["ads"]]
            assert prices == sorted(prices, reverse=True)
            assert seen["version"] >= version
            version = seen["version"]

    in_threads(write_or_read, 3)


def test_a_campaign_that_two_create_at_once_is_created_once(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    for number in range(10):
        name = f"mercedes:race-{number}"

        def create(_: int, name: str = name) -> bool:
            return campaigns.put(runtime.database, name, campaign(), runtime.now())[1]

        assert sorted(in_threads(create, 4)) == [False, False, False, True]


def test_a_zone_that_two_create_at_once_is_created_once(runtime: Runtime) -> None:
    wanted = Zone.model_validate({"size": BANNER})

    def create(_: int) -> int:
        return int(zones.put(runtime.database, **target("blog/banner"), zone=wanted)["version"])

    assert sorted(in_threads(create, 4)) == [1, 2, 3, 4]


def test_changing_a_zone_s_floor_loses_none_of_the_ads_placed_meanwhile(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    for campaign_id in CAMPAIGNS:
        put_campaign(runtime, campaign_id)

    def place_or_change(number: int) -> None:
        if number < len(CAMPAIGNS):
            activate(runtime, CAMPAIGNS[number])
        else:
            add_zones(runtime, "blog/banner", floor_ecpm_micros=number)

    in_threads(place_or_change, len(CAMPAIGNS) + 4)

    assert placed(runtime, "blog/banner") == CAMPAIGNS
    assert zone(runtime, "blog/banner")["version"] == 1 + len(CAMPAIGNS) + 4


class Crash(Exception):
    """The process dies here."""


def state(runtime: Runtime) -> list[Document]:
    names = (campaigns.CAMPAIGNS.name, zones.ZONES.name, creatives.CREATIVES.name)
    return [row for name in names for row in runtime.database[name].find().sort("_id", 1)]


@pytest.fixture
def active(runtime: Runtime) -> Runtime:
    """A runtime with a campaign at work in two zones, with a large creative."""
    add_zones(runtime, "blog/banner", "blog/side")
    units = [ad_unit(creative=html("x" * 2_000))]
    put_campaign(runtime, SPRING, "blog/banner", "blog/side", ad_units=units)
    activate(runtime, SPRING)
    return runtime


@pytest.mark.parametrize(
    ("module", "step"),
    [(campaigns, "_update"), (creatives, "follow"), (zones, "place")],
    ids=["campaign", "creatives", "zones"],
)
def test_a_change_that_dies_after_any_of_its_writes_leaves_nothing(
    active: Runtime, monkeypatch: pytest.MonkeyPatch, module: Any, step: str
) -> None:
    before = state(active)
    real = getattr(module, step)

    def dies_after(*arguments: Any) -> None:
        real(*arguments)
        raise Crash

    monkeypatch.setattr(module, step, dies_after)
    with pytest.raises(Crash):
        put_campaign(active, SPRING, "blog/banner", pricing=cpm(1_000))

    assert state(active) == before


@pytest.mark.parametrize(
    ("module", "step"), [(campaigns, "_update"), (zones, "clear")], ids=["campaign", "zones"]
)
def test_a_deactivation_that_dies_after_any_of_its_writes_leaves_nothing(
    active: Runtime, monkeypatch: pytest.MonkeyPatch, module: Any, step: str
) -> None:
    before = state(active)
    real = getattr(module, step)

    def dies_after(*arguments: Any) -> None:
        real(*arguments)
        raise Crash

    monkeypatch.setattr(module, step, dies_after)
    with pytest.raises(Crash):
        campaigns.deactivate(active.database, SPRING)

    assert state(active) == before


def test_an_activation_whose_second_zone_cannot_be_written_leaves_nothing(
    runtime: Runtime,
) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    put_campaign(runtime, SPRING, "blog/banner", "blog/side")
    runtime.database[zones.ZONES.name].update_one(
        target("blog/side"), {"$set": {"ads": "not a list"}}
    )
    before = state(runtime)

    with pytest.raises(OperationFailure):
        activate(runtime, SPRING)

    assert state(runtime) == before
