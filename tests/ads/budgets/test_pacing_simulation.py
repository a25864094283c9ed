"""A whole day of uneven traffic: spending keeps below the curve, and ends at the day's budget."""

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.ads.budgets import audit, exhaustion, leases
from chalicelib.ads.budgets.held_leases import HeldLeases
from chalicelib.ads.budgets.pacing import day_of
from chalicelib.ads.inventory import campaigns
from chalicelib.runtime import Runtime
from tests.ads.support.events import PRICE, SPRING, count, impression
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.support.clock import Clock

STEP = timedelta(minutes=10)
GRACE = timedelta(minutes=20)
DAILY = 1_440
COPENHAGEN = "Europe/Copenhagen"
FLIGHT = {"starts_at": "2026-01-01T00:00:00Z", "ends_at": "2027-01-01T00:00:00Z"}


def traffic(share_of_day: float) -> int:
    """Requests in a step: few at night, many by day, a peak in the evening."""
    return round(2 + 25 * (1 - math.cos(2 * math.pi * share_of_day)) + 15 * share_of_day)


@dataclass
class Simulation:
    """A container that serves, its worker, and the schedules, driven step by step."""

    runtime: Runtime
    clock: Clock
    requests: int = 0

    def __post_init__(self) -> None:
        self.held = HeldLeases(self.runtime)

    def start(self, total: int, daily: int, pacing: str = "even") -> None:
        add_zones(self.runtime, "blog/banner")
        budget = {"total_micros": total * PRICE, "daily_micros": daily * PRICE, "pacing": pacing}
        put_campaign(self.runtime, SPRING, budget=budget, flight=FLIGHT, time_zone=COPENHAGEN)
        activate(self.runtime, SPRING)

    def run_day(self) -> int:
        """Run the clock's calendar day; return the impressions it spent."""
        day = day_of(self.clock(), COPENHAGEN)
        before = self.spent()
        while self.clock() < day.end:
            share = (self.clock() - day.start) / (day.end - day.start)
            self.step(traffic(share))
            share = (self.clock() - day.start) / (day.end - day.start)
            assert self.spent() - before <= DAILY * share + 1e-6
            self.clock.time += STEP
        return self.spent() - before

    def step(self, requests: int) -> None:
        leases.end_expired(self.runtime.database, GRACE, self.clock())
        exhaustion.refresh_all(self.runtime.database, self.clock(), self.runtime.random)
        drawn = [self.held.draw(SPRING, PRICE) for _ in range(requests)]
        seen = [
            impression(self.requests + number, lease_id, self.clock())
            for number, lease_id in enumerate(drawn)
            if lease_id
        ]
        self.requests += requests
        if seen:
            assert count(self.runtime, *seen) == len(seen)

    def spent(self) -> int:
        balance = audit.read(self.runtime.database, SPRING)
        assert balance["spent_micros"] <= balance["released_micros"] <= balance["total_micros"]
        return balance["spent_micros"] // PRICE


@pytest.fixture
def simulation(runtime: Runtime, clock: Clock) -> Simulation:
    settings = runtime.settings.model_copy(update={"budget_lease_impressions": 10})
    return Simulation(replace(runtime, settings=settings), clock)


@pytest.mark.parametrize(
    "start",
    [
        datetime(2026, 3, 27, 23, tzinfo=UTC),
        datetime(2026, 3, 28, 23, tzinfo=UTC),
        datetime(2026, 10, 24, 22, tzinfo=UTC),
    ],
    ids=["24-hours", "23-hours", "25-hours"],
)
def test_even_pacing_spends_the_day_s_budget_along_the_day(
    simulation: Simulation, clock: Clock, start: datetime
) -> None:
    clock.time = start
    simulation.start(total=10 * DAILY, daily=DAILY)

    spent = simulation.run_day()

    assert DAILY * 0.99 <= spent <= DAILY


def test_the_total_ends_the_campaign_in_the_middle_of_a_day(
    simulation: Simulation, clock: Clock
) -> None:
    clock.time = datetime(2026, 3, 27, 23, tzinfo=UTC)
    simulation.start(total=DAILY * 3 // 2, daily=DAILY)

    days = [simulation.run_day(), simulation.run_day()]

    assert DAILY * 0.99 <= days[0] <= DAILY
    assert sum(days) == DAILY * 3 // 2
    assert campaigns.get(simulation.runtime.database, SPRING)["status"] == "exhausted"
