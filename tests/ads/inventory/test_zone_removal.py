"""A deleted zone: its campaigns, its events, and another zone by its name."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.ads import jobs
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.errors import UnknownZone
from chalicelib.ads.inventory import waiting, zones
from chalicelib.runtime import Runtime
from tests.ads.campaigns.support.removal import Crash
from tests.ads.inventory.support.places import reasons, refill
from tests.ads.support.events import count, impression, stored
from tests.ads.support.factories import (
    BANNER,
    activate,
    add_zones,
    advertiser,
    placed,
    publisher,
    put_campaign,
)
from tests.ads.support.movements import SPRING, acquire, funded
from tests.support.http_client import Client

CAMPAIGN, ZONE = f"/campaigns/{SPRING}", "/sites/blog/zones/banner"


# Zones


def test_a_deleted_zone_serves_nothing_and_its_campaigns_show_it(
    runtime: Runtime, client: Client
) -> None:
    add_zones(runtime, "blog/banner", "blog/side")
    put_campaign(runtime, SPRING, "blog/banner", "blog/side")
    activate(runtime, SPRING)
    pat = publisher(client)

    assert pat.request("DELETE", ZONE).status == 204

    assert client.get("/ads/blog/banner").code == "unknown_zone"
    assert pat.get(ZONE).code == "unknown_zone"
    assert len(client.get("/ads/blog/side").json["ads"]) == 1
    assert advertiser(client).get(CAMPAIGN).json["unplaced"] == [
        {
            "site_id": "blog",
            "zone_id": "banner",
            "reason": "unknown_zone",
            "ad_unit_ids": ["one"],
        }
    ]
    assert pat.request("DELETE", ZONE).status == 204


def test_only_its_publisher_deletes_a_zone(runtime: Runtime, client: Client) -> None:
    add_zones(runtime, "blog/banner")

    assert client.request("DELETE", ZONE).status == 401
    assert publisher(client, "shop").request("DELETE", ZONE).status == 403
    assert advertiser(client).request("DELETE", ZONE).status == 403

    assert publisher(client).get(ZONE).status == 200


def test_a_zone_made_again_is_a_new_one_that_campaigns_come_back_to(
    runtime: Runtime, client: Client
) -> None:
    add_zones(runtime, "blog/banner", floor_ecpm_micros=7, blocked_advertisers=["bmw"])
    put_campaign(runtime, SPRING)
    put_campaign(runtime, "mercedes:later")
    activate(runtime, SPRING)
    pat = publisher(client)
    pat.request("DELETE", ZONE)
    activate(runtime, "mercedes:later")

    made = pat.put(ZONE, size=BANNER)

    assert (made.status, made.json["ad_count"], made.json["version"]) == (201, 0, 1)
    assert made.json["floor_ecpm_micros"] == 0
    assert made.json["blocked_advertisers"] == []
    assert jobs.run_minute(runtime)["zones_entered"] == 2
    assert placed(runtime, "blog/banner") == ["mercedes:later", SPRING]


def test_events_of_a_deleted_zone_are_counted_and_billed(runtime: Runtime) -> None:
    funded(runtime, 100)
    lease = acquire(runtime)
    assert lease
    zones.delete(runtime.database, "blog", "banner")

    assert count(runtime, impression(1, lease["_id"], runtime.now())) == 1

    assert stored(runtime)[0]["billed"]


def test_a_zone_deletion_that_dies_has_done_nothing(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    funded(runtime, 100)

    def dies(*_: Any) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(waiting, "add", dies)
        with pytest.raises(Crash):
            zones.delete(runtime.database, "blog", "banner")

    assert placed(runtime, "blog/banner") == [SPRING]
    assert waiting.list_unplaced_units(runtime.database, SPRING) == []


def test_rows_that_waited_for_a_deleted_zone_learn_it_from_the_schedule(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_zones(runtime, "blog/banner", floor_ecpm_micros=10**9)
    put_campaign(runtime, SPRING)
    activate(runtime, SPRING)

    def dies(*_: Any) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(waiting, "rename", dies)
        with pytest.raises(Crash):
            zones.delete(runtime.database, "blog", "banner")
    with pytest.raises(UnknownZone):
        zones.get(runtime.database, "blog", "banner")
    assert reasons(runtime, SPRING) == {"blog/banner/one": "below_floor"}

    assert refill(runtime) == 0

    assert reasons(runtime, SPRING) == {"blog/banner/one": "unknown_zone"}


def test_deleting_a_zone_among_activations_loses_no_campaign(runtime: Runtime) -> None:
    put = [f"mercedes:race-{number}" for number in range(3)]
    add_zones(runtime, "blog/banner")
    for name in put:
        put_campaign(runtime, name)
    for _ in range(8):
        add_zones(runtime, "blog/banner")
        for name in put:
            lifecycle.deactivate(runtime.database, name)

        def change(what: int) -> None:
            if what < len(put):
                activate(runtime, put[what])
            else:
                zones.delete(runtime.database, "blog", "banner")

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(change, range(4)))
        for name in put:
            (unplaced,) = waiting.list_unplaced_units(runtime.database, name)
            assert unplaced["reason"] == "unknown_zone"
    with pytest.raises(UnknownZone):
        zones.get(runtime.database, "blog", "banner")
