"""A budget along days and flights, and the clicks that are charged to it at once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.ads.billing import funds
from chalicelib.ads.campaigns import lifecycle, removal
from chalicelib.runtime import Runtime
from tests.ads.billing.support.funds import credit
from tests.ads.campaigns.test_atomicity import in_threads
from tests.ads.support.factories import activate, add_zones, placed, put_campaign
from tests.ads.support.movements import (
    PRICE,
    SPRING,
    acquire,
    charge,
    end,
    funded,
    live,
    money,
    refresh,
    settle,
    status,
)
from tests.support.clock import START, Clock

# Two clicks a day.
DAILY: dict[str, Any] = {"daily_micros": 2 * PRICE, "pacing": "asap"}


def cpc(runtime: Runtime, clicks: int, **budget: Any) -> None:
    add_zones(runtime, "blog/banner")
    put_cpc(runtime, clicks, budget)
    activate(runtime, SPRING)


def put_cpc(runtime: Runtime, clicks: int, budget: dict[str, Any], **changes: Any) -> None:
    pricing = {"type": "cpc", "bid_micros": PRICE}
    total = {"total_micros": clicks * PRICE, **budget}
    put_campaign(runtime, SPRING, budget=total, pricing=pricing, **changes)


def test_a_click_is_charged_to_what_is_available(runtime: Runtime) -> None:
    cpc(runtime, 3)

    assert charge(runtime, PRICE, PRICE) == [True, True]

    assert money(runtime) == {"released": 3, "available": 1, "leased": 0, "spent": 2}


def test_a_click_that_nothing_is_left_for_is_not_billed(runtime: Runtime) -> None:
    cpc(runtime, 3)

    assert charge(runtime, *[PRICE] * 5) == [True, True, True, False, False]
    refresh(runtime)

    assert money(runtime)["spent"] == 3
    assert (status(runtime), placed(runtime, "blog/banner")) == ("exhausted", [])


def test_a_first_daily_budget_counts_what_the_day_has_cost(runtime: Runtime, clock: Clock) -> None:
    cpc(runtime, 10)
    assert charge(runtime, PRICE) == [True]
    clock.advance(days=1)
    assert charge(runtime, PRICE) == [True]

    put_cpc(runtime, 10, DAILY)

    assert charge(runtime, PRICE, PRICE) == [True, False]
    clock.advance(days=1)
    assert charge(runtime, PRICE, PRICE, PRICE) == [True, True, False]
    assert money(runtime)["spent"] == 5


def test_what_a_lease_of_today_returns_can_be_leased_again_today(runtime: Runtime) -> None:
    funded(runtime, 500, daily_micros=10 * PRICE, pacing="asap")
    lease = acquire(runtime, 10)
    assert lease
    settle(runtime, lease, 3)
    end(runtime, lease)

    again = acquire(runtime, 10)

    assert again
    assert again["remaining_micros"] == 7 * PRICE


def test_a_cpc_campaign_leases_nothing(runtime: Runtime) -> None:
    cpc(runtime, 3)

    assert acquire(runtime) is None


def test_a_cpc_campaign_out_of_today_s_money_comes_back_tomorrow(
    runtime: Runtime, clock: Clock
) -> None:
    cpc(runtime, 10, daily_micros=2 * PRICE, pacing="asap")
    charge(runtime, PRICE, PRICE)
    refresh(runtime)
    assert status(runtime) == "exhausted"
    clock.advance(hours=12)

    refresh(runtime)

    assert (status(runtime), placed(runtime, "blog/banner")) == ("active", [SPRING])
    assert money(runtime) == {"released": 4, "available": 2, "leased": 0, "spent": 2}


def test_a_move_to_other_time_zones_releases_no_second_budget_of_a_day(
    runtime: Runtime, clock: Clock
) -> None:
    """The clock starts at noon in UTC: the day began later in each of these zones."""
    cpc(runtime, 10, **DAILY)
    charge(runtime, PRICE, PRICE)

    for zone in ("America/New_York", "America/Los_Angeles", "Pacific/Honolulu"):
        put_cpc(runtime, 10, DAILY, time_zone=zone)
        assert charge(runtime, PRICE) == [False], zone

    # Midnight in Honolulu is at 10:00.
    clock.advance(hours=21)
    assert charge(runtime, PRICE) == [False]
    clock.advance(hours=2)
    assert charge(runtime, *[PRICE] * 3) == [True, True, False]


def test_a_day_that_ended_before_a_move_to_another_time_zone_begins_anew(
    runtime: Runtime, clock: Clock
) -> None:
    cpc(runtime, 10, **DAILY)
    charge(runtime, PRICE, PRICE)
    clock.advance(days=2)

    put_cpc(runtime, 10, DAILY, time_zone="Asia/Tokyo")

    assert charge(runtime, *[PRICE] * 3) == [True, True, False]


@pytest.mark.parametrize("end_of_it", ["pause", "end", "delete"])
@pytest.mark.parametrize("hours", [0, 13])
def test_clicks_on_ads_of_before_a_rest_are_paid_within_the_day_s_budget(
    runtime: Runtime, clock: Clock, end_of_it: str, hours: int
) -> None:
    """The clock starts at noon: 13 hours later is another budget day."""
    credit(runtime, 100 * PRICE)
    cpc(runtime, 10, daily_micros=3 * PRICE)
    live(runtime, clock, hours=1)
    match end_of_it:
        case "pause":
            lifecycle.deactivate(runtime.database, SPRING)
        case "delete":
            removal.delete(runtime.database, SPRING, runtime.now())
        case _:
            ended = {"$set": {"status": "ended"}}
            runtime.database["ad.campaign"].update_one({}, ended)
    funds.take_back(runtime.database, runtime.now())
    clock.advance(hours=hours)

    assert charge(runtime, PRICE, PRICE) == [True, True]
    assert charge(runtime, PRICE, PRICE) == [True, False]

    assert money(runtime) == {"released": 3, "available": 0, "leased": 0, "spent": 3}


def test_the_release_follows_the_day_and_may_miss_runs_or_run_twice(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 1_000, daily_micros=720 * PRICE)
    live(runtime, clock, hours=1)
    released = money(runtime)["released"]
    assert released in {60, 61}
    clock.advance(minutes=14)
    assert (refresh(runtime), refresh(runtime)) == (1, 0)
    assert money(runtime)["released"] == released + 14

    clock.advance(minutes=10)
    in_threads(lambda _: refresh(runtime), 4)

    assert money(runtime)["released"] == released + 24


def test_the_hours_of_a_pause_are_not_paid_for(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 1_000, daily_micros=720 * PRICE)
    live(runtime, clock, hours=1)
    before = money(runtime)["released"]
    lifecycle.deactivate(runtime.database, SPRING)
    clock.advance(hours=8)
    budget = {"total_micros": 1_000 * PRICE, "daily_micros": 720 * PRICE}
    put_campaign(runtime, SPRING, budget=budget)
    assert money(runtime)["released"] == before

    activate(runtime, SPRING)

    assert money(runtime)["released"] == before
    live(runtime, clock, hours=1.5)
    assert money(runtime)["released"] == pytest.approx((before + 720) / 2, abs=2)


def test_the_hours_of_an_outage_are_not_paid_for(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 1_000, daily_micros=720 * PRICE)
    live(runtime, clock, hours=1)
    before = money(runtime)["released"]
    clock.advance(hours=8)

    refresh(runtime)

    assert money(runtime)["released"] <= before + (720 - before) // 180 + 1
    live(runtime, clock, hours=2.9)
    assert 690 <= money(runtime)["released"] <= 720


def test_a_day_after_an_outage_across_midnight_begins_with_a_minute(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 10_000, daily_micros=1_440 * PRICE)
    live(runtime, clock, hours=1)
    clock.advance(hours=23)

    refresh(runtime)

    # Yesterday's unspent money went back at midnight, and twelve hours are left.
    assert money(runtime)["released"] <= 2
    live(runtime, clock, hours=6)
    assert money(runtime)["released"] == pytest.approx(720, abs=3)


def test_more_budget_is_spread_over_the_time_left(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 10_000, daily_micros=720 * PRICE)
    live(runtime, clock, hours=6)
    before = money(runtime)["released"]
    budget = {"total_micros": 10_000 * PRICE, "daily_micros": 1_440 * PRICE}

    put_campaign(runtime, SPRING, budget=budget)

    assert money(runtime)["released"] == before
    live(runtime, clock, hours=3)
    assert money(runtime)["released"] == pytest.approx((before + 1_440) / 2, abs=3)


def test_a_campaign_of_an_earlier_release_goes_on_from_its_money(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 1_000, daily_micros=720 * PRICE)
    live(runtime, clock, hours=1)
    before = money(runtime)["released"]
    runtime.database["ad.campaign"].update_many({}, {"$unset": {"balance.paced_at": ""}})

    live(runtime, clock, hours=10.9)

    assert money(runtime)["released"] > before
    assert 700 <= money(runtime)["released"] <= 720


def test_a_lease_holds_what_is_due_even_if_the_schedule_never_ran(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 10_000, daily_micros=7_200 * PRICE)
    live(runtime, clock, minutes=10)
    released = money(runtime)["released"]
    assert acquire(runtime, released)
    assert acquire(runtime) is None
    clock.advance(minutes=1)

    lease = acquire(runtime)

    assert lease
    assert lease["amount_micros"] == 10 * PRICE


def test_what_a_day_did_not_spend_is_taken_back_at_its_end(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 1_000, daily_micros=240 * PRICE)
    live(runtime, clock, hours=6)
    lease = acquire(runtime, 100)
    assert lease
    settle(runtime, lease, 40)
    end(runtime, lease)

    live(runtime, clock, hours=6)

    assert money(runtime) == {"released": 40, "available": 0, "leased": 0, "spent": 40}
    live(runtime, clock, hours=12)
    assert money(runtime)["released"] == pytest.approx(160, abs=1)
    assert money(runtime)["spent"] == 40


def test_a_lease_of_yesterday_adds_nothing_to_today_s_money(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 1_000, daily_micros=240 * PRICE, pacing="asap")
    lease = acquire(runtime, 100)
    assert lease
    clock.advance(hours=13)
    refresh(runtime)
    assert money(runtime) == {"released": 340, "available": 240, "leased": 100, "spent": 0}

    end(runtime, lease)
    refresh(runtime)

    assert money(runtime) == {"released": 240, "available": 240, "leased": 0, "spent": 0}


def test_a_lease_ends_with_its_day(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 1_000, daily_micros=240 * PRICE)
    clock.advance(hours=11, minutes=59, seconds=30)

    lease = acquire(runtime)

    assert lease
    assert lease["expires_at"] == datetime(2026, 3, 2, tzinfo=UTC)


def waiting(runtime: Runtime, **changes: Any) -> None:
    """An active campaign whose flight begins in ten days, with the changes that are then made."""
    add_zones(runtime, "blog/banner")
    budget = {"total_micros": 1_000 * PRICE, "pacing": "even"}
    put_campaign(runtime, SPRING, budget=budget, flight=flight(10, 20))
    activate(runtime, SPRING)
    put_campaign(runtime, SPRING, **{"budget": budget, **changes})


def flight(start_days: float, end_days: float) -> dict[str, datetime]:
    return {"starts_at": START + timedelta(start_days), "ends_at": START + timedelta(end_days)}


def test_a_flight_that_is_brought_forward_is_paced_from_its_new_start(
    runtime: Runtime, clock: Clock
) -> None:
    waiting(runtime, flight=flight(0, 20))
    assert money(runtime)["released"] == 0

    live(runtime, clock, days=5)

    assert money(runtime)["released"] == pytest.approx(250, abs=1)


def test_a_campaign_that_got_a_daily_budget_before_its_flight_has_it_every_day(
    runtime: Runtime, clock: Clock
) -> None:
    daily = {"total_micros": 1_000 * PRICE, "daily_micros": 10 * PRICE, "pacing": "asap"}
    waiting(runtime, flight=flight(0, 20), budget=daily)

    for day in range(1, 4):
        lease = acquire(runtime)
        assert lease
        settle(runtime, lease, 10)
        assert money(runtime)["released"] == 10 * day
        clock.advance(days=1)


def test_a_flight_that_is_put_off_keeps_its_pace(runtime: Runtime, clock: Clock) -> None:
    waiting(runtime, flight=flight(15, 25))
    clock.advance(days=14.9)
    refresh(runtime)
    assert money(runtime)["released"] == 0

    live(runtime, clock, days=5.1)

    assert money(runtime)["released"] == pytest.approx(500, abs=1)


def test_a_clock_that_is_behind_does_not_release_yesterday_s_money_again(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 1_000, daily_micros=240 * PRICE)
    clock.advance(hours=12, seconds=1)
    refresh(runtime)
    clock.advance(seconds=-2)

    refresh(runtime)

    assert money(runtime)["released"] == 0


def test_the_day_of_a_flight_s_start_or_end_is_spread_over_its_part_of_the_flight(
    runtime: Runtime, clock: Clock
) -> None:
    daily = {"total_micros": 10_000 * PRICE, "daily_micros": 720 * PRICE}
    # From 20:20 of the next day, to 06:00 of the day after.
    waiting(runtime, flight=flight(1 + 100 / 288, 1.75), budget=daily)
    live(runtime, clock, days=1, hours=8, minutes=20)
    assert money(runtime)["released"] == 0

    live(runtime, clock, minutes=110)
    assert money(runtime)["released"] == pytest.approx(360, abs=1)
    live(runtime, clock, minutes=109)
    assert money(runtime)["released"] == pytest.approx(720, abs=5)

    # The day's unspent money goes back at midnight.
    live(runtime, clock, hours=3, minutes=1)
    assert money(runtime)["released"] == pytest.approx(360, abs=3)
    live(runtime, clock, minutes=179)
    assert money(runtime)["released"] == pytest.approx(720, abs=5)
