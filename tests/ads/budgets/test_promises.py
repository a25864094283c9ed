"""Promises that nobody sees hold no budget: what is leased and not seen is promised again."""

from datetime import timedelta

import pytest

from chalicelib.ads.budgets import audit, leases
from chalicelib.ads.budgets.leases import MAX_OVERBOOKED, UNSEEN_AFTER, VIEW_WINDOW, StoredLease
from chalicelib.runtime import Runtime
from tests.ads.campaigns.test_atomicity import in_threads
from tests.ads.support.events import Page, totals
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.ads.support.movements import (
    GRACE,
    PRICE,
    SPRING,
    TERMS,
    acquire,
    end,
    funded,
    money,
    refresh,
    settle,
    status,
)
from tests.ads.tracking.test_beacons import GOOGLEBOT
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

MILLISECOND = timedelta(milliseconds=1)


def again(runtime: Runtime) -> tuple[str, int]:
    """The lease that a container without money is given, and how many impressions it promises."""
    lease = acquire(runtime)
    assert lease
    return lease["_id"], leases.promisable_micros(lease) // PRICE


@pytest.fixture
def lease(runtime: Runtime) -> StoredLease:
    """All 50 impressions of a campaign, leased by one container."""
    funded(runtime, 50)
    lease = acquire(runtime)
    assert lease
    return lease


def test_crawlers_and_unseen_requests_keep_an_ad_from_nobody(
    runtime: Runtime, client: Client, clock: Clock
) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, budget={"total_micros": 50 * PRICE})
    activate(runtime, SPRING)
    crawler = {"User-Agent": GOOGLEBOT}
    for _ in range(50):
        assert client.request("GET", "/ads/blog/banner", headers=crawler).json["ads"]
    assert audit.read(runtime.database, SPRING)["leased_micros"] == 0

    served = [bool(Page(client).ad()) for _ in range(200)]
    assert served.count(True) == 50

    clock.advance(seconds=11)
    assert Page(client).ad()
    assert money(runtime)["spent"] == 0


def test_a_bot_s_ad_costs_nothing_even_if_a_person_sees_it(
    runtime: Runtime, client: Client, workers: Workers
) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, budget={"total_micros": 50 * PRICE})
    activate(runtime, SPRING)
    (ad,) = client.request("GET", "/ads/blog/banner", headers={"User-Agent": GOOGLEBOT}).json["ads"]

    Page(client).see(ad)
    workers.drain()

    assert totals(runtime) == {"impressions": 1}
    assert money(runtime)["spent"] == 0


@pytest.mark.parametrize(("after", "leases_got"), [(-MILLISECOND, 0), (MILLISECOND * 0, 1)])
def test_what_nobody_saw_is_promised_again_after_ten_seconds(
    runtime: Runtime, clock: Clock, lease: StoredLease, after: timedelta, leases_got: int
) -> None:
    settle(runtime, lease, 12)
    clock.time += UNSEEN_AFTER + after

    assert (acquire(runtime) is not None) == leases_got


@pytest.mark.parametrize(("after", "leases_got"), [(-MILLISECOND, 0), (MILLISECOND * 0, 1)])
def test_what_many_saw_is_promised_again_after_a_minute(
    runtime: Runtime, clock: Clock, lease: StoredLease, after: timedelta, leases_got: int
) -> None:
    settle(runtime, lease, 13)
    clock.time += VIEW_WINDOW + after

    found = acquire(runtime)

    assert (found is not None) == leases_got
    if found:
        assert (found["_id"], leases.promisable_micros(found)) == (lease["_id"], 37 * PRICE)


def test_a_few_promises_show_nothing_before_a_minute_has_passed(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 9)
    assert acquire(runtime)

    clock.time += VIEW_WINDOW - MILLISECOND
    assert acquire(runtime) is None
    clock.time += MILLISECOND
    assert acquire(runtime)


