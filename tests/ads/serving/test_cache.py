import dataclasses
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from chalice.local import LocalChalice
from pymongo import MongoClient
from pymongo.database import Database
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)

from app import create_app
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.errors import UnknownZone
from chalicelib.ads.inventory import creatives, zones
from chalicelib.ads.inventory.zones import ServedZone
from chalicelib.ads.serving import cache
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.serving.decisions import Asked, decide
from chalicelib.ads.visitors import profiles
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.ads.serving.support.zones import event
from tests.ads.support.factories import (
    activate,
    ad_unit,
    add_zones,
    advertiser,
    cpm,
    html,
    publisher,
    put_campaign,
)
from tests.support.clock import START, Clock
from tests.support.http_client import Client

SPRING = "mercedes:spring"
SUMMER = "bmw:summer"
LIFETIME_MS = 1_000


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"zone_ttl_ms": LIFETIME_MS})


class Reads(CommandListener):
    """The commands that a client sends, as `command collection`."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        self.seen.append(f"{event.command_name} {event.command.get(event.command_name)}")

    def succeeded(self, _event: CommandSucceededEvent) -> None:
        pass

    def failed(self, _event: CommandFailedEvent) -> None:
        pass

    def take(self) -> list[str]:
        taken, self.seen = self.seen, []
        return taken


@pytest.fixture
def reads(runtime: Runtime, mongodb_uri: str) -> Iterator[tuple[Reads, Runtime]]:
    """A runtime whose every command is listed."""
    listener = Reads()
    with MongoClient[Document](mongodb_uri, event_listeners=[listener]) as client:
        database = open_database(client, runtime.settings.database)
        database.command("ping")
        listener.take()
        yield listener, dataclasses.replace(runtime, database=database)


@pytest.fixture
def served(runtime: Runtime) -> Callable[[ZoneCache], list[str]]:
    def serve(memory: ZoneCache) -> list[str]:
        decision = decide(runtime, memory, Asked("blog", "banner"))
        return [each.ad.campaign_id for each in decision.placements]

    return serve


def add_active(runtime: Runtime) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)


def test_a_warm_decision_reads_the_profile_and_nothing_else(
    reads: tuple[Reads, Runtime],
) -> None:
    listener, runtime = reads
    add_active(runtime)
    memory, asked = ZoneCache(runtime), Asked("blog", "banner", visitor="ann")
    decide(runtime, memory, asked)
    listener.take()

    decide(runtime, memory, asked)

    assert listener.take() == ["find ad.user"]


def test_a_warm_decision_without_a_visitor_reads_nothing(reads: tuple[Reads, Runtime]) -> None:
    listener, runtime = reads
    add_active(runtime)
    memory, asked = ZoneCache(runtime), Asked("blog", "banner")
    decide(runtime, memory, asked)
    listener.take()

    decide(runtime, memory, asked)

    assert listener.take() == []


def test_one_read_of_the_profile_is_enough_whatever_it_refuses(
    reads: tuple[Reads, Runtime],
) -> None:
    listener, runtime = reads
    add_zones(runtime, "blog/banner", count_on="decision")
    for number in range(profiles.FEW_ADVERTISERS):
        put_campaign(runtime, f"advertiser-{number}:spring")
        activate(runtime, f"advertiser-{number}:spring")
    memory, asked = ZoneCache(runtime), Asked("blog", "banner", visitor="ann", count=20)
    decide(runtime, memory, asked)
    decide(runtime, memory, asked)
    listener.take()

    assert decide(runtime, memory, asked).placements == ()

    assert listener.take() == ["find ad.user"]


def test_after_its_lifetime_a_zone_is_asked_for_its_version_alone(
    reads: tuple[Reads, Runtime], clock: Clock
) -> None:
    listener, runtime = reads
    add_active(runtime)
    memory = ZoneCache(runtime)
    first = memory.zone("blog", "banner", clock())
    listener.take()

    clock.advance(milliseconds=LIFETIME_MS - 1)
    assert memory.zone("blog", "banner", clock()) is first
    assert listener.take() == []

    clock.advance(milliseconds=1)
    assert memory.zone("blog", "banner", clock()) is first
    assert listener.take() == ["find ad.zone"]


def test_a_deactivated_campaign_is_served_nowhere_beyond_the_lifetime(
    runtime: Runtime, clock: Clock, served: Callable[[ZoneCache], list[str]]
) -> None:
    add_active(runtime)
    here, there = ZoneCache(runtime), ZoneCache(runtime)
    assert served(here) == served(there) == [SPRING]
    clock.advance(milliseconds=LIFETIME_MS // 2)
    assert served(there) == [SPRING]

    lifecycle.deactivate(runtime.database, SPRING)

    # One container asked half a lifetime ago and the other just before.
    clock.advance(milliseconds=LIFETIME_MS // 2 - 1)
    assert served(here) == [SPRING]
    clock.advance(milliseconds=1)
    assert served(here) == []
    clock.advance(milliseconds=LIFETIME_MS // 2 - 1)
    assert served(there) == []


def test_two_apps_in_one_process_share_no_zones(
    runtime: Runtime, client: Client, clock: Clock
) -> None:
    other = Client(create_app(runtime, LocalChalice), client.token)
    add_active(runtime)

    def ads(caller: Client) -> int:
        return len(caller.get("/ads/blog/banner").json["ads"])

    assert ads(client) == ads(other) == 1
    advertiser(client).post(f"/campaigns/{SPRING}/deactivate")

    assert (ads(client), ads(other)) == (0, 1)
    clock.advance(milliseconds=LIFETIME_MS)
    assert (ads(client), ads(other)) == (0, 0)


def test_a_container_sees_its_own_changes_at_once(client: Client, runtime: Runtime) -> None:
    add_active(runtime)

    def ads() -> list[str]:
        return [ad["campaign_id"] for ad in client.get("/ads/blog/banner").json["ads"]]

    assert ads() == [SPRING]
    publisher(client).put(
        "/sites/blog/zones/banner", size={"width": 1, "height": 1}, floor_ecpm_micros=10**9
    )
    assert ads() == []


def test_a_clock_that_is_set_back_does_not_lengthen_a_zone_s_life(
    runtime: Runtime, clock: Clock, served: Callable[[ZoneCache], list[str]]
) -> None:
    add_active(runtime)
    memory = ZoneCache(runtime)
    assert served(memory) == [SPRING]
    lifecycle.deactivate(runtime.database, SPRING)

    clock.advance(milliseconds=-1)

    assert served(memory) == []


def test_a_change_during_a_refresh_is_asked_for_again(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_active(runtime)
    memory = ZoneCache(runtime)
    read = zones.get_with_ads

    def read_then_change(database: Database[Document], site_id: str, zone_id: str) -> ServedZone:
        zone = read(database, site_id, zone_id)
        lifecycle.deactivate(runtime.database, SPRING)
        memory.expire()
        return zone

    with monkeypatch.context() as patch:
        patch.setattr(zones, "get_with_ads", read_then_change)
        assert len(memory.zone("blog", "banner", clock()).ads) == 1

    assert memory.zone("blog", "banner", clock()).ads == ()


def test_a_change_of_one_campaign_is_read_without_the_rest_of_the_zone(
    reads: tuple[Reads, Runtime], clock: Clock
) -> None:
    listener, runtime = reads
    add_active(runtime)
    put_campaign(runtime, SUMMER, pricing=cpm(900_000))
    memory = ZoneCache(runtime)
    first = memory.zone("blog", "banner", clock())

    best = []
    for number in range(4):
        if number % 2:
            lifecycle.deactivate(runtime.database, SUMMER)
        else:
            activate(runtime, SUMMER)
        clock.advance(milliseconds=LIFETIME_MS)
        listener.take()
        zone = memory.zone("blog", "banner", clock())
        assert listener.take() == ["find ad.zone"]
        # What did not change was not read: it is the very same.
        assert next(ad for ad in zone.ads if ad.campaign_id == SPRING) is first.ads[0]
        best.append(zone.ads[0].campaign_id)

    assert best == [SUMMER, SPRING, SUMMER, SPRING]


def test_more_changes_than_a_zone_remembers_take_a_whole_compilation(
    reads: tuple[Reads, Runtime], clock: Clock
) -> None:
    listener, runtime = reads
    add_active(runtime)
    memory = ZoneCache(runtime)
    memory.zone("blog", "banner", clock())
    for _ in range(zones.MAX_CHANGES // 2):
        lifecycle.deactivate(runtime.database, SPRING)
        activate(runtime, SPRING)

    def finds() -> list[str]:
        clock.advance(milliseconds=LIFETIME_MS)
        listener.take()
        zone = memory.zone("blog", "banner", clock())
        assert [ad.campaign_id for ad in zone.ads] == [SPRING]
        return listener.take()

    assert finds() == ["find ad.zone"]
    lifecycle.deactivate(runtime.database, SPRING)
    for _ in range(zones.MAX_CHANGES // 2):
        activate(runtime, SPRING)
        lifecycle.deactivate(runtime.database, SPRING)
    activate(runtime, SPRING)
    assert finds() == ["find ad.zone", "find ad.zone"]


def test_a_zone_is_compiled_as_a_whole_once_in_its_lifetime_however_often_it_changes(
    reads: tuple[Reads, Runtime], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener, runtime = reads
    add_active(runtime)
    # As if none of its changes were remembered.
    monkeypatch.setattr(zones, "MAX_CAMPAIGNS_OF_CHANGE", 0)
    memory = ZoneCache(runtime)
    memory.zone("blog", "banner", clock())

    whole = 0
    for _ in range(20):
        lifecycle.deactivate(runtime.database, SPRING)
        activate(runtime, SPRING)
        memory.expire()
        listener.take()
        memory.zone("blog", "banner", clock())
        whole += len(listener.take()) - 1
        clock.advance(milliseconds=LIFETIME_MS // 10)

    assert whole == 1
    lifecycle.deactivate(runtime.database, SPRING)
    clock.advance(milliseconds=LIFETIME_MS)
    assert memory.zone("blog", "banner", clock()).ads == ()


def test_a_zone_made_anew_is_not_taken_for_the_one_before(
    runtime: Runtime, clock: Clock, served: Callable[[ZoneCache], list[str]]
) -> None:
    add_active(runtime)
    memory = ZoneCache(runtime)
    assert served(memory) == [SPRING]

    zones.delete(runtime.database, "blog", "banner")
    add_zones(runtime, "blog/banner")
    add_zones(runtime, "blog/banner")
    clock.advance(milliseconds=LIFETIME_MS)

    assert served(memory) == []


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


def test_what_a_container_holds_is_bounded(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch, reads: tuple[Reads, Runtime]
) -> None:
    monkeypatch.setattr(cache, "MAX_ADS_HELD", 10)
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


def test_a_zone_larger_than_the_bound_is_still_served(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, served: Callable[[ZoneCache], list[str]]
) -> None:
    monkeypatch.setattr(cache, "MAX_ADS_HELD", 0)
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
    memory, asked = ZoneCache(runtime), Asked("blog", "banner")

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
    flight = {"start": "2026-03-01T12:00:00.100Z", "end": "2026-03-01T12:00:00.200Z"}
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
    for number in range(profiles.FEW_ADVERTISERS + 1):
        # The best-paying one is chosen each time, so that its lease is there the second time.
        pricing = cpm(1_000_000 + number * 1_000)
        put_campaign(runtime, f"advertiser-{number}:spring", pricing=pricing)
        activate(runtime, f"advertiser-{number}:spring")
    memory, asked = ZoneCache(runtime), Asked("blog", "banner", visitor="ann")
    decide(runtime, memory, asked)
    listener.take()

    assert len(decide(runtime, memory, asked).placements) == 1

    assert listener.take() == ["find ad.user"]


@pytest.mark.parametrize(("met", "finds"), [(0, 1), (1, 1), (2, 2)])
def test_a_profile_is_read_again_only_where_it_knows_other_advertisers(
    reads: tuple[Reads, Runtime], met: int, finds: int
) -> None:
    listener, runtime = reads
    many = [f"advertiser-{number}" for number in range(profiles.FEW_ADVERTISERS + 1)]
    impression: Any = {**event(START), "slot": 0}
    impressions = [(each, impression) for each in many[:met]]
    profiles.record(runtime.database, "ann", profiles.VisitorProfile(), impressions, "r")
    listener.take()
    reader = profiles.ProfileReader(profiles.undecoded(runtime.database), "ann", many)

    reader(many[:1])

    assert set(reader(many[1:2]).histories) == set(many[:met])
    assert listener.take() == ["find ad.user"] * finds
