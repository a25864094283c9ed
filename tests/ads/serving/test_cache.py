import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.ads.errors import UnknownZone
from chalicelib.ads.inventory import creatives
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.serving.decisions import AdRequest, decide
from chalicelib.ads.visitors import histories, profiles
from chalicelib.ads.visitors.histories import VisitorProfile
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.ads.serving.support.reads import SPRING, Reads, add_active
from tests.ads.serving.support.zones import event
from tests.ads.support.factories import (
    activate,
    ad_unit,
    add_zones,
    cpm,
    html,
    put_campaign,
)
from tests.support.clock import START, Clock

SUMMER = "bmw:summer"


LIFETIME_MS = 1_000


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"zone_ttl_ms": LIFETIME_MS})


def test_a_warm_decision_reads_the_profile_and_nothing_else(
    reads: tuple[Reads, Runtime],
) -> None:
    listener, runtime = reads
    add_active(runtime)
    memory, asked = ZoneCache(runtime), AdRequest("blog", "banner", visitor="ann")
    decide(runtime, memory, asked)
    listener.take()

    decide(runtime, memory, asked)

    assert listener.take() == ["find ad.user"]


def test_a_warm_decision_without_a_visitor_reads_nothing(reads: tuple[Reads, Runtime]) -> None:
    listener, runtime = reads
    add_active(runtime)
    memory, asked = ZoneCache(runtime), AdRequest("blog", "banner")
    decide(runtime, memory, asked)
    listener.take()

    decide(runtime, memory, asked)

    assert listener.take() == []


def test_one_read_of_the_profile_is_enough_whatever_it_refuses(
    reads: tuple[Reads, Runtime],
) -> None:
    listener, runtime = reads
    add_zones(runtime, "blog/banner", count_on="decision")
    for number in range(histories.FEW_ADVERTISERS):
        put_campaign(runtime, f"advertiser-{number}:spring")
        activate(runtime, f"advertiser-{number}:spring")
    memory, asked = ZoneCache(runtime), AdRequest("blog", "banner", visitor="ann", count=20)
    decide(runtime, memory, asked)
    decide(runtime, memory, asked)
    listener.take()

    assert decide(runtime, memory, asked).placements == ()

    assert listener.take() == ["find ad.user"]


def test_an_unknown_zone_is_asked_for_again_and_takes_no_memory(
    runtime: Runtime, clock: Clock
) -> None:
    memory = ZoneCache(runtime)
    for number in range(100):
        with pytest.raises(UnknownZone):
            memory.zone("blog", f"none-{number}", clock())
    assert memory._held == {}

    add_zones(runtime, "blog/none-1")
    assert memory.zone("blog", "none-1", clock()).ads == ()


@pytest.mark.bounds(ads={"held_ads": 10})
def test_what_a_container_holds_is_bounded(
    runtime: Runtime, clock: Clock, reads: tuple[Reads, Runtime]
) -> None:
    names = [f"zone-{number}" for number in range(5)]
    add_zones(runtime, *[f"blog/{name}" for name in names])
    units = [ad_unit(str(number)) for number in range(3)]
    put_campaign(runtime, SPRING, *[f"blog/{name}" for name in names], ad_units=units)
    activate(runtime, SPRING)
    listener, watched = reads
    memory = ZoneCache(watched)

    # Each zone counts for its three ads and itself.
    for name in (*names, names[0], names[4]):
        memory.zone("blog", name, clock())
        assert sum(held.size for held in memory._held.values()) <= 10
    assert [zone for _, zone in memory._held] == ["zone-0", "zone-4"]

    listener.take()
    memory.zone("blog", "zone-4", clock())
    assert listener.take() == []


@pytest.mark.bounds(ads={"held_ads": 0})
def test_a_zone_larger_than_the_bound_is_still_served(
    runtime: Runtime, served: Callable[[ZoneCache], list[str]]
) -> None:
    add_active(runtime)

    assert served(ZoneCache(runtime)) == [SPRING]


