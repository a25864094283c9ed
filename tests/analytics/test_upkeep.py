"""Upkeep: parts made ahead, dropped in time, and sizes as metrics."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from pymongo import monitoring

from chalicelib.analytics import upkeep
from chalicelib.analytics.logs import rows as of_rows
from chalicelib.analytics.logs.log import Span
from chalicelib.analytics.logs.rotating import DAILY_EVENTS, RotatingLog
from chalicelib.runtime import Runtime
from chalicelib.wiring import schema
from tests.analytics.support.hits import (
    LOGS,
    SITE,
    at,
    count,
    differences,
    logs,
    rows,
    site,
    view,
    worker,
)
from tests.support.clock import Clock
from tests.support.commands import Commands, listening

NOON = at("2026-03-01 12:00")
DAY = timedelta(days=1)


class Stopped(Exception):
    pass


class Changes(Commands):
    """Remembers how many documents of a collection each update has changed."""

    def __init__(self, collection: str) -> None:
        super().__init__()
        self.collection, self.numbers = collection, list[int]()
        self._asked: set[int] = set()

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        if event.command.get("update") == self.collection:
            self._asked.add(event.request_id)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        if event.request_id in self._asked:
            self.numbers.append(event.reply["nModified"])


def stop_behind_first(parts: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Return a function of parts that stops behind the first."""

    def first(*args: Any) -> Iterator[Any]:
        yield next(parts(*args))
        raise Stopped

    return first


def found_site(runtime: Runtime, name: str = SITE) -> Any:
    return runtime.database["hit.site"].find_one({"_id": name})


def test_tomorrows_part_is_made_ahead_as_it_is_declared(runtime: Runtime) -> None:
    upkeep.trim(runtime)
    assert DAILY_EVENTS.days(runtime.database) == []
    site(runtime, "rotating")

    for _ in range(2):
        upkeep.trim(runtime)

    assert DAILY_EVENTS.days(runtime.database) == [at("2026-03-01"), at("2026-03-02")]
    (made,) = runtime.database.list_collections(filter={"name": "hit.event.20260302"})
    assert "$jsonSchema" in str(made["options"]["validator"])
    assert len(runtime.database["hit.event.20260302"].index_information()) == 4


@pytest.mark.parametrize("when", ["early", "late", "twice"])
def test_writers_at_midnight_lose_nothing_whenever_the_schedule_runs(
    runtime: Runtime, clock: Clock, when: str
) -> None:
    site(runtime, "rotating")
    clock.time = at("2026-03-02 00:00")
    if when != "late":
        upkeep.trim(runtime)
    hits = [
        view(n, at("2026-03-01 23:59:59") + timedelta(milliseconds=50 * n), f"/{n % 3}")
        for n in range(40)
    ]

    def work(number: int) -> int:
        if number == 3:
            upkeep.trim(runtime)
            return 0
        return sum(worker(runtime, number).count(hits[n : n + 10]) for n in range(0, 40, 10))

    with ThreadPoolExecutor(4) as pool:
        counted = list(pool.map(work, range(4)))
    if when != "early":
        upkeep.trim(runtime)

    assert sum(counted) == 40
    assert differences(runtime, at("2026-03-01"), at("2026-03-02")) == []
    found = rows(runtime, at("2026-03-01"), at("2026-03-03"))
    assert [row["hits"] for row in found] == [20, 20]


def test_the_rotating_log_drops_days_and_keeps_what_a_site_keeps(
    runtime: Runtime, clock: Clock
) -> None:
    site(runtime, "rotating", keep_days=20)
    site(runtime, "rotating", name="short", keep_days=15)
    days = [at("2026-02-06") + n * DAY for n in range(0, 24, 2)]
    for day in days:
        clock.time = day + DAY / 2
        number = f"{day:%m%d}"
        count(runtime, view(number, day), view(number, day, site="short"))
    clock.time = at("2026-03-01 12:00")

    assert upkeep.trim(runtime) == 1

    held = {}
    for name in (SITE, "short"):
        found = logs(runtime, name)[0].read(Span(name, days[0], NOON), None, 99)
        held[name] = [hit["ts"] for hit in found]
    assert held[SITE] == [day for day in days if day >= at("2026-02-09")]
    assert held["short"] == [day for day in days if day >= at("2026-02-14")]
    assert upkeep.trim(runtime) == 0


