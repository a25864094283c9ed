"""Weeks, months, years, click rates and the comparison with the raw events."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from pymongo.errors import ExecutionTimeout

from chalicelib import deadlines
from chalicelib.ads.inventory import click_rates
from chalicelib.ads.reports import counters, roll_ups
from chalicelib.ads.reports.progress import PROGRESS
from chalicelib.ads.tracking import events, reconciliation
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.ads.campaigns.test_atomicity import in_threads
from tests.ads.support.events import SPRING, count, impression
from tests.ads.support.history import DAY, HOUR
from tests.support.clock import Clock


def rolled(runtime: Runtime) -> list[Document]:
    collections = (counters.WEEKS, counters.MONTHS, counters.YEARS)
    return [row for each in collections for row in runtime.database[each.name].find().sort("_id")]


def test_rolling_up_again_changes_nothing(reported: Runtime) -> None:
    reported.database[PROGRESS.name].delete_many({})
    before = rolled(reported)

    roll_ups.roll_up(reported.database, reported.now())

    assert rolled(reported) == before
    assert len(before) > 10


def test_rolling_up_twice_at_once_counts_nothing_twice(reported: Runtime) -> None:
    before = rolled(reported)
    count(reported, impression(100, None, DAY))

    in_threads(lambda _: roll_ups.roll_up(reported.database, reported.now()), 4)

    def seen(rows: list[Document]) -> int:
        return sum(row["impressions"] for row in rows)

    assert seen(rolled(reported)) == seen(before) + 3


def test_only_the_periods_that_changed_are_made_again(reported: Runtime, clock: Clock) -> None:
    clock.advance(hours=1)
    roll_ups.roll_up(reported.database, clock())
    clock.advance(hours=1)
    count(reported, impression(100, None, DAY))

    assert roll_ups.roll_up(reported.database, clock()) == {"weeks": 1, "months": 1, "years": 1}


def failing(monkeypatch: pytest.MonkeyPatch, failure: Exception, at: Callable[..., bool]) -> None:
    """Let the parts fail for which `at(part, whole)` is true."""
    real = roll_ups._put

    def put(database: Any, part: Any, since: Any, whole: Any, now: Any) -> None:
        if at(part, whole):
            raise failure
        real(database, part, since, whole, now)

    monkeypatch.setattr(roll_ups, "_put", put)


def is_of_the_day(part: Any, _whole: Any) -> bool:
    return bool(part == (counters.DAYS, DAY))


def test_a_run_that_died_half_way_is_made_good_by_the_next(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(hours=1)
    count(reported, impression(100, None, DAY))

    with monkeypatch.context() as patch:
        failing(patch, RuntimeError(), lambda _, whole: whole.reports is counters.YEARS)
        with pytest.raises(RuntimeError):
            roll_ups.roll_up(reported.database, clock())

    roll_ups.roll_up(reported.database, clock())

    years = reported.database[counters.YEARS.name].find(
        {"period": datetime(2026, 1, 1, tzinfo=UTC)}
    )
    assert sum(row["impressions"] for row in years) == 8


def test_a_day_that_cannot_be_rolled_up_keeps_no_other_from_it(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = sums(reported)
    for each in (PROGRESS, counters.WEEKS, counters.MONTHS, counters.YEARS):
        reported.database[each.name].delete_many({})
    clock.advance(hours=1)

    with monkeypatch.context() as patch:
        failing(patch, ExecutionTimeout("time limit", 50), is_of_the_day)
        with pytest.raises(ExecutionTimeout):
            roll_ups.roll_up(reported.database, clock())

    months = reported.database[counters.MONTHS.name]
    assert sorted(months.distinct("period")) == [
        datetime(2025, 12, 1, tzinfo=UTC),
        datetime(2026, 2, 1, tzinfo=UTC),
        DAY,
        datetime(2026, 4, 1, tzinfo=UTC),
    ]
    # The next run rolls that day up and no other, however long ago it was.
    clock.advance(hours=1)
    assert roll_ups.roll_up(reported.database, clock()) == {"weeks": 1, "months": 1, "years": 1}
    assert sums(reported) == wanted
    clock.advance(hours=1)
    assert not any(roll_ups.roll_up(reported.database, clock()).values())


def test_a_run_keeps_the_days_that_another_run_left_meanwhile(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(hours=1)
    roll_ups.roll_up(reported.database, clock())
    clock.advance(hours=1)
    count(reported, impression(100, None, DAY + 31 * 24 * HOUR))
    real = roll_ups._roll_day_up

    def be_overtaken(*given: Any) -> None:
        monkeypatch.setattr(roll_ups, "_roll_day_up", real)
        count(reported, impression(101, None, DAY))
        clock.advance(hours=1)
        with monkeypatch.context() as patch:
            failing(patch, ExecutionTimeout("time limit", 50), is_of_the_day)
            with pytest.raises(ExecutionTimeout):
                roll_ups.roll_up(reported.database, clock())
        real(*given)

    monkeypatch.setattr(roll_ups, "_roll_day_up", be_overtaken)
    roll_ups.roll_up(reported.database, clock())

    clock.advance(hours=1)
    assert roll_ups.roll_up(reported.database, clock()) == {"weeks": 1, "months": 1, "years": 1}


def test_a_run_begins_no_day_without_time_and_the_next_runs_go_on(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, roll, left = sums(reported), roll_ups._roll_day_up, [0.0]
    for each in (PROGRESS, counters.WEEKS, counters.MONTHS, counters.YEARS):
        reported.database[each.name].delete_many({})
    clock.advance(hours=1)

    def be_slow(*given: Any) -> None:
        left[0] -= 13
        roll(*given)

    def run() -> int:
        left[0] = 30
        return roll_ups.roll_up(reported.database, clock())["months"]

    monkeypatch.setattr(deadlines, "remaining", lambda: left[0])
    monkeypatch.setattr(roll_ups, "_roll_day_up", be_slow)

    assert [run() for _ in range(4)] == [2, 2, 1, 0]
    assert sums(reported) == wanted


def test_a_day_that_is_left_is_read_from_where_it_was_left(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(hours=1)
    roll_ups.roll_up(reported.database, clock())
    until = reported.database[PROGRESS.name].find_one({"_id": "parts"})["until"]  # type: ignore[index]
    clock.advance(hours=1)
    count(reported, impression(100, None, DAY))
    for _ in range(2):
        with monkeypatch.context() as patch:
            failing(patch, RuntimeError(), is_of_the_day)
            with pytest.raises(RuntimeError):
                roll_ups.roll_up(reported.database, clock())
        clock.advance(hours=1)
    read: list[datetime] = []
    with monkeypatch.context() as patch:
        patch.setattr(
            roll_ups, "_roll_day_up", lambda _database, _day, since, _now: read.append(since)
        )
        roll_ups.roll_up(reported.database, clock())

    assert read == [until]


def test_the_first_run_finds_its_days_in_a_step_each(reported: Runtime, clock: Clock) -> None:
    reported.database[PROGRESS.name].delete_many({})
    reported.database.command("profile", 2)

    roll_ups.roll_up(reported.database, clock())

    reported.database.command("profile", 0)
    (read,) = reported.database["system.profile"].find({"command.distinct": counters.DAYS.name})
    reported.database["system.profile"].drop()
    days = len(reported.database[counters.DAYS.name].distinct("period"))
    assert read["planSummary"].startswith("DISTINCT_SCAN { period: 1")
    assert read["keysExamined"] <= days + 1


def sums(runtime: Runtime) -> dict[str, dict[str, int]]:
    """Return the counts of each coarser report by its id."""
    fields = counters.COUNTED_FIELDS
    return {
        f"{row['_id']} {len(row['parts'])}": {name: row[name] for name in fields}
        for row in rolled(runtime)
    }


def test_a_run_reads_the_changed_day_and_not_its_month(reported: Runtime, clock: Clock) -> None:
    for day in range(25):
        count(reported, impression(300 + day, None, DAY + day * 24 * HOUR))
    clock.advance(hours=1)
    roll_ups.roll_up(reported.database, clock())
    clock.advance(hours=1)
    count(reported, impression(400, None, DAY))
    of_day = reported.database[counters.DAYS.name].count_documents({"period": DAY})
    reported.database.command("profile", 2)

    roll_ups.roll_up(reported.database, clock())

    reported.database.command("profile", 0)
    reads = {"ns": {"$regex": r"\.ad\.report\.day$"}, "command.aggregate": {"$exists": True}}
    profiled = list(reported.database["system.profile"].find(reads))
    assert [row["docsExamined"] for row in profiled] == [of_day, of_day]


def test_reports_of_a_former_release_are_made_of_parts_and_keep_their_sums_meanwhile(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = sums(reported)
    clock.advance(hours=1)
    # That release has run since: after a rollback, or before the first deployment of this one.
    for each in (counters.WEEKS, counters.MONTHS, counters.YEARS):
        stored = reported.database[each.name]
        stored.update_many({}, {"$unset": {"parts": "", "updated_at": ""}})
    progress = reported.database[PROGRESS.name]
    progress.insert_one({"_id": "days", "until": clock()})
    clock.advance(hours=1)
    one = {"period": datetime(2026, 3, 1, tzinfo=UTC)}
    before = list(reported.database[counters.MONTHS.name].find(one).sort("_id"))

    with monkeypatch.context() as patch:
        failing(patch, ExecutionTimeout("time limit", 50), is_of_the_day)
        with pytest.raises(ExecutionTimeout):
            roll_ups.roll_up(reported.database, clock())

    during = list(reported.database[counters.MONTHS.name].find(one).sort("_id"))
    names = counters.COUNTED_FIELDS
    assert [[row[name] for name in names] for row in during] == [
        [row[name] for name in names] for row in before
    ]

    roll_ups.roll_up(reported.database, clock())

    assert sums(reported) == wanted


def test_click_rates_are_estimated_from_the_last_days(reported: Runtime) -> None:
    for _ in range(2):
        click_rates.estimate(reported.database, reported.now())

    found = list(reported.database[click_rates.AD_COUNTS.name].find({"ad_unit_id": "one"}))
    assert [(row["zone_id"], row["impressions"], row["clicks"]) for row in found] == [
        ("banner", 0, 1)
    ]


def differences(runtime: Runtime) -> list[Document]:
    span = (DAY - 100 * 24 * HOUR, DAY + 100 * 24 * HOUR)
    return reconciliation.reconcile(runtime.database, SPRING, *span)


def test_reports_and_events_agree(reported: Runtime) -> None:
    count(reported, impression(200, None, DAY), impression(201, None, DAY, is_bot=True))

    assert differences(reported) == []


def test_what_disagrees_is_found(reported: Runtime) -> None:
    reported.database[counters.DAYS.name].update_one({"period": DAY}, {"$inc": {"impressions": 1}})
    reported.database[events.EVENTS.name].delete_one({"ts": DAY + HOUR})

    assert [each["report"] for each in differences(reported)].count("hour") == 1
    assert [each["report"] for each in differences(reported)].count("day") >= 1


@pytest.mark.usefixtures("reported")
def test_reconciling_is_a_command(app: Any) -> None:
    span = {"from": "2025-12-01T00:00:00+00:00", "to": "2026-06-01T00:00:00+00:00"}
    event = {"command": "reconcile_ads", "campaign_id": SPRING, **span}

    answer = app.handler_map["command"](event, None)

    assert answer["differences"] == []
    assert set(answer["ledger"].values()) == {0}
