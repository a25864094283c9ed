"""Weeks, months, years, click rates and the comparison with the raw events."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pymongo.errors import ExecutionTimeout

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


def test_a_run_that_died_half_way_is_made_good_by_the_next(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(hours=1)
    count(reported, impression(100, None, DAY))
    real = roll_ups._make

    def dies_before_the_years(*arguments: Any) -> None:
        if arguments[2] is counters.YEARS:
            raise RuntimeError
        real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(roll_ups, "_make", dies_before_the_years)
        with pytest.raises(RuntimeError):
            roll_ups.roll_up(reported.database, clock())

    roll_ups.roll_up(reported.database, clock())

    years = reported.database[counters.YEARS.name].find(
        {"period": datetime(2026, 1, 1, tzinfo=UTC)}
    )
    assert sum(row["impressions"] for row in years) == 8


def test_a_period_that_cannot_be_made_keeps_no_later_one_from_being_made(
    reported: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    months = sorted(reported.database[counters.MONTHS.name].distinct("period"))
    reported.database[counters.MONTHS.name].delete_many({})
    reported.database[PROGRESS.name].delete_many({})
    clock.advance(hours=1)
    real = roll_ups._make

    def is_too_long_for_the_first(*arguments: Any) -> None:
        if arguments[2] is counters.MONTHS and arguments[3] == months[0]:
            raise ExecutionTimeout("time limit", 50)
        real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(roll_ups, "_make", is_too_long_for_the_first)
        with pytest.raises(ExecutionTimeout):
            roll_ups.roll_up(reported.database, clock())

    assert sorted(reported.database[counters.MONTHS.name].distinct("period")) == months[1:]
    assert len(months) > 1
    assert reported.database[counters.YEARS.name].count_documents({})
    # The next run makes it, and none of the others, however long it is.
    clock.advance(hours=1)
    made = roll_ups.roll_up(reported.database, clock())
    assert made == {"weeks": 1, "months": 1, "years": 1}
    assert sorted(reported.database[counters.MONTHS.name].distinct("period")) == months
    clock.advance(hours=1)
    assert not any(roll_ups.roll_up(reported.database, clock()).values())


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
