"""How a warm container learns of changes: by version, by campaign, or as a whole."""

from collections.abc import Callable

import pytest
from chalice.local import LocalChalice
from pymongo.database import Database

from app import create_app
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory import zones
from chalicelib.ads.inventory.zones import ServedZone
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.ads.serving.support.reads import SPRING, Reads, add_active
from tests.ads.support.factories import (
    activate,
    add_zones,
    advertiser,
    cpm,
    publisher,
    put_campaign,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

SUMMER = "bmw:summer"


LIFETIME_MS = 1_000


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"zone_ttl_ms": LIFETIME_MS})


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


def test_a_zone_made_again_is_not_taken_for_the_deleted_one(
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
