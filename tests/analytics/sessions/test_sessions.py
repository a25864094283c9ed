"""Sessions: where they begin and end, how they are rolled up, and when they are made anew."""

import contextlib
import random
from datetime import datetime, timedelta
from typing import Any

import pytest
from pymongo.errors import ExecutionTimeout
from pymongo.monitoring import CommandStartedEvent

from chalicelib.analytics import jobs
from chalicelib.analytics.logs import capped, moving
from chalicelib.analytics.sessions import making, rolling
from chalicelib.analytics.sessions.periods import PERIODS, SESSIONS, end_of, start_of
from chalicelib.analytics.settings import SITES
from chalicelib.database import OPERATION_TIMEOUT_MS
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import LOGS, SITE, at, count, logs, site, view
from tests.support.clock import Clock
from tests.support.commands import Commands, listening
from tests.support.http_client import Client

MORNING = at("2026-03-01 08:00")
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@pytest.fixture(params=LOGS)
def blog(runtime: Runtime, request: pytest.FixtureRequest) -> Runtime:
    """A site in each log."""
    site(runtime, request.param)
    return runtime


def sessions(runtime: Runtime) -> list[tuple[str, str, str, int, float]]:
    """Return sessions as (visitor and number, entry, exit, hits, minutes)."""
    found = SESSIONS.of(runtime.database).find().sort("_id", 1)
    return [
        (
            row["_id"].partition(":")[2].partition(":")[2],
            row["entry"],
            row["exit"],
            row["hits"],
            row["seconds"] / 60,
        )
        for row in found
    ]


def report(publisher: Client, by: str, **query: str) -> list[Any]:
    span = (
        "from=2025-12-01&to=2026-12-31"
        if by in ("day", "week", "month", "year")
        else ("from=2026-02-28&to=2026-03-03")
    )
    more = "".join(f"&{name}={value}" for name, value in query.items())
    rows: list[Any] = publisher.get(f"/stats/{SITE}/sessions?{span}&by={by}{more}").json["rows"]
    return rows


def start_move(runtime: Runtime) -> None:
    """Announce a move of the site to the rotating log."""
    found = SITES.of(runtime.database).find_one({"_id": SITE})
    assert found is not None
    moving.start(runtime, found, "rotating")


def test_a_pause_of_half_an_hour_ends_a_session(blog: Runtime) -> None:
    times = (0, 29, 58, 88, 117)
    count(blog, *(view(n, MORNING + m * MINUTE, f"/{n}") for n, m in enumerate(times)))

    making.make_due(blog)

    assert sessions(blog) == [("ann:1", "/0", "/2", 3, 58), ("ann:2", "/3", "/4", 2, 29)]


def test_hits_out_of_order_and_of_many_batches_make_the_same_sessions(blog: Runtime) -> None:
    told = [view(n, MORNING + 7 * n * MINUTE, f"/{n}", visitor=f"v{n % 2}") for n in range(12)]
    random.Random(3).shuffle(told)
    for hit in told:
        count(blog, hit, told[0])
        making.make_due(blog)

    assert sessions(blog) == [
        ("v0:1", "/0", "/10", 6, 70),
        ("v1:1", "/1", "/11", 6, 70),
    ]


class Patience(Commands):
    """Remembers how long MongoDB may take for each command that reads or changes sessions."""

    def __init__(self) -> None:
        super().__init__()
        self.most_ms: list[int] = []

    def started(self, event: CommandStartedEvent) -> None:
        command = event.command
        is_merge = any("$merge" in stage for stage in command.get("pipeline", ()))
        if is_merge or str(command[event.command_name]).startswith("hit.session"):
            self.most_ms.append(command.get("maxTimeMS", 0))


def test_a_day_of_many_hits_has_longer_than_other_operations(blog: Runtime) -> None:
    count(blog, view(1, MORNING, "/1"))
    patience = Patience()

    with listening(blog, patience) as heard:
        making.make_due(heard)

    assert len(patience.most_ms) >= 3
    assert min(patience.most_ms) > 10 * OPERATION_TIMEOUT_MS