def test_many_threads_that_want_a_cold_zone_read_it_once(
    reads: tuple[Reads, Runtime], clock: Clock
) -> None:
    listener, runtime = reads
    add_active(runtime)
    listener.take()
    memory, together = ZoneCache(runtime), threading.Barrier(8)

    def ask(_: int) -> int:
        together.wait()
        return id(memory.zone("blog", "banner", clock()))

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1

    assert listener.take() == ["find ad.zone"]


def test_a_large_creative_is_read_once_and_a_changed_one_is_another(
    reads: tuple[Reads, Runtime], clock: Clock
) -> None:
    listener, runtime = reads
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=html("1" * 2_000))])
    activate(runtime, SPRING)
    memory, asked = ZoneCache(runtime), AdRequest("blog", "banner")

    def shown() -> str:
        (placement,) = decide(runtime, memory, asked).placements
        assert placement.creative["type"] == "html"
        return placement.creative["html"]

    assert shown().startswith("1")
    listener.take()
    assert shown().startswith("1")
    assert listener.take() == []

    put_campaign(runtime, SPRING, ad_units=[ad_unit(creative=html("2" * 2_000))])
    clock.advance(milliseconds=LIFETIME_MS)
    assert shown().startswith("2")


def test_a_creative_that_is_gone_is_looked_for_again(runtime: Runtime) -> None:
    memory = ZoneCache(runtime)
    assert memory.creative("mercedes:spring:one:abc") is None

    runtime.database[creatives.CREATIVES.name].insert_one(
        {"_id": "mercedes:spring:one:abc", "creative": html("x")}
    )
    assert memory.creative("mercedes:spring:one:abc") == html("x")


def test_a_flight_starts_and_ends_in_a_zone_that_stays_compiled(
    runtime: Runtime, clock: Clock, served: Callable[[ZoneCache], list[str]]
) -> None:
    add_zones(runtime, "blog/banner")
    flight = {"starts_at": "2026-03-01T12:00:00.100Z", "ends_at": "2026-03-01T12:00:00.200Z"}
    put_campaign(runtime, SPRING, flight=flight)
    put_campaign(runtime, SUMMER, pricing=cpm(1_000))
    activate(runtime, SPRING, SUMMER)
    memory = ZoneCache(runtime)

    shown = []
    for milliseconds in (99, 1, 99, 1):
        clock.advance(milliseconds=milliseconds)
        shown += served(memory)
    assert shown == [SUMMER, SPRING, SPRING, SUMMER]


def test_profiles_of_many_advertisers_are_read_for_the_likely_ones(
    reads: tuple[Reads, Runtime],
) -> None:
    listener, runtime = reads
    add_zones(runtime, "blog/banner")
    for number in range(histories.FEW_ADVERTISERS + 1):
        # The best-paying one is chosen each time, so that its lease is there the second time.
        pricing = cpm(1_000_000 + number * 1_000)
        put_campaign(runtime, f"advertiser-{number}:spring", pricing=pricing)
        activate(runtime, f"advertiser-{number}:spring")
    memory, asked = ZoneCache(runtime), AdRequest("blog", "banner", visitor="ann")
    decide(runtime, memory, asked)
    listener.take()

    assert len(decide(runtime, memory, asked).placements) == 1

    assert listener.take() == ["find ad.user"]


@pytest.mark.parametrize(("met", "finds"), [(0, 1), (1, 1), (2, 2)])
def test_a_profile_is_read_again_only_if_it_has_other_advertisers(
    reads: tuple[Reads, Runtime], met: int, finds: int
) -> None:
    listener, runtime = reads
    many = [f"advertiser-{number}" for number in range(histories.FEW_ADVERTISERS + 1)]
    impression: Any = {**event(START), "slot": 0}
    impressions = [(each, impression) for each in many[:met]]
    profiles.record(runtime.database, "ann", VisitorProfile(), impressions, "r")
    listener.take()
    reader = histories.ProfileReader(profiles.raw_profiles(runtime.database), "ann", many)

    reader(many[:1])

    assert set(reader(many[1:2]).histories) == set(many[:met])
    assert listener.take() == ["find ad.user"] * finds