def test_the_expiring_log_goes_by_the_sites_days_as_they_are_now(runtime: Runtime) -> None:
    site(runtime, keep_days=20)
    count(runtime, view(1, NOON))
    until = [row["until"] for row in runtime.database["hit.event"].find()]
    site(runtime, keep_days=15)

    upkeep.trim(runtime)

    # A day more, so that each day which is kept is whole.
    assert until == [NOON + 21 * DAY]
    assert [row["until"] for row in runtime.database["hit.event"].find()] == [NOON + 16 * DAY]
    assert "keep_changed" not in found_site(runtime)


def test_a_large_site_gets_its_new_expiries_in_parts_and_a_stopped_run_goes_on(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_rows, "AT_ONCE", 2)
    site(runtime, keep_days=20)
    count(runtime, *(view(n, NOON - n * DAY) for n in range(6)))
    site(runtime, keep_days=15)
    changes = Changes("hit.event")
    with monkeypatch.context() as stopped:
        stopped.setattr(of_rows, "in_parts", stop_behind_first(of_rows.in_parts))
        with pytest.raises(Stopped):
            upkeep.trim(runtime)
    assert "keep_changed" in found_site(runtime)

    with listening(runtime, changes) as heard:
        upkeep.trim(heard)

    # The first run has changed two; behind the last part, there is none.
    assert changes.numbers == [0, 2, 2, 0]
    for row in runtime.database["hit.event"].find():
        assert row["until"] == row["ts"] + 16 * DAY
    assert "keep_changed" not in found_site(runtime)


def test_settings_that_keep_the_days_change_no_expiry(runtime: Runtime) -> None:
    site(runtime, keep_days=20)
    upkeep.trim(runtime)

    site(runtime, keep_days=20, public=True)

    assert "keep_changed" not in found_site(runtime)
    assert found_site(runtime)["public"] is True
    site(runtime, keep_days=30)
    site(runtime, keep_days=30)
    assert found_site(runtime)["keep_changed"] is True


def test_a_log_that_cannot_be_trimmed_keeps_no_other_from_its_upkeep(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    site(runtime, "rotating")
    site(runtime, "expiring", name="other", keep_days=20)

    def fails(_log: Any, _now: Any) -> int:
        raise Stopped

    monkeypatch.setattr(RotatingLog, "trim", fails)

    with pytest.raises(Stopped):
        upkeep.trim(runtime)

    assert "keep_changed" not in found_site(runtime, "other")
    assert len(DAILY_EVENTS.days(runtime.database)) == 2


def test_the_time_series_expires_after_the_most_days_that_a_site_keeps(runtime: Runtime) -> None:
    site(runtime, "timeseries", keep_days=30)
    site(runtime, "expiring", name="other", keep_days=400)

    upkeep.trim(runtime)

    (series,) = runtime.database.list_collections(filter={"name": "hit.series"})
    assert series["options"]["expireAfterSeconds"] == 401 * 86_400


def test_hits_that_come_too_late_are_not_counted(runtime: Runtime) -> None:
    site(runtime)
    early = NOON - 15 * DAY

    assert count(runtime, view(1, early), view(2, early - timedelta(milliseconds=1))) == 1


def test_a_visitor_is_nobody_once_the_salt_is_gone(runtime: Runtime) -> None:
    site(runtime)
    count(runtime, view(1, NOON - 3 * DAY))

    (row,) = rows(runtime, NOON - 5 * DAY, NOON)
    assert (row["hits"], row["visitors"]) == (1, 0)
    assert differences(runtime, NOON - 3 * DAY) == []


@pytest.mark.parametrize("hour", [2, 3])
def test_sizes_are_metrics_of_logs_always_and_of_all_once_a_day(
    runtime: Runtime, clock: Clock, hour: int, caplog: pytest.LogCaptureFixture
) -> None:
    for log in LOGS:
        site(runtime, log, name=log)
        count(runtime, view(1, NOON, site=log))
    clock.time = at(f"2026-03-02 0{hour}:10")

    caplog.clear()
    number = upkeep.measure(runtime)

    fields = [record.__dict__.get("fields", {}) for record in caplog.records]
    told: dict[str, Any] = {each["collection"]: each for each in fields if "collection" in each}
    assert len(told) == number
    logs_told = {"hit.event", "hit.capped", "hit.series", "hit.event.*"}
    everything = {each.name for each in schema.COLLECTIONS} | {"plaza.validator"}
    # Other tests of the process have collections of their own.
    assert told.keys() >= (everything | logs_told if hour == 3 else logs_told)
    assert hour == 3 or told.keys() == logs_told
    for name in logs_told:
        assert told[name]["documents"] >= 1
        assert told[name]["data_bytes"] > 0
