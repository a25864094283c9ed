"""One contract of the four logs, over both layouts: what is counted, kept, read and forgotten."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from chalicelib.analytics.errors import LogCannotForget
from chalicelib.analytics.hits import OTHER, rows_of
from chalicelib.analytics.logs import receipts, together
from chalicelib.analytics.logs import rows as of_rows
from chalicelib.analytics.logs.log import HitPosition, Span
from chalicelib.analytics.settings import LayoutName, LogName
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import (
    LAYOUTS,
    LOGS,
    SITE,
    at,
    count,
    differences,
    hits_by,
    logs,
    rows,
    site,
    view,
    worker,
)
from tests.support.commands import Commands, listening

NOON = at("2026-03-01 12:00")
DAY = timedelta(days=1)
TODAY = (at("2026-03-01"), at("2026-03-02"))


@pytest.fixture(params=[(log, layout) for log in LOGS for layout in LAYOUTS], ids="-".join)
def blog(runtime: Runtime, request: pytest.FixtureRequest) -> Runtime:
    """A site in each log and layout."""
    log, layout = request.param
    site(runtime, log, layout)
    return runtime


@pytest.fixture(params=LOGS)
def logged(runtime: Runtime, request: pytest.FixtureRequest) -> Runtime:
    """A site in each log."""
    site(runtime, request.param)
    return runtime


def test_a_hit_counts_for_its_path_and_its_site(blog: Runtime) -> None:
    assert count(blog, view(1, NOON), view(2, NOON, "/b"), view(3, NOON, "/b", visitor="bob")) == 3

    (whole,) = rows(blog, *TODAY)
    assert (whole["hits"], whole["visitors"]) == (3, 2)
    by_path = rows(blog, *TODAY, group="path")
    assert [(row["key"], row["hits"], row["visitors"]) for row in by_path] == [
        ("/a", 1, 1),
        ("/b", 2, 2),
    ]
    assert differences(blog, NOON) == []


def test_repeats_within_a_batch_and_in_later_ones_count_once(blog: Runtime) -> None:
    hit = view(1, NOON)

    assert [count(blog, hit, hit, hit), count(blog, hit), count(blog, hit, view(2, NOON))] == [
        1,
        0,
        1,
    ]

    assert rows(blog, *TODAY)[0]["hits"] == 2
    assert differences(blog, NOON) == []


def test_a_repeat_that_says_another_time_or_page_counts_once(blog: Runtime) -> None:
    midnight = at("2026-03-02")
    again = [view(1, midnight), view(1, NOON, "/b")]
    blog.now.advance(days=1)  # type: ignore[attr-defined]

    assert [count(blog, view(1, midnight - timedelta(seconds=1)))] + [
        count(blog, each) for each in again[:1]
    ] == [1, 0]

    assert differences(blog, NOON, midnight) == []


@pytest.mark.parametrize("log", ["timeseries", "capped"])
def test_of_two_hits_with_one_id_that_is_counted_which_was_claimed_first(
    runtime: Runtime, log: LogName
) -> None:
    """Its worker died after the claim; another page's hit of that id comes before the repeat."""
    site(runtime, log)
    first, other = view(1, NOON), view(1, NOON + timedelta(minutes=5), "/b")
    assert len(receipts.claim(runtime.database, rows_of(first))) == 1

    assert [count(runtime, other), count(runtime, first), count(runtime, other)] == [0, 1, 0]

    assert [row["key"] for row in rows(runtime, *TODAY, group="path")] == ["/a"]
    assert differences(runtime, NOON) == []


def test_a_batch_that_many_workers_take_at_once_counts_once(logged: Runtime) -> None:
    batch = [view(n % 30, NOON, f"/{n % 3}", visitor=f"v{n % 7}") for n in range(60)]

    def work(number: int) -> int:
        mine = random.Random(number).sample(batch, len(batch))
        return worker(logged, number).count(mine)

    with ThreadPoolExecutor(4) as pool:
        new = list(pool.map(work, range(4)))

    assert sum(new) == 30
    assert rows(logged, *TODAY)[0]["hits"] == 30
    assert differences(logged, NOON) == []


