"""Moves between logs and layouts while hits come: each counts once, whatever stops in between."""

import itertools
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from pymongo.errors import NetworkTimeout

from chalicelib import deadlines
from chalicelib.analytics import jobs, upkeep
from chalicelib.analytics.hits import rows_of
from chalicelib.analytics.logs import moving as logs_moving
from chalicelib.analytics.logs import receipts, together
from chalicelib.analytics.logs.log import Span
from chalicelib.analytics.reports import late, moving
from chalicelib.analytics.sessions import making
from chalicelib.analytics.settings import SITES, LogName, SiteAnalytics
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import (
    LAYOUTS,
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
from tests.support.http_client import Client

NOON = at("2026-03-01 12:00")
DAY = timedelta(days=1)
EVERY_MOVE = list(itertools.permutations(LOGS, 2))


def settings(runtime: Runtime) -> SiteAnalytics:
    found = SITES.of(runtime.database).find_one({"_id": SITE})
    assert found is not None
    return found


def step(runtime: Runtime, clock: Clock) -> None:
    clock.advance(minutes=5)
    logs_moving.sweep(runtime)


def ids(runtime: Runtime) -> list[str]:
    span = Span(SITE, NOON - 10 * DAY, NOON + 10 * DAY)
    return sorted(hit["_id"][-2:] for hit in together.each(logs(runtime), span))


@pytest.mark.bounds(analytics={"moved_at_once": 2})
@pytest.mark.parametrize(("log_from", "log_to"), EVERY_MOVE, ids=str)
def test_hits_move_while_others_come_and_repeats_count_once(
    runtime: Runtime, clock: Clock, log_from: LogName, log_to: LogName
) -> None:
    site(runtime, log_from)
    told = [view(n, NOON - DAY * (n % 3), f"/{n}") for n in range(6)]
    assert count(runtime, *told) == 6
    logs_moving.start(runtime, settings(runtime), log_to)

    for number in range(10, 15):
        # A repeat of before and one of this move, and a new hit, at each of its steps.
        again = [*told, *(view(n, NOON) for n in range(10, number))]
        assert count(runtime, *again, view(number, NOON)) == 1
        assert len(ids(runtime)) == number - 10 + 7
        step(runtime, clock)

    assert "moving" not in settings(runtime)
    assert settings(runtime)["log"] == log_to
    assert [log.name for log in logs(runtime)] == [log_to]
    assert count(runtime, *told, *(view(n, NOON) for n in range(10, 15))) == 0
    assert len(ids(runtime)) == 11
    assert differences(runtime, NOON, NOON - DAY, NOON - 2 * DAY) == []


@pytest.mark.parametrize(("log_from", "log_to"), EVERY_MOVE, ids=str)
def test_a_hit_of_before_that_comes_again_after_the_switch_alone_counts_once(
    runtime: Runtime, clock: Clock, log_from: LogName, log_to: LogName
) -> None:
    site(runtime, log_from)
    told = [view(n, NOON) for n in range(3)]
    count(runtime, *told)
    logs_moving.start(runtime, settings(runtime), log_to)
    step(runtime, clock)
    assert settings(runtime)["log"] == log_to

    assert count(runtime, *told) == 0

    step(runtime, clock)
    assert "moving" not in settings(runtime)
    assert count(runtime, *told) == 0
    assert differences(runtime, NOON) == []


@pytest.mark.parametrize("log_to", ["timeseries", "capped"])
def test_a_repeat_whose_worker_died_in_the_move_is_no_new_hit(
    runtime: Runtime, clock: Clock, log_to: LogName
) -> None:
    """It was claimed and not settled, so the move must say that the hit was counted."""
    site(runtime)
    told = view(1, NOON)
    count(runtime, told)
    logs_moving.start(runtime, settings(runtime), log_to)
    step(runtime, clock)
    assert len(receipts.claim(runtime.database, rows_of(told))) == 1
    step(runtime, clock)
    assert "moving" not in settings(runtime)

    assert count(runtime, told) == 0
    assert differences(runtime, NOON) == []


@pytest.mark.parametrize("log_from", ["timeseries", "capped"])
@pytest.mark.parametrize("log_to", ["expiring", "rotating", "capped"])
def test_a_hit_that_was_appended_and_never_counted_is_counted_after_the_move(
    runtime: Runtime, clock: Clock, log_from: LogName, log_to: LogName
) -> None:
    site(runtime, log_from)
    told = view(1, NOON)
    (log,) = logs(runtime)
    log.append(receipts.claim(runtime.database, rows_of(told)))
    logs_moving.start(runtime, settings(runtime), log_to)
    step(runtime, clock)
    step(runtime, clock)

    assert [count(runtime, told), count(runtime, told)] == [1, 0]
    assert differences(runtime, NOON) == []


def test_a_move_waits_for_those_who_have_not_heard_of_it(runtime: Runtime, clock: Clock) -> None:
    site(runtime)
    count(runtime, view(1, NOON))
    logs_moving.start(runtime, settings(runtime), "rotating")

    logs_moving.sweep(runtime)
    assert settings(runtime)["log"] == "expiring"
    clock.advance(seconds=90)
    logs_moving.sweep(runtime)
    assert settings(runtime)["log"] == "rotating"
    logs_moving.sweep(runtime)
    assert "copied" not in settings(runtime)["moving"]


@pytest.mark.parametrize(("log_from", "log_to"), EVERY_MOVE, ids=str)
def test_a_copy_counts_no_log(
    runtime: Runtime, clock: Clock, log_from: LogName, log_to: LogName
) -> None:
    """The count of a large log outlasts a command's time."""
    site(runtime, log_from)
    count(runtime, *(view(n, NOON - DAY * n) for n in range(3)))
    logs_moving.start(runtime, settings(runtime), log_to)
    step(runtime, clock)
    commands = Commands()

    with listening(runtime, commands) as heard:
        step(heard, clock)

    assert "aggregate" not in commands.names
    assert "moving" not in settings(runtime)
    assert ids(runtime) == ["00", "01", "02"]


def test_a_move_that_fails_keeps_no_session_from_being_made(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Runtime] = []

    def fails(_runtime: Runtime) -> dict[str, int]:
        raise NetworkTimeout

    def make(given: Runtime) -> int:
        made.append(given)
        return 1

    monkeypatch.setattr(logs_moving, "sweep", fails)
    monkeypatch.setattr(making, "make_due", make)

    with pytest.raises(NetworkTimeout):
        jobs.roll_up(runtime)

    assert made == [runtime]


@pytest.mark.bounds(analytics={"moved_at_once": 1, "moved_in_a_run": 1})
def test_a_copy_goes_on_where_it_stopped(runtime: Runtime, clock: Clock) -> None:
    site(runtime)
    count(runtime, *(view(n, NOON - DAY * n) for n in range(3)))
    logs_moving.start(runtime, settings(runtime), "capped")
    step(runtime, clock)

    copied = []
    for _ in range(4):
        step(runtime, clock)
        copied.append(settings(runtime).get("moving", {}).get("copied"))

    assert copied == [at("2026-02-28"), at("2026-03-01"), None, None]
    assert len(ids(runtime)) == 3


@pytest.mark.bounds(analytics={"moved_at_once": 2, "moved_in_a_run": 2})
@pytest.mark.parametrize("log_to", ["rotating", "timeseries"])
def test_a_day_of_more_hits_than_a_run_may_copy_is_copied_by_many(
    runtime: Runtime, clock: Clock, log_to: LogName
) -> None:
    site(runtime)
    count(runtime, *(view(n, NOON + n // 2 * timedelta(minutes=1)) for n in range(7)))
    logs_moving.start(runtime, settings(runtime), log_to)
    step(runtime, clock)
    new = next(log for log in logs(runtime) if log.name == log_to)

    copied = []
    while "moving" in settings(runtime):
        step(runtime, clock)
        copied.append(len(new.read(Span(SITE, NOON - DAY, NOON + DAY), None, 100)))

    # The days of the move itself come after it, in a run of their own.
    assert copied[:4] == [2, 4, 6, 7]
    assert set(copied[3:]) == {7}
    assert ids(runtime) == [f"0{n}" for n in range(7)]
    assert differences(runtime, NOON) == []


def test_a_copy_without_time_goes_on_in_the_next_run(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    site(runtime)
    count(runtime, view(1, NOON), view(2, NOON))
    logs_moving.start(runtime, settings(runtime), "rotating")
    step(runtime, clock)

    with monkeypatch.context() as patch:
        patch.setattr(deadlines, "share", lambda _part: lambda: False)
        step(runtime, clock)
    assert "moving" in settings(runtime)

    step(runtime, clock)
    assert "moving" not in settings(runtime)
    assert ids(runtime) == ["01", "02"]


def test_hits_that_are_copied_while_the_days_to_keep_change_are_kept_as_long(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    site(runtime, "rotating", keep_days=365)
    count(runtime, view(1, NOON))
    logs_moving.start(runtime, settings(runtime), "expiring")
    step(runtime, clock)
    keep = logs_moving._keep

    def late(*given: Any) -> None:
        """The publisher keeps fewer days, and a schedule sets expiries, before the copies come."""
        monkeypatch.undo()
        change = {"$set": {"keep_days": 15, "keep_changed": True}}
        SITES.of(runtime.database).update_one({"_id": SITE}, change)
        upkeep.trim(runtime)
        keep(*given)

    monkeypatch.setattr(logs_moving, "_keep", late)
    while "moving" in settings(runtime):
        step(runtime, clock)

    upkeep.trim(runtime)

    (hit,) = runtime.database["hit.event"].find()
    assert hit["until"] == NOON + 16 * DAY


def test_a_copy_that_is_made_again_changes_nothing(runtime: Runtime, clock: Clock) -> None:
    """The worst case: it dies after the copy of a day, before it says so."""
    site(runtime)
    count(runtime, *(view(n, NOON) for n in range(3)))
    logs_moving.start(runtime, settings(runtime), "timeseries")
    step(runtime, clock)
    log = next(log for log in logs(runtime) if log.name == "timeseries")
    held = next(each for each in logs(runtime) if each.name == "expiring")
    log.append(held.read(Span(SITE, NOON - DAY, NOON + DAY), None, 10))

    step(runtime, clock)

    assert ids(runtime) == ["00", "01", "02"]
    assert differences(runtime, NOON) == []


def test_a_hit_of_a_user_moves_without_the_user_into_a_time_series(
    runtime: Runtime, clock: Clock
) -> None:
    site(runtime, user_reports=True)
    count(runtime, view(1, NOON, user="zed"))
    SITES.of(runtime.database).update_one({"_id": SITE}, {"$set": {"user_reports": False}})
    logs_moving.start(runtime, settings(runtime), "timeseries")
    for _ in range(3):
        step(runtime, clock)

    (log,) = logs(runtime)
    assert log.name == "timeseries"
    assert "user" not in log.read(Span(SITE, NOON, NOON + DAY), None, 1)[0]


@pytest.mark.bounds(analytics={"rewritten_in_a_run": 3})
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_new_layout_takes_over_the_days_of_before(
    runtime: Runtime, clock: Clock, layout: str
) -> None:
    before, after = LAYOUTS if layout == "flat" else LAYOUTS[::-1]
    site(runtime, layout=before)
    minutes = [NOON + timedelta(minutes=17 * n) for n in range(30)]
    count(runtime, *(view(n, minute, f"/{n % 4}") for n, minute in enumerate(minutes)))
    span = (at("2026-03-01"), at("2026-03-02"))
    found = rows(runtime, *span, by="minute", group="path")
    clock.advance(days=1)
    moving.change(runtime, settings(runtime), after)
    # Some hits are counted in documents of both.
    count(runtime, *(view(n + 100, minute, "/0") for n, minute in enumerate(minutes)))

    while moving.rewrite(runtime):
        assert differences(runtime, NOON) == []
    moving.rewrite(runtime)

    old = "minutes" if before == "flat" else "hours"
    assert runtime.database["hit.day"].count_documents({old: {"$exists": True}}) == 0
    assert runtime.database["hit.source"].count_documents({old: {"$exists": True}}) == 0
    assert "layout_changed" not in settings(runtime)
    assert differences(runtime, NOON) == []
    left = [row for row in rows(runtime, *span, by="minute", group="path") if row["key"] != "/0"]
    assert left == [row for row in found if row["key"] != "/0"]


def test_a_run_without_time_for_all_days_goes_on_where_the_last_one_ended(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    site(runtime, layout="flat")
    for day in range(4):
        count(runtime, view(day, NOON - day * DAY))
    moving.change(runtime, settings(runtime), "hierarchical")
    # Time for a day.
    monkeypatch.setattr(deadlines, "share", lambda _: iter((True, True, False, False)).__next__)

    walked = []
    for _ in range(4):
        assert moving.rewrite(runtime)
        walked.append(settings(runtime).get("rewriting", {}).get("day"))

    days = [at("2026-03-01") - day * DAY for day in (3, 2, 1)]
    assert walked == [*days, None]
    assert [differences(runtime, NOON - day * DAY) for day in range(4)] == [[]] * 4


def test_a_late_count_in_the_old_layout_is_rewritten_by_the_next_run(runtime: Runtime) -> None:
    site(runtime, layout="flat")
    count(runtime, view(1, NOON))
    moving.change(runtime, settings(runtime), "hierarchical")
    assert moving.rewrite(runtime)

    runtime.database["hit.day"].update_one({}, {"$set": {"minutes.5": 1}})

    assert [moving.rewrite(runtime) for _ in range(3)] == [1, 0, 0]


def test_a_change_of_layout_that_fails_keeps_no_sessions_from_being_made(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    site(runtime)
    count(runtime, view(1, NOON))
    clock.advance(days=1)

    def lasts(_: Runtime) -> int:
        raise NetworkTimeout("too long")

    monkeypatch.setattr(moving, "rewrite", lasts)
    with pytest.raises(NetworkTimeout):
        jobs.roll_up(runtime)

    assert runtime.database["hit.session"].count_documents({}) == 1


@pytest.mark.bounds(analytics={"paths": 6, "paths_of_one": 1, "paths_of_network": 3})
def test_a_new_layout_keeps_what_a_removal_took_from_another_shard(
    runtime: Runtime, publisher: Client
) -> None:
    """Early hits of a late name follow to one of its shards; the site counted them in others."""
    site(runtime, layout="flat")
    first, second = (worker(runtime, shard_is(runtime, shard)) for shard in (0, 1))
    first.count([view(1, NOON, "/known", network="n1")])
    early = [view(n, NOON - timedelta(minutes=n), "/x", network="n1") for n in (2, 3)]
    worker(runtime, shard_is(runtime, 0)).count(early)
    second.count([view(4, NOON, "/x", network="n2")])
    runtime.now.advance(seconds=90)  # type: ignore[attr-defined]
    assert late.follow(runtime) == 1
    span = (at("2026-03-01"), at("2026-03-02"))

    assert publisher.delete(f"/stats/{SITE}?path=/x").status == 204
    moving.change(runtime, settings(runtime), "hierarchical")
    assert moving.rewrite(runtime)

    (whole,) = runtime.database["hit.day"].find({"path": "*", "shard": 1})
    assert whole["hits"] == -2
    assert [row["hits"] for row in rows(runtime, *span)] == [1]
    for by in ("hour", "minute"):
        assert sum(row["hits"] for row in rows(runtime, *span, by=by)) == 1


def shard_is(runtime: Runtime, shard: int) -> int:
    """Return the number of a worker whose next count is in a shard."""
    shards = runtime.bounds.analytics.report_shards
    return next(n for n in itertools.count() if Random(n).randrange(shards) == shard)
