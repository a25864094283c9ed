"""Any sequence of movements, beside a model that counts impressions on its fingers."""

import os
import random
from dataclasses import dataclass
from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from pymongo.client_session import ClientSession

from chalicelib.ads.budgets import audit, exhaustion, leases
from chalicelib.ads.budgets.leases import LeaseKey, Terms
from chalicelib.ads.errors import BudgetCommitted
from chalicelib.database import in_transaction
from chalicelib.runtime import Runtime
from tests.ads.support.events import PRICE, SPRING
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.ads.support.movements import live
from tests.support.clock import START, Clock
from tests.support.isolation import empty_collections

# A long run: PLAZA_TEST_EXAMPLES=500 pytest tests/ads/budgets/test_machine.py
EXAMPLES = int(os.environ.get("PLAZA_TEST_EXAMPLES", "20"))
DAILY = 240


@dataclass
class Held:
    """A lease as the model knows it, in impressions."""

    key: LeaseKey
    remaining: int


class Budget(RuleBasedStateMachine):
    """One campaign's money; the model knows what was spent and what is leased."""

    runtime: Runtime
    clock: Clock

    def __init__(self) -> None:
        super().__init__()
        runtime = self.runtime
        empty_collections(runtime.database)
        self.clock.time = START
        self.rng = random.Random(1)
        self.total, self.spent = 1_000, 0
        self.held: list[Held] = []
        add_zones(runtime, "blog/banner")
        self.put(self.total)
        activate(runtime, SPRING)

    def put(self, total: int) -> None:
        budget = {"total_micros": total * PRICE, "daily_micros": DAILY * PRICE}
        put_campaign(self.runtime, SPRING, budget=budget)

    @rule(impressions=st.integers(1, 90))
    def acquire(self, impressions: int) -> None:
        terms = Terms(impressions, timedelta(minutes=1))
        now = self.clock()
        lease = leases.acquire(self.runtime.database, SPRING, terms, now, self.rng)
        if lease:
            remaining = lease["remaining_micros"] // PRICE
            held = [each for each in self.held if each.key.lease_id == lease["_id"]]
            if held:
                assert remaining == held[0].remaining
                return
            assert 0 < remaining <= impressions
            self.held.append(Held(LeaseKey(SPRING, lease["_id"]), remaining))

    @rule(which=st.integers(0), count=st.integers(1, 60))
    def settle(self, which: int, count: int) -> None:
        if not self.held:
            return
        held = self.held[which % len(self.held)]

        def work(session: ClientSession) -> list[bool]:
            prices = [PRICE] * count
            now = self.clock()
            return leases.settle(self.runtime.database, session, held.key, prices, now)

        covered = min(count, held.remaining)
        assert in_transaction(self.runtime.database, work).count(True) == covered
        held.remaining -= covered
        self.spent += covered

    @rule(which=st.integers(0))
    def end(self, which: int) -> None:
        if not self.held:
            return
        held = self.held.pop(which % len(self.held))
        ended = [leases.end(self.runtime.database, held.key, self.clock()) for _ in range(2)]
        assert ended == [True, False]

    @rule(minutes=st.integers(-5, 300))
    def pass_time(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)

    @rule()
    def refresh(self) -> None:
        exhaustion.refresh_all(self.runtime.database, self.clock(), self.runtime.random)
        assert exhaustion.refresh_all(self.runtime.database, self.clock(), self.runtime.random) == 0

    @rule(total=st.integers(240, 1_500))
    def change_the_total(self, total: int) -> None:
        committed = self.spent + self.leased()
        try:
            self.put(total)
        except BudgetCommitted:
            assert total < committed
        else:
            assert total >= committed
            self.total = total

    def leased(self) -> int:
        return sum(held.remaining for held in self.held)

    @invariant()
    def the_balances_are_what_the_model_says(self) -> None:
        balance = audit.read(self.runtime.database, SPRING)
        assert balance["spent_micros"] == self.spent * PRICE
        assert balance["leased_micros"] == self.leased() * PRICE
        assert balance["total_micros"] == self.total * PRICE
        parts = sum(balance[f"{name}_micros"] for name in ("spent", "leased", "available"))
        assert parts == balance["released_micros"] <= balance["total_micros"]
        assert balance["available_micros"] >= 0
        assert set(audit.audit(self.runtime.database, SPRING).values()) == {0}


def test_any_sequence_of_movements_keeps_the_balances(runtime: Runtime, clock: Clock) -> None:
    machine = type("Machine", (Budget,), {"runtime": runtime, "clock": clock})
    profile = settings(max_examples=EXAMPLES, stateful_step_count=30, deadline=None)

    run_state_machine_as_test(machine, settings=profile)


@pytest.mark.parametrize("total", [DAILY, 1_000])
def test_the_model_itself_has_half_of_the_money_at_six(
    runtime: Runtime, clock: Clock, total: int
) -> None:
    assert clock() == START
    add_zones(runtime, "blog/banner")
    budget = {"total_micros": total * PRICE, "daily_micros": DAILY * PRICE}
    put_campaign(runtime, SPRING, budget=budget)
    activate(runtime, SPRING)

    live(runtime, clock, hours=6)

    released = audit.read(runtime.database, SPRING)["released_micros"]
    assert released == pytest.approx(DAILY // 2 * PRICE, abs=PRICE)