def test_late_hits_and_hits_out_of_order_fall_into_their_own_minute(blog: Runtime) -> None:
    times = ["23:59", "00:00", "12:30", "12:29"]

    count(blog, view(1, at("2026-02-28 23:59")), view(2, at(f"2026-03-01 {times[2]}")))
    count(blog, view(3, at("2026-03-01 00:00")), view(4, at(f"2026-03-01 {times[3]}")))

    span = (at("2026-02-28"), at("2026-03-02"))
    assert hits_by(rows(blog, *span)) == [("02-28 00:00", 1), ("03-01 00:00", 3)]
    assert hits_by(rows(blog, *span, by="minute")) == [
        ("02-28 23:59", 1),
        ("03-01 00:00", 1),
        ("03-01 12:29", 1),
        ("03-01 12:30", 1),
    ]
    assert differences(blog, NOON, NOON - DAY) == []


def test_a_year_ends_at_midnight_of_the_readers_zone(blog: Runtime) -> None:
    blog.now.time = at("2026-01-01 12:00")  # type: ignore[attr-defined]
    count(blog, view(1, at("2025-12-31 15:59")), view(2, at("2025-12-31 16:00")))

    span = (at("2025-01-01"), at("2027-01-01"))
    assert hits_by(rows(blog, *span, by="year")) == [("01-01 00:00", 2)]
    assert hits_by(rows(blog, *span, by="year", tz="Asia/Shanghai")) == [
        ("12-31 16:00", 1),
        ("12-31 16:00", 1),
    ]


@pytest.mark.parametrize(
    ("zone", "edge"),
    [("Asia/Kolkata", "18:30"), ("Asia/Kathmandu", "18:15"), ("America/St_Johns", "03:30")],
)
def test_a_day_of_a_zone_with_half_an_hour_is_exact(blog: Runtime, zone: str, edge: str) -> None:
    midnight = at(f"2026-03-01 {edge}")
    minute = timedelta(minutes=1)

    count(
        blog,
        view(1, midnight - minute),
        view(2, midnight),
        view(3, midnight + minute, kind="bot"),
    )

    found = rows(blog, midnight - DAY, midnight + DAY, tz=zone)
    assert [(row["period"], row["hits"], row["bots"]) for row in found] == [
        (midnight - DAY, 1, 0),
        (midnight, 1, 1),
    ]


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "Asia/Kathmandu"])
def test_a_zones_midnight_within_an_hour_is_exact_in_a_span_of_whole_hours(
    runtime: Runtime, zone: str
) -> None:
    site(runtime)
    midnight = at("2026-03-01 18:30") if zone == "Asia/Kolkata" else at("2026-03-01 18:15")
    count(runtime, view(1, midnight - timedelta(minutes=1)), view(2, midnight))

    found = rows(runtime, at("2026-03-01"), at("2026-03-03"), tz=zone)

    assert [(row["period"], row["hits"]) for row in found] == [(midnight - DAY, 1), (midnight, 1)]


@pytest.mark.parametrize(
    ("date", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)]
)
def test_days_of_23_and_25_hours_have_them_all(blog: Runtime, date: str, hours: int) -> None:
    """Berlin's: the days at whose night the clocks change."""
    offset = timedelta(hours=1 if date == "2026-03-29" else 2)
    start = at(date) - offset
    blog.now.time = start + 2 * DAY  # type: ignore[attr-defined]
    count(blog, *(view(n, start + timedelta(hours=n)) for n in range(-1, hours + 1)))

    zone = {"tz": "Europe/Berlin"}
    found = rows(blog, start - DAY, start + 3 * DAY, **zone)
    assert {row["period"]: row["hits"] for row in found}[start] == hours
    by_hour = rows(blog, start, start + timedelta(hours=hours), by="hour", **zone)
    assert [row["hits"] for row in by_hour] == [1] * hours


