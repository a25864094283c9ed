"""Eight processes spend one budget of 500 impressions, are killed all the time, and stay within it.

PLAZA_TEST_SECONDS says for how long, 4 seconds without it.
"""

import itertools
import os
import random
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest

from chalicelib.ads.budgets import audit, exhaustion, leases
from chalicelib.ads.inventory import campaigns
from chalicelib.ads.tracking import events, reconciliation
from chalicelib.runtime import Runtime, utc_now
from tests.ads.support.budget_worker import QUEUE, Container
from tests.ads.support.crash_workers import run_swarm
from tests.ads.support.events import PRICE, SPRING
from tests.ads.support.factories import activate, add_zones, put_campaign

pytestmark = pytest.mark.processes

BUDGET_IMPRESSIONS = 500
SECONDS = float(os.environ.get("PLAZA_TEST_SECONDS", "4"))
# A swarm that bills less has shown little; a busy machine takes several.
LEAST_BILLED, PATIENCE_SECONDS = 20, 60
FLIGHT = {"starts_at": "2000-01-01T00:00:00Z", "ends_at": "2100-01-01T00:00:00Z"}


@pytest.fixture
def spring(runtime: Runtime) -> Iterator[Runtime]:
    """A campaign that pays 500 impressions; the server gives a dead process's locks up soon."""
    admin = runtime.database.client.admin
    before = admin.command("getParameter", transactionLifetimeLimitSeconds=1)
    admin.command("setParameter", transactionLifetimeLimitSeconds=1)
    runtime.database[QUEUE].delete_many({})
    add_zones(runtime, "blog/banner")
    budget = {"total_micros": BUDGET_IMPRESSIONS * PRICE}
    put_campaign(runtime, SPRING, budget=budget, flight=FLIGHT, caps=[])
    activate(runtime, SPRING)
    yield runtime
    limit = before["transactionLifetimeLimitSeconds"]
    admin.command("setParameter", transactionLifetimeLimitSeconds=limit)
    runtime.database.drop_collection(QUEUE)


def check(runtime: Runtime) -> dict[str, int]:
    """Return the balances, which agree with each other and with the ledger at any instant."""
    balance = audit.read(runtime.database, SPRING)
    parts = sum(balance[f"{name}_micros"] for name in ("spent", "leased", "available"))
    assert parts == balance["released_micros"] <= balance["total_micros"]
    assert min(balance.values()) >= 0
    assert set(audit.audit(runtime.database, SPRING).values()) == {0}
    return balance


def billed(runtime: Runtime) -> int:
    return runtime.database[events.EVENTS.name].count_documents({"billed": True})


def swarm_and_sample(runtime: Runtime, uri: str) -> tuple[int, list[int]]:
    """Run the swarm, checking the balances all the while; return the deaths and what was spent."""
    died: list[int] = []
    samples: list[int] = []
    done, is_over = threading.Event(), threading.Event()

    def run() -> None:
        work, name = "tests.ads.support.budget_worker:serve_and_count", runtime.settings.database
        until = time.monotonic() + PATIENCE_SECONDS
        try:
            for seed in itertools.count(1):
                died.append(run_swarm(work, uri, name, seconds=SECONDS, seed=seed))
                has_shown = billed(runtime) >= LEAST_BILLED or time.monotonic() > until
                if has_shown or is_over.is_set():
                    break
        finally:
            done.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        while not done.wait(0.01):
            samples.append(check(runtime)["spent_micros"] // PRICE)
            assert billed(runtime) <= BUDGET_IMPRESSIONS
    finally:
        is_over.set()
        thread.join()
    samples.append(check(runtime)["spent_micros"] // PRICE)
    return sum(died), samples


def test_a_budget_is_spent_to_the_last_impression_and_not_beyond(
    spring: Runtime, mongodb_uri: str
) -> None:
    deaths, samples = swarm_and_sample(spring, mongodb_uri)
    print(f"{deaths} deaths, {len(samples)} samples, {samples[-1]} billed by the swarm")  # noqa: T201

    assert deaths > 2 * SECONDS
    assert len(samples) > 10 * SECONDS
    assert samples == sorted(samples)
    assert samples[-1] >= LEAST_BILLED
    healthy = Container(spring.database, random.Random(1))
    finish(healthy)
    balance = check(spring)
    assert balance["leased_micros"] == 0
    assert balance["spent_micros"] == billed(spring) * PRICE
    assert balance["spent_micros"] + balance["available_micros"] == BUDGET_IMPRESSIONS * PRICE

    spend_the_rest(healthy)

    assert check(spring)["spent_micros"] == BUDGET_IMPRESSIONS * PRICE
    assert billed(spring) == BUDGET_IMPRESSIONS
    span = (utc_now() - timedelta(days=2), utc_now() + timedelta(days=1))
    whole_days = [each.replace(hour=0, minute=0, second=0, microsecond=0) for each in span]
    assert reconciliation.reconcile(spring.database, SPRING, whole_days[0], whole_days[1]) == []


def spend_the_rest(container: Container) -> None:
    """Serve until the campaign is exhausted; a lease that expires meanwhile comes back."""
    deadline = time.monotonic() + 60
    while campaigns.get(container.runtime.database, SPRING)["status"] == "active":
        assert time.monotonic() < deadline
        while container.serve_and_beacon():
            container.work()
        finish(container)


def finish(container: Container) -> None:
    """Deliver what is on its way, then let every lease expire."""
    database = container.runtime.database
    while database[QUEUE].estimated_document_count():
        container.work()
    leases.end_expired(database, timedelta(0), utc_now() + timedelta(hours=1))
    exhaustion.refresh_all(database, utc_now(), Random(1))
