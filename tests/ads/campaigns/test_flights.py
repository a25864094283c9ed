from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from chalice.app import Chalice
from pymongo import _csot

from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory import campaigns, placing
from chalicelib.errors import ChangeTooLarge, Problem, Unavailable
from chalicelib.runtime import Runtime
from local.schedules import run_schedule
from tests.ads.support.factories import (
    activate,
    add_zones,
    assert_zones_agree,
    placed,
    put_campaign,
    zone,
)
from tests.support.clock import Clock

SPRING = "mercedes:spring"
NAMES = [f"bmw:campaign-{number}" for number in range(6)]


def status(runtime: Runtime, campaign_id: str = SPRING) -> str:
    return str(campaigns.get(runtime.database, campaign_id)["status"])


def end_flights(runtime: Runtime) -> int:
    return lifecycle.end_flights(runtime)


def put_ending(runtime: Runtime, campaign_id: str, **after: float) -> None:
    end = runtime.now() + timedelta(**after)
    put_campaign(runtime, campaign_id, flight={"starts_at": runtime.now(), "ends_at": end})


@pytest.fixture
def ending(runtime: Runtime) -> Runtime:
    """A campaign that ends in an hour, and another that goes on, in one zone."""
    add_zones(runtime, "blog/banner")
    put_ending(runtime, SPRING, hours=1)
    put_ending(runtime, NAMES[0], hours=2)
    activate(runtime, SPRING, NAMES[0])
    return runtime


def test_a_flight_that_is_over_ends_and_leaves_the_zones(ending: Runtime, clock: Clock) -> None:
    clock.advance(hours=1, milliseconds=-1)
    assert end_flights(ending) == 0
    assert status(ending) == "active"

    clock.advance(milliseconds=1)
    assert end_flights(ending) == 1

    assert (status(ending), status(ending, NAMES[0])) == ("ended", "active")
    assert placed(ending, "blog/banner") == [NAMES[0]]
    assert end_flights(ending) == 0


def test_a_missed_run_is_made_up_for(ending: Runtime, clock: Clock) -> None:
    clock.advance(days=30)

    assert end_flights(ending) == 2
    assert placed(ending, "blog/banner") == []


def test_two_runs_at_once_end_each_flight_once(runtime: Runtime, clock: Clock) -> None:
    add_zones(runtime, "blog/banner")
    for name in NAMES:
        put_ending(runtime, name, hours=1)
    activate(runtime, *NAMES)
    version = zone(runtime, "blog/banner")["version"]
    clock.advance(hours=1)

    with ThreadPoolExecutor(3) as pool:
        ended = pool.map(lambda _: end_flights(runtime), range(3))

    assert sum(ended) == len(NAMES)
    assert zone(runtime, "blog/banner")["version"] == version + len(NAMES)
    assert_zones_agree(runtime, "blog/banner")


def test_a_flight_prolonged_in_time_goes_on(
    ending: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(hours=1)
    real = lifecycle._end

    def prolong_first(*arguments: Any) -> bool:
        # Between the schedule's search and its change.
        put_ending(ending, SPRING, hours=1)
        return real(*arguments)

    monkeypatch.setattr(lifecycle, "_end", prolong_first)

    assert end_flights(ending) == 0
    assert SPRING in placed(ending, "blog/banner")


@pytest.mark.parametrize("problem", [Unavailable, ChangeTooLarge])
def test_a_campaign_that_cannot_be_ended_now_does_not_hold_up_the_rest(
    ending: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch, problem: type[Problem]
) -> None:
    clock.advance(hours=2)
    end, tries = placing.clear, []

    def busy(database: Any, session: Any, campaign_id: str) -> None:
        tries.append(campaign_id)
        if campaign_id == SPRING and tries.count(SPRING) <= 3:
            raise problem
        end(database, session, campaign_id)

    monkeypatch.setattr(placing, "clear", busy)

    # It has a second try in each run, after the rest.
    assert end_flights(ending) == 1
    assert status(ending) == "active"
    assert end_flights(ending) == 1


def test_a_campaign_whose_end_takes_long_has_its_turn_after_the_rest(
    ending: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(hours=2)
    end, seconds = placing.clear, []

    def take_time(database: Any, session: Any, campaign_id: str) -> None:
        left = _csot.remaining() or 0
        seconds.append((campaign_id, left > lifecycle._END_TIMEOUT_SECONDS))
        if campaign_id == SPRING and left <= lifecycle._END_TIMEOUT_SECONDS:
            raise Unavailable
        end(database, session, campaign_id)

    monkeypatch.setattr(placing, "clear", take_time)

    assert end_flights(ending) == 2

    assert sorted(seconds) == [(NAMES[0], False), (SPRING, False), (SPRING, True)]
    assert seconds[-1] == (SPRING, True)


def test_drafts_and_paused_campaigns_do_not_end(ending: Runtime, clock: Clock) -> None:
    lifecycle.deactivate(ending.database, SPRING)
    put_ending(ending, NAMES[1], hours=1)
    clock.advance(hours=1)

    assert end_flights(ending) == 0
    assert (status(ending), status(ending, NAMES[1])) == ("paused", "draft")


@pytest.mark.bounds(ads={"ended_flights": 1})
def test_a_run_ends_a_bounded_number(ending: Runtime, clock: Clock) -> None:
    clock.advance(days=1)

    # The one that has been over for longest comes first.
    assert end_flights(ending) == 1
    assert (status(ending), status(ending, NAMES[0])) == ("ended", "active")
    assert end_flights(ending) == 1


def test_the_schedules_of_the_app_run(ending: Runtime, app: Chalice, clock: Clock) -> None:
    clock.advance(hours=1)

    for name in ("end_flights", "reprice_zones", "trim_profiles"):
        run_schedule(app, name)

    assert status(ending) == "ended"
