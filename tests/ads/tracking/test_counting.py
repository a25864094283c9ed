"""Every event is counted and billed once, wherever the worker is stopped."""

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.ads.budgets import audit, leases
from chalicelib.ads.budgets.leases import LeaseKey
from chalicelib.ads.inventory import campaigns
from chalicelib.ads.reports import counters
from chalicelib.ads.tracking import counting
from chalicelib.runtime import Runtime
from chalicelib.sites import settings as site_settings
from tests.ads.support.events import CLICKS, PRICE, SPRING, click, count, impression, stored, totals
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.ads.tracking.support.leased import lease
from tests.support.clock import Clock

COPIES = 1_000


@pytest.fixture
def spring(runtime: Runtime) -> Runtime:
    """A CPM campaign at work, and a CPC one that can pay two clicks."""
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, budget={"total_micros": 500 * PRICE})
    cpc = {"type": "cpc", "bid_micros": 1_000}
    put_campaign(runtime, CLICKS, pricing=cpc, budget={"total_micros": 2_000})
    activate(runtime, SPRING, CLICKS)
    return runtime


def spent(runtime: Runtime, campaign_id: str = SPRING) -> int:
    assert set(audit.audit(runtime.database, campaign_id).values()) == {0}
    return audit.read(runtime.database, campaign_id)["spent_micros"]


def test_an_impression_is_counted_billed_and_shared(spring: Runtime) -> None:
    lease_id = lease(spring, 50)

    assert count(spring, impression(1, lease_id, spring.now())) == 1

    assert totals(spring) == {"impressions": 1, "spend_micros": 250, "revenue_micros": 175}
    assert spent(spring) == 250


def test_a_site_s_own_share_decides_what_is_due_to_it(spring: Runtime) -> None:
    site_settings.put_share(spring.database, "blog", 9_000)

    count(spring, impression(1, lease(spring, 50), spring.now()))

    assert totals(spring)["revenue_micros"] == 225


def test_a_share_of_small_prices_adds_up(spring: Runtime) -> None:
    bid = {"type": "cpm", "bid_micros": 1_000}
    put_campaign(spring, SPRING, budget={"total_micros": 500}, pricing=bid)
    lease_id = lease(spring, 400)

    seen = [impression(n, lease_id, spring.now()) for n in range(400)]
    count(spring, *[each.model_copy(update={"price_micros": 1}) for each in seen])

    found = totals(spring)
    assert found["spend_micros"] == 400
    # Of 280 that are due; the ids decide between 0 and 1 for each.
    assert 250 <= found["revenue_micros"] <= 310


def test_copies_within_a_batch_and_in_later_batches_count_once(spring: Runtime) -> None:
    seen = impression(1, lease(spring, 50), spring.now())

    assert [count(spring, seen, seen, seen), count(spring, seen)] == [1, 0]

    assert totals(spring)["impressions"] == 1
    assert spent(spring) == 250


def test_the_slots_of_a_decision_are_different_ads(spring: Runtime) -> None:
    lease_id = lease(spring, 50)
    both = [impression(1, lease_id, spring.now(), slot=slot) for slot in (0, 1)]

    assert count(spring, *both) == 2


def test_copies_that_many_workers_take_at_once_count_once(spring: Runtime) -> None:
    lease_id = lease(spring, 50)
    batch = [impression(n % 40, lease_id, spring.now()) for n in range(100)]

    def work(number: int) -> int:
        mine = random.Random(number).sample(batch, len(batch))
        return counting.count_and_bill(replace(spring, random=random.Random(number)), mine)

    with ThreadPoolExecutor(6) as pool:
        new = list(pool.map(work, range(6)))

    assert sum(new) == 40
    assert totals(spring)["impressions"] == 40
    assert spent(spring) == 40 * PRICE


def test_what_a_lease_does_not_cover_is_recorded_and_not_billed(spring: Runtime) -> None:
    lease_id = lease(spring, 2)

    count(spring, *(impression(n, lease_id, spring.now()) for n in range(3)))

    assert totals(spring) == {
        "impressions": 3,
        "unbilled": 1,
        "spend_micros": 500,
        "revenue_micros": 350,
    }
    assert sum(event["billed"] for event in stored(spring)) == 2