def test_a_late_hit_joins_two_sessions_and_none_is_left_over(
    blog: Runtime, publisher: Client
) -> None:
    count(blog, view(1, MORNING, "/1"), view(3, MORNING + 40 * MINUTE, "/3"))
    making.make_due(blog)
    assert len(sessions(blog)) == 2

    count(blog, view(2, MORNING + 20 * MINUTE, "/2"))
    making.make_due(blog)

    assert sessions(blog) == [("ann:1", "/1", "/3", 3, 40)]
    for by in ("hour", "day", "week", "month", "year"):
        (row,) = report(publisher, by)
        assert (row["sessions"], row["hits"], row["seconds_mean"]) == (1, 3, 2_400)


def test_a_day_that_takes_too_long_keeps_no_other_from_its_sessions(
    blog: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    count(blog, view(1, MORNING - DAY, "/1"), view(2, MORNING, "/2"))
    make, tried = making.make, 0

    def take_too_long(database: Any, log: Any, span: Any, name: str) -> None:
        nonlocal tried
        if span.start < MORNING - timedelta(hours=12):
            tried += 1
            raise ExecutionTimeout("operation exceeded time limit", 50)
        make(database, log, span, name)

    with monkeypatch.context() as patched:
        patched.setattr(making, "make", take_too_long)
        for minutes in (0, 17, 17):
            clock.advance(minutes=minutes)
            with pytest.raises(ExecutionTimeout) if not minutes else contextlib.nullcontext():
                making.make_due(blog)
        assert ([each[1] for each in sessions(blog)], tried) == (["/2"], 1)

    clock.advance(hours=6)
    making.make_due(blog)
    assert [each[1] for each in sessions(blog)] == ["/1", "/2"]


def test_midnight_ends_every_session(runtime: Runtime, clock: Clock) -> None:
    site(runtime)
    midnight = at("2026-03-02")
    clock.time = midnight + DAY
    count(runtime, view(1, midnight - MINUTE), view(2, midnight))

    making.make_due(runtime)

    assert [each[0] for each in sessions(runtime)] == ["ann:1", "ann:1"]


def test_bots_and_those_who_object_make_no_session(blog: Runtime) -> None:
    count(blog, view(1, MORNING, kind="bot"), view(2, MORNING, visitor=None))

    making.make_due(blog)

    assert sessions(blog) == []


def test_an_hour_is_made_half_an_hour_after_its_end(runtime: Runtime, clock: Clock) -> None:
    site(runtime)
    clock.time = at("2026-03-01 11:59")
    count(runtime, view(1, at("2026-03-01 11:10")))

    made = []
    for _ in range(3):
        made.append(making.make_due(runtime)["session_days"])
        clock.advance(minutes=15)
        made.append(len(sessions(runtime)))
    making.make_due(runtime)

    # At 11:59, 12:14 and 12:29 it is not past; at 12:44 it is.
    assert made[1::2] == [0, 0, 0]
    assert len(sessions(runtime)) == 1


def test_nothing_is_made_again_that_has_not_changed(runtime: Runtime, clock: Clock) -> None:
    site(runtime)
    count(runtime, view(1, MORNING))

    assert [making.make_due(runtime)["session_days"] for _ in range(3)] == [1, 0, 0]
    clock.advance(days=1)
    # The day is over: it is made once more, up to its end.
    assert [making.make_due(runtime)["session_days"] for _ in range(2)] == [1, 0]
    assert runtime.database["hit.due"].count_documents({"site": SITE}) == 0
    count(runtime, view(2, MORNING + MINUTE))
    assert [making.make_due(runtime)["session_days"] for _ in range(2)] == [1, 0]
    assert sessions(runtime)[0][3] == 2


def test_periods_are_sums_and_means_are_made_of_sums(
    runtime: Runtime, clock: Clock, publisher: Client
) -> None:
    """Two sessions of 10 minutes on one day, one of an hour and a bounce on another month's."""
    site(runtime)
    clock.time = at("2026-03-05")
    first, second = at("2026-02-28 10:00"), at("2026-03-02 10:00")
    hits = [("a", first, 0), ("a", first, 10), ("b", first, 5), ("b", first, 15)]
    hits += [("c", second, 0), ("c", second, 25), ("c", second, 50), ("d", second, 70)]
    clock.time = at("2026-03-02 12:00")
    count(
        runtime,
        *(
            view(n, day + minutes * MINUTE, f"/{who}{minutes}", visitor=who)
            for n, (who, day, minutes) in enumerate(hits)
            if day == second
        ),
    )
    clock.time = at("2026-02-28 12:00")
    count(
        runtime,
        *(
            view(n, day + minutes * MINUTE, f"/{who}{minutes}", visitor=who)
            for n, (who, day, minutes) in enumerate(hits)
            if day == first
        ),
    )
    clock.time = at("2026-03-05")
    making.make_due(runtime)

    told = {
        by: [
            (row["period"][:13], row["sessions"], row["seconds_mean"], row["bounce_rate"])
            for row in report(publisher, by)
        ]
        for by in ("hour", "day", "week", "month", "year")
    }
    assert told == {
        "hour": [
            ("2026-02-28T10", 2, 600, 0),
            ("2026-03-02T10", 1, 3_000, 0),
            ("2026-03-02T11", 1, 0, 1),
        ],
        "day": [("2026-02-28T00", 2, 600, 0), ("2026-03-02T00", 2, 1_500, 0.5)],
        "week": [("2026-02-23T00", 2, 600, 0), ("2026-03-02T00", 2, 1_500, 0.5)],
        "month": [("2026-02-01T00", 2, 600, 0), ("2026-03-01T00", 2, 1_500, 0.5)],
        "year": [("2026-01-01T00", 4, 1_050, 0.25)],
    }
    (year,) = report(publisher, "year")
    assert year["entries"] == [
        {"path": f"/{who}", "sessions": 1} for who in ("a0", "b5", "c0", "d70")
    ]
    assert [page["path"] for page in year["exits"]] == ["/a10", "/b15", "/c50", "/d70"]


def test_a_users_report_is_the_same_rows_with_the_user(runtime: Runtime, publisher: Client) -> None:
    site(runtime)
    assert (
        publisher.get(f"/stats/{SITE}/sessions?from=2026-03-01&to=2026-03-02&group=user").code
        == "no_user_reports"
    )
    site(runtime, user_reports=True)
    count(
        runtime,
        view(1, MORNING, visitor="a", user="ann"),
        view(2, MORNING + MINUTE, visitor="a", user="ann"),
        view(3, MORNING, visitor="b", user="bob"),
        view(4, MORNING, visitor="c"),
    )

    making.make_due(runtime)

    for by in ("hour", "day", "year"):
        rows = report(publisher, by, group="user")
        assert [(row["user_id"], row["sessions"], row["hits"]) for row in rows] == [
            ("ann", 1, 2),
            ("bob", 1, 1),
        ]
        assert [row["sessions"] for row in report(publisher, by)] == [3]
    first = publisher.get(
        f"/stats/{SITE}/sessions?from=2026-03-01&to=2026-03-02&group=user&limit=1"
    ).json
    rest = publisher.get(
        f"/stats/{SITE}/sessions?from=2026-03-01&to=2026-03-02&group=user&limit=1"
        f"&cursor={first['next']}"
    ).json
    assert [row["user_id"] for row in first["rows"] + rest["rows"]] == ["ann", "bob"]
    assert rest["next"] is None


def test_a_maker_that_died_is_taken_over_when_its_lease_is_over(
    runtime: Runtime, clock: Clock
) -> None:
    site(runtime)
    count(runtime, view(1, MORNING))
    held = clock() + making.LEASE
    runtime.database["hit.due"].insert_one(
        {"_id": f"{SITE}/20260301", "site": SITE, "day": at("2026-03-01"), "leased_until": held}
    )

    assert making.make_due(runtime)["session_days"] == 0
    clock.time = held
    assert making.make_due(runtime)["session_days"] == 1


def test_two_days_of_a_site_are_made_one_after_the_other(
    runtime: Runtime, clock: Clock, publisher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each makes their month of its days, and would lose a day that comes in between."""
    site(runtime)
    count(runtime, view(1, MORNING))
    clock.advance(days=2)
    replace = rolling._replace

    def meet(*given: Any) -> None:
        if given[2] == "month":
            monkeypatch.undo()
            count(runtime, view(2, MORNING + DAY))
            making.make_due(runtime)
        replace(*given)

    monkeypatch.setattr(rolling, "_replace", meet)
    make_all(runtime, clock)

    assert [row["sessions"] for row in report(publisher, "month") if row["sessions"]] == [2]
    assert runtime.database["hit.due"].count_documents({"leased_until": {"$exists": True}}) == 0


@pytest.mark.parametrize("level", ["week", "month", "year", "hour", "day"])
def test_a_run_that_dies_while_a_user_leaves_a_day_is_made_good(
    runtime: Runtime,
    clock: Clock,
    publisher: Client,
    monkeypatch: pytest.MonkeyPatch,
    level: str,
) -> None:
    site(runtime, user_reports=True)
    count(runtime, view(1, MORNING, "/spam", user="ann"), view(2, MORNING + DAY, user="ann"))
    clock.advance(days=2)
    make_all(runtime, clock)
    assert publisher.delete(f"/stats/{SITE}?path=/spam").status == 204
    replace = rolling._replace

    def die(*given: Any) -> None:
        if given[1].users == ["ann"] and given[2] == level:
            monkeypatch.undo()
            raise RuntimeError("the run ends here")
        replace(*given)

    monkeypatch.setattr(rolling, "_replace", die)
    with contextlib.suppress(RuntimeError):
        make_all(runtime, clock)
    clock.advance(minutes=20)
    make_all(runtime, clock)

    for by in ("week", "month", "year"):
        rows = PERIODS[by].of(runtime.database).find({"user": "ann"})
        assert sum(row["sessions"] for row in rows) == 1
    assert PERIODS["hour"].of(runtime.database).count_documents({"user": "ann"}) == 1


def test_a_site_that_is_being_moved_has_its_turn_later(runtime: Runtime, clock: Clock) -> None:
    site(runtime)
    count(runtime, view(1, MORNING))
    start_move(runtime)
    clock.advance(minutes=2)
    moving.sweep(runtime)

    assert making.make_due(runtime)["session_days"] == 0
    clock.advance(minutes=2)
    moving.sweep(runtime)

    assert making.make_due(runtime)["session_days"] == 1
    assert len(sessions(runtime)) == 1


def test_what_the_log_no_longer_holds_is_not_made_anew(runtime: Runtime, clock: Clock) -> None:
    site(runtime, keep_days=15)
    count(runtime, view(1, MORNING), view(2, MORNING + MINUTE))
    making.make_due(runtime)
    clock.advance(days=10)
    making.make_due(runtime)
    clock.advance(days=4, hours=19)
    # The hit is of the last hour that is counted at all, in the last day that is kept.
    count(runtime, view(3, at("2026-03-01 08:30")))
    runtime.database["hit.event"].delete_many({})
    clock.advance(days=1)

    making.make_due(runtime)

    assert sessions(runtime)[0][3] == 2


def test_sessions_go_a_day_after_their_hits_and_their_periods_stay(
    runtime: Runtime, clock: Clock, publisher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is of a single visit, as its hits are."""
    monkeypatch.setattr(making, "_REMOVED_AT_ONCE", 1)
    site(runtime, keep_days=15)
    count(runtime, view(1, MORNING), view(2, MORNING, visitor="bob"))
    clock.advance(days=1)
    make_all(runtime, clock)
    made = len(sessions(runtime))
    clock.time = at("2026-03-18") - timedelta(milliseconds=1)
    assert jobs.tend(runtime)["sessions_removed"] == 0
    clock.advance(seconds=1)

    assert jobs.tend(runtime)["sessions_removed"] == made > 1

    assert sessions(runtime) == []
    assert [row["sessions"] for row in report(publisher, "month") if row["sessions"]] == [made]


def make_all(runtime: Runtime, clock: Clock) -> None:
    """Make all sessions that are due."""
    for _ in range(3):
        jobs.roll_up(runtime)
        clock.advance(minutes=20)


def test_more_days_to_keep_unmake_no_session_of_a_day_that_the_log_has_lost(
    runtime: Runtime, clock: Clock, publisher: Client
) -> None:
    site(runtime, keep_days=15)
    count(runtime, view(1, MORNING, "/a"), view(2, MORNING + MINUTE, "/spam"))
    clock.advance(days=1)
    make_all(runtime, clock)
    # The server deletes them by their time.
    clock.advance(days=20)
    runtime.database["hit.event"].delete_many({})
    site(runtime, keep_days=90)

    assert publisher.delete(f"/stats/{SITE}?path=/spam").status == 204
    make_all(runtime, clock)

    assert [each[3] for each in sessions(runtime)] == [2]
    assert [row["sessions"] for row in report(publisher, "month") if row["sessions"]] == [1]


def test_a_move_from_a_log_that_had_lost_hits_unmakes_no_session(
    runtime: Runtime, clock: Clock, publisher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    site(runtime, "capped")
    pages = ["/a", "/b", "/spam"]
    for day in range(2):
        at = MORNING + day * DAY
        views = enumerate(pages, 1 + day * len(pages))
        count(runtime, *(view(number, at + number * MINUTE, page) for number, page in views))
    clock.advance(days=2)
    make_all(runtime, clock)
    # Newer hits push out the oldest.
    monkeypatch.setattr(capped, "_NEARLY_FULL", 0)
    lost = {"_id": f"{SITE}:hit-{1:012}"}
    assert runtime.database["hit.capped"].delete_many(lost).deleted_count == 1
    start_move(runtime)
    for _ in range(3):
        clock.advance(minutes=5)
        moving.sweep(runtime)

    assert publisher.delete(f"/stats/{SITE}?path=/spam").status == 204
    make_all(runtime, clock)

    # The few hits that came first do not show that the second day is whole.
    assert [each[3] for each in sessions(runtime)] == [3, 3]


def test_a_site_whose_hits_are_gone_from_the_log_keeps_its_sessions(
    runtime: Runtime, clock: Clock, publisher: Client
) -> None:
    """As where `keep_days` was raised by a release that noted nothing."""
    site(runtime)
    count(runtime, view(1, MORNING, "/a"), view(2, MORNING + MINUTE, "/spam"))
    clock.advance(days=1)
    make_all(runtime, clock)
    runtime.database["hit.event"].delete_many({})

    assert publisher.delete(f"/stats/{SITE}?path=/spam").status == 204
    make_all(runtime, clock)

    assert [each[3] for each in sessions(runtime)] == [2]


def test_a_site_without_hits_in_a_log_that_pushes_out_has_sessions_on_the_day_of_a_move(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (SITE, "other"):
        site(runtime, "capped", name=name)
    count(runtime, view(1, clock() - DAY, site="other"))
    monkeypatch.setattr(capped, "_NEARLY_FULL", 0)
    start_move(runtime)
    for _ in range(2):
        clock.advance(minutes=5)
        moving.sweep(runtime)
        count(runtime, view(clock().minute, clock()))
    clock.advance(minutes=5)
    moving.sweep(runtime)
    assert "moving" not in (SITES.of(runtime.database).find_one({"_id": SITE}) or {})
    clock.advance(days=1)

    make_all(runtime, clock)

    assert len(sessions(runtime)) == 1


def test_one_hit_that_came_late_hides_no_loss_of_the_capped_log(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capped, "_NEARLY_FULL", 0)
    site(runtime, "capped")
    # The hits before these were pushed out.
    count(runtime, view(1, MORNING - DAY))
    count(runtime, *(view(n, MORNING + n * MINUTE) for n in range(2, 5)))

    (log,) = logs(runtime)

    today = MORNING.replace(hour=0)
    assert not log.holds(today)
    assert log.holds(today + DAY)


@pytest.mark.parametrize(
    ("level", "start", "end"),
    [
        ("week", "2025-12-29", "2026-01-05"),
        ("month", "2026-02-01", "2026-03-01"),
        ("month", "2026-12-01", "2027-01-01"),
        ("year", "2026-01-01", "2027-01-01"),
        ("year", "2028-01-01", "2029-01-01"),
        ("hour", "2026-03-01", "2026-03-01 01:00"),
    ],
)
def test_a_period_has_a_beginning_and_an_end(level: Any, start: str, end: str) -> None:
    begins: datetime = at(start)

    assert end_of(level, begins) == at(end)
    assert start_of(level, at(end) - timedelta(milliseconds=1)) == begins
    assert start_of(level, at(end)) == at(end)


@pytest.mark.parametrize(
    "query",
    ["from=2026-03-02&to=2026-03-01", "from=2026-03-01&to=2026-03-02&by=minute", "from=2026-03-01"],
)
def test_a_bad_question_is_refused(runtime: Runtime, publisher: Client, query: str) -> None:
    site(runtime)

    assert publisher.get(f"/stats/{SITE}/sessions?{query}").code == "invalid_request"