def test_promises_double_as_long_as_nobody_sees_them(
    runtime: Runtime, clock: Clock, lease: StoredLease
) -> None:
    promised = []
    for _ in range(MAX_OVERBOOKED + 2):
        clock.time += UNSEEN_AFTER
        lease_id, count = again(runtime)
        assert lease_id == lease["_id"]
        promised.append(count)

    assert promised == [100, 200, 400, 800, 1_600, 1_600, 1_600]
    assert money(runtime) == {"released": 50, "available": 0, "leased": 50, "spent": 0}


def test_promises_that_are_seen_are_not_multiplied_any_more(
    runtime: Runtime, clock: Clock, lease: StoredLease
) -> None:
    clock.time += UNSEEN_AFTER
    assert again(runtime) == (lease["_id"], 100)
    settle(runtime, lease, 20)
    clock.time += UNSEEN_AFTER
    assert acquire(runtime) is None

    clock.time += VIEW_WINDOW - UNSEEN_AFTER

    assert again(runtime) == (lease["_id"], 30)


def test_what_is_promised_twice_is_paid_once(
    runtime: Runtime, clock: Clock, lease: StoredLease
) -> None:
    clock.time += UNSEEN_AFTER
    again(runtime)

    assert settle(runtime, lease, 60).count(True) == 50

    assert money(runtime)["spent"] == 50


def test_money_that_is_available_is_leased_before_any_is_promised_again(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 100)
    first = acquire(runtime)
    clock.time += VIEW_WINDOW

    second = acquire(runtime)

    assert first
    assert second
    assert first["_id"] != second["_id"]


def test_of_containers_at_once_one_promises_again(
    runtime: Runtime, clock: Clock, lease: StoredLease
) -> None:
    clock.time += UNSEEN_AFTER

    found = in_threads(lambda _: acquire(runtime), 4)

    assert [each["_id"] for each in found if each] == [lease["_id"]]


def test_a_lease_that_is_promised_again_is_not_ended_meanwhile(
    runtime: Runtime, clock: Clock, lease: StoredLease
) -> None:
    clock.time += TERMS.duration + GRACE - MILLISECOND
    again(runtime)
    clock.time += MILLISECOND

    key = leases.LeaseKey(SPRING, lease["_id"])
    assert leases.end_expired(runtime.database, GRACE, clock()) == 0
    assert not leases.end(runtime.database, key, clock(), clock() - GRACE)
    clock.time += TERMS.duration + GRACE
    assert leases.end_expired(runtime.database, GRACE, clock()) == 1
    assert money(runtime)["available"] == 50


def test_yesterday_s_money_is_not_promised_today(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 50, daily_micros=50 * PRICE, pacing="asap")
    assert acquire(runtime)
    clock.advance(hours=12, minutes=1)

    assert acquire(runtime) is None


@pytest.mark.parametrize("happens", ["spent", "ended", "paused"])
def test_money_that_is_gone_is_not_promised_again(
    runtime: Runtime, clock: Clock, lease: StoredLease, happens: str
) -> None:
    if happens == "spent":
        settle(runtime, lease, 50)
    if happens == "ended":
        settle(runtime, lease, 50)
        end(runtime, lease)
        refresh(runtime)
        assert status(runtime) == "exhausted"
    if happens == "paused":
        runtime.database["ad.campaign"].update_one({}, {"$set": {"status": "paused"}})
    clock.time += VIEW_WINDOW

    assert acquire(runtime) is None


def test_a_lease_of_the_last_release_waits_for_its_grace(
    runtime: Runtime, clock: Clock, lease: StoredLease
) -> None:
    fields = dict.fromkeys(("promised_at", "promised_from_micros", "overbooked"), "")
    runtime.database[leases.LEASES.name].update_one({"_id": lease["_id"]}, {"$unset": fields})
    clock.time += VIEW_WINDOW
    assert acquire(runtime) is None

    clock.time += GRACE
    leases.end_expired(runtime.database, GRACE, clock())
    assert acquire(runtime)