@pytest.mark.parametrize("lease_id", [None, "unknown-lease-id"])
def test_an_impression_without_a_lease_is_not_billed(spring: Runtime, lease_id: str | None) -> None:
    count(spring, impression(1, lease_id, spring.now()))

    assert totals(spring) == {"impressions": 1, "unbilled": 1}


def test_a_late_impression_is_recorded_and_not_billed(spring: Runtime) -> None:
    lease_id = lease(spring, 2)
    leases.end(spring.database, LeaseKey(SPRING, lease_id), spring.now())

    count(spring, impression(1, lease_id, spring.now()))

    assert totals(spring) == {"impressions": 1, "unbilled": 1}
    assert spent(spring) == 0


def test_a_lease_of_another_campaign_pays_nothing(spring: Runtime) -> None:
    lease_id = lease(spring, 2)

    count(spring, impression(1, lease_id, spring.now(), campaign_id="bmw:summer"))

    assert totals(spring) == {"impressions": 1, "unbilled": 1}


def test_a_click_of_a_cpc_campaign_is_charged_until_its_money_is_gone(spring: Runtime) -> None:
    count(spring, *(click(n, spring.now(), price_micros=1_000) for n in range(3)))

    assert totals(spring) == {
        "clicks": 3,
        "unbilled": 1,
        "spend_micros": 2_000,
        "revenue_micros": 1_400,
    }
    assert spent(spring, CLICKS) == 2_000
    assert campaigns.get(spring.database, CLICKS)["status"] == "exhausted"


def test_a_click_of_a_cpm_campaign_costs_nothing(spring: Runtime) -> None:
    count(spring, click(1, spring.now(), price_micros=0, campaign_id=SPRING))

    assert totals(spring) == {"clicks": 1}


def test_bots_are_recorded_apart_and_not_billed(spring: Runtime) -> None:
    lease_id = lease(spring, 2)
    preview = impression(1, lease_id, spring.now(), is_bot=True)

    count(spring, preview, preview, click(2, spring.now(), price_micros=1_000, is_bot=True))
    assert totals(spring) == {"bots": 2}
    assert (spent(spring), spent(spring, CLICKS)) == (0, 0)

    count(spring, impression(1, lease_id, spring.now()))
    assert totals(spring)["impressions"] == 1


def test_an_event_is_counted_in_its_own_minute_hour_and_day(spring: Runtime) -> None:
    lease_id = lease(spring, 3)
    times = [
        datetime(2026, 3, 1, 23, 59, 59, 999_000, tzinfo=UTC),
        datetime(2026, 3, 2, tzinfo=UTC),
        datetime(2026, 3, 2, 0, 1, tzinfo=UTC),
    ]

    count(spring, *(impression(n, lease_id, ts) for n, ts in enumerate(times)))

    one = {"impressions": 1, "spend_micros": 250, "revenue_micros": 175}
    two = {name: 2 * number for name, number in one.items()}
    hours = {row["period"]: row for row in spring.database[counters.HOURS.name].find()}
    days = {row["period"]: row for row in spring.database[counters.DAYS.name].find()}
    assert hours[datetime(2026, 3, 1, 23, tzinfo=UTC)]["minutes"] == {"59": one}
    assert hours[datetime(2026, 3, 2, tzinfo=UTC)]["minutes"] == {"0": one, "1": one}
    assert days[datetime(2026, 3, 1, tzinfo=UTC)]["hours"] == {"23": one}
    assert days[datetime(2026, 3, 2, tzinfo=UTC)]["hours"] == {"0": two}


def test_a_thousand_identical_events_in_batches_count_one(spring: Runtime, clock: Clock) -> None:
    seen = impression(1, lease(spring, 50), clock())

    for _ in range(10):
        count(spring, *[seen] * (COPIES // 10))

    assert totals(spring)["impressions"] == 1


def test_of_an_order_that_a_batch_has_twice_the_first_counts(spring: Runtime) -> None:
    first, second = (
        impression(number, None, spring.now(), type="conversion", price_micros=0, order="7")
        for number in (1, 2)
    )

    count(
        spring,
        first.model_copy(update={"value_micros": 5}),
        second.model_copy(update={"value_micros": 9}),
    )

    assert totals(spring) == {"conversions": 1, "value_micros": 5}
