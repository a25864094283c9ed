"""No query of counting and of money reads a whole collection."""

from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest

from chalicelib.ads.billing import transfers
from chalicelib.ads.budgets import audit, exhaustion, leases
from chalicelib.ads.budgets.leases import Terms
from chalicelib.ads.inventory import click_rates
from chalicelib.ads.inventory.waiting import WAITING, awaited_zones
from chalicelib.ads.reports import roll_ups
from chalicelib.ads.reports.queries import Owner, ReportScope, read
from chalicelib.ads.tracking import reconciliation
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.time_zones import Period
from tests.ads.billing.support.settling import settle
from tests.ads.support.events import SPRING, impression
from tests.ads.support.events import count as count_events
from tests.ads.support.history import DAY, make_history
from tests.support.clock import Clock

PERIODS: tuple[Period, ...] = ("minute", "hour", "day", "week", "month", "year")


@pytest.fixture
def profiled(runtime: Runtime) -> Iterator[Runtime]:
    """A runtime with a history, whose server writes down how it answers."""
    make_history(runtime)
    database = runtime.database
    database.command("profile", 0)
    database["system.profile"].drop()
    database.command("profile", 2)
    yield runtime
    database.command("profile", 0)
    database["system.profile"].drop()


def scans(runtime: Runtime) -> list[Document]:
    """The operations that looked at every document of one of the ad network's collections."""
    runtime.database.command("profile", 0)
    whole = {"ns": {"$regex": r"\.ad\."}, "planSummary": {"$regex": "COLLSCAN"}}
    found = runtime.database["system.profile"].find(whole, {"ns": 1, "command": 1})
    return list(found)


@pytest.mark.parametrize("by", PERIODS)
@pytest.mark.parametrize("owner", [("campaign_id", SPRING), ("site_id", "blog")])
def test_a_report_reads_its_own_documents(
    profiled: Runtime, by: Period, owner: tuple[Owner, str]
) -> None:
    field, owner_id = owner
    end = DAY + timedelta(days=400)
    report = ReportScope(field, owner_id, DAY, end, by, "zone", "spend_micros")

    read(profiled.database, report, None, 50)

    profiled.database.command("profile", 0)
    reads = {"ns": {"$regex": r"\.ad\.report\."}}
    (found,) = profiled.database["system.profile"].find(reads)
    assert found["planSummary"] == f"IXSCAN {{ {field}: 1, period: 1 }}"


def test_counting_and_the_movements_of_money_read_by_index(profiled: Runtime, clock: Clock) -> None:
    database, now = profiled.database, clock()
    lease = leases.acquire(database, SPRING, Terms(5, timedelta(minutes=1)), now, profiled.random)
    assert lease

    count_events(profiled, impression(900, lease["_id"], now))
    exhaustion.refresh_all(database, now, Random(1))
    audit.audit(database, SPRING)
    leases.end_expired(database, timedelta(0), now + timedelta(hours=2))

    assert scans(profiled) == []


def test_the_zones_that_rows_wait_for_are_found_in_steps_of_the_index(profiled: Runtime) -> None:
    database = profiled.database
    zone_ids = ["a", "b"] * 250
    rows = [{"_id": str(n), "site_id": "news", "zone_id": zone} for n, zone in enumerate(zone_ids)]
    database[WAITING.name].insert_many(rows, bypass_document_validation=True)

    found = awaited_zones(database, Random(1), 9)

    assert sorted(found) == [("news", "a"), ("news", "b")]
    database.command("profile", 0)
    reads = list(database["system.profile"].find({"command.distinct": WAITING.name}))
    assert {read["planSummary"] for read in reads} == {"DISTINCT_SCAN { site_id: 1, zone_id: 1 }"}
    assert sum(read["keysExamined"] for read in reads) < 10


def test_the_schedules_read_by_index(profiled: Runtime, clock: Clock) -> None:
    clock.advance(days=1)
    database, now = profiled.database, clock()

    roll_ups.roll_up(database, now)
    click_rates.estimate(database, now)
    settle(profiled)
    transfers.clean_up(database, now + timedelta(hours=1))
    reconciliation.reconcile(database, SPRING, DAY, DAY + timedelta(days=1))

    assert scans(profiled) == []