@pytest.mark.parametrize(
    "zone", ["Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Australia/Lord_Howe", "UTC"]
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_zones_periods_are_the_same_wherever_they_are_summed(
    runtime: Runtime, layout: LayoutName, zone: str
) -> None:
    """One path's are summed here, those of all paths on the server."""
    site(runtime, layout=layout)
    runtime.now.time = at("2026-04-08")  # type: ignore[attr-defined]
    # Over the nights of March and April in which clocks change.
    times = [at("2026-03-25") + timedelta(minutes=97 * n) for n in range(200)]
    count(runtime, *(view(n, time, visitor=f"v{n}") for n, time in enumerate(times)))
    count(runtime, *(view(n, time, kind="bot") for n, time in enumerate(times[::3], 500)))

    span = (at("2026-03-25 05:30"), at("2026-04-06 17:00"))
    for by in ("day", "week", "month", "year"):
        here = rows(runtime, *span, by=by, tz=zone, path="/a", group="path")
        there = rows(runtime, *span, by=by, tz=zone, group="path")
        assert here == there
        assert sum(row["bots"] for row in here) > 0


@pytest.mark.bounds(analytics={"paths": 2, "sources": 1})
def test_names_beyond_a_days_number_are_other(blog: Runtime) -> None:
    count(blog, *(view(n, NOON, f"/{n}", ref=f"r{n}.example") for n in range(4)))
    count(blog, view(9, NOON, "/9"), view(10, NOON, "/0"))

    by_path = rows(blog, *TODAY, group="path")
    assert [(row["key"], row["hits"]) for row in by_path] == [(OTHER, 3), ("/0", 2), ("/1", 1)]
    sources = rows(blog, *TODAY, group="referrer")
    assert [(row["key"], row["hits"]) for row in sources] == [(OTHER, 3), ("r0.example", 1)]
    assert rows(blog, *TODAY)[0]["hits"] == 6
    assert differences(blog, NOON) == []


def test_bots_and_feeds_are_counted_apart(blog: Runtime) -> None:
    count(blog, view(1, NOON, kind="bot"), view(2, NOON, kind="feed"), view(3, NOON))

    (row,) = rows(blog, *TODAY)
    assert (row["hits"], row["bots"], row["feeds"], row["visitors"]) == (1, 1, 1, 1)
    assert differences(blog, NOON) == []


def test_hits_are_read_by_time_page_by_page(logged: Runtime) -> None:
    hits = [view(n, NOON + timedelta(hours=7 * (n % 5)), f"/{n % 2}") for n in range(10)]
    logged.now.advance(days=2)  # type: ignore[attr-defined]
    count(logged, *hits)
    (log,) = logs(logged)
    span, found, after = Span(SITE, TODAY[0], TODAY[1] + DAY), [], None

    while page := log.read(span, after, 3):
        found += page
        after = HitPosition(page[-1]["ts"], page[-1]["_id"])

    assert [(hit["ts"], hit["_id"]) for hit in found] == sorted(
        (each.hits[0].ts, f"{SITE}:{each.hits[0].id}") for each in hits
    )
    of_path = log.read(span._replace(path="/1"), None, 100)
    assert {hit["path"] for hit in of_path} == {"/1"}
    assert len(of_path) == 5
    assert len(list(together.each([log], span))) == 10


def test_a_hit_has_all_that_was_reported(logged: Runtime) -> None:
    told = {"ref": "r.example", "campaign": "a/b/c", "node": "n", "title": "T", "country": "DE"}
    count(logged, view(1, NOON, **told))

    (hit,) = logs(logged)[0].read(Span(SITE, *TODAY), None, 10)

    assert hit.items() >= {"path": "/a", "visitor": "ann", "device": "desktop", **told}.items()
    assert hit["_id"] == f"{SITE}:hit-000000000001"


def test_a_log_says_what_a_site_has_in_it(logged: Runtime) -> None:
    (log,) = logs(logged)
    site(logged, name="other")
    assert log.size(SITE) == {"hits": 0, "bytes": 0, "index_bytes": 0, "oldest": None}

    count(logged, *(view(n, NOON + timedelta(minutes=n)) for n in range(5)))

    size = log.size(SITE)
    assert (size["hits"], size["oldest"]) == (5, NOON)
    assert size["bytes"] > 0
    assert log.size("other")["hits"] == 0


def test_a_size_counts_up_to_a_bound(logged: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    count(logged, *(view(n, NOON) for n in range(5)))
    (log,) = logs(logged)
    whole = log.size(SITE)

    monkeypatch.setattr(of_rows, "MOST_COUNTED", 3)

    assert log.size(SITE)["hits"] == 3
    assert log.size(SITE)["oldest"] == NOON
    assert 0 < log.size(SITE)["bytes"] <= whole["bytes"]


def test_a_path_is_removed_unless_the_log_cannot(logged: Runtime) -> None:
    count(logged, view(1, NOON), view(2, NOON, "/spam"))
    (log,) = logs(logged)

    if not log.can_forget:
        with pytest.raises(LogCannotForget):
            log.remove(SITE, "/spam")
        return
    log.remove(SITE, "/spam")

    assert [hit["path"] for hit in log.read(Span(SITE, *TODAY), None, 10)] == ["/a"]


def test_a_site_is_removed_and_no_other(logged: Runtime) -> None:
    kept = logs(logged)[0].name
    site(logged, kept, name="other")
    count(logged, view(1, NOON), view(1, NOON, site="other"))

    logs(logged)[0].remove(SITE)

    assert logs(logged)[0].read(Span(SITE, *TODAY), None, 10) == []
    assert len(logs(logged)[0].read(Span("other", *TODAY), None, 10)) == 1


@pytest.mark.parametrize("log", ["expiring", "rotating", "capped"])
def test_many_hits_of_a_site_or_a_path_are_removed_in_parts(
    runtime: Runtime, log: LogName, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_rows, "AT_ONCE", 2)
    site(runtime, log)
    # Three of one instant are in one part.
    times = [NOON] * 3 + [NOON + timedelta(minutes=n) for n in range(1, 5)]
    count(runtime, *(view(n, time) for n, time in enumerate(times)))
    count(runtime, *(view(10 + n, time, "/spam") for n, time in enumerate(times)))
    deletes = Commands()

    with listening(runtime, deletes) as heard:
        logs(heard)[0].remove(SITE, "/spam")

    assert deletes.names.count("delete") == 4
    (found,) = logs(runtime)
    assert [hit["path"] for hit in found.read(Span(SITE, *TODAY), None, 99)] == ["/a"] * 7
    found.remove(SITE)
    assert found.read(Span(SITE, *TODAY), None, 99) == []


@pytest.mark.parametrize("log", ["expiring", "rotating", "capped"])
def test_a_user_is_forgotten_and_nobody_else(runtime: Runtime, log: LogName) -> None:
    site(runtime, log, user_reports=True)
    count(runtime, view(1, NOON, user="zed"), view(2, NOON - DAY, user="zed"), view(3, NOON))
    (kept,) = logs(runtime)
    found = [row for rows_, where in kept.of_user("zed") for row in rows_.find(where)]
    assert len(found) == 2

    kept.forget("zed")

    left = kept.read(Span(SITE, TODAY[0] - DAY, TODAY[1]), None, 10)
    assert [hit.get("user") for hit in left] == [None]


@pytest.mark.parametrize("reports", [True, False])
def test_a_time_series_keeps_no_user(runtime: Runtime, *, reports: bool) -> None:
    site(runtime, "timeseries", user_reports=reports)
    count(runtime, view(1, NOON, user="zed"))

    (hit,) = logs(runtime)[0].read(Span(SITE, *TODAY), None, 10)

    assert "user" not in hit


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_document_of_both_layouts_counts_in_both(runtime: Runtime, layout: LayoutName) -> None:
    first, second = LAYOUTS if layout == "flat" else reversed(LAYOUTS)
    runtime.random.seed(1)
    site(runtime, layout=first)
    count(runtime, *(view(n, NOON) for n in range(20)))
    runtime.database["hit.site"].update_one({"_id": SITE}, {"$set": {"layout": second}})
    count(runtime, *(view(n, NOON) for n in range(20, 50)))

    assert hits_by(rows(runtime, *TODAY, by="minute")) == [("03-01 12:00", 50)]
    assert differences(runtime, NOON) == []
