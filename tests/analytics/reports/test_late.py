"""Hits follow a late name however busy it is, and a name without such hits costs little."""

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.analytics.hits import OTHER
from chalicelib.analytics.logs.capped import CappedLog
from chalicelib.analytics.logs.expiring import ExpiringLog
from chalicelib.analytics.reports import late
from chalicelib.analytics.reports.days import DAYS
from chalicelib.analytics.settings import LogName
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import SITE, at, count, rows, site, view

NOON = at("2026-03-01 12:00")
DAY = timedelta(days=1)
NUMBERS = itertools.count()
# One name by one network; each other name needs two.
ROOM = {"paths": 6, "paths_of_one": 1, "paths_of_network": 6}


def hit(runtime: Runtime, path: str, network: str, **told: Any) -> None:
    told.setdefault("ts", runtime.now())
    told.setdefault("visitor", network)
    count(runtime, view(next(NUMBERS), told.pop("ts"), path, network=network, **told))


@pytest.fixture(params=["expiring", "capped"])
def log(request: pytest.FixtureRequest) -> LogName:
    """A log of either kind: with the counts in one transaction, and with receipts."""
    name: LogName = request.param
    return name


@pytest.fixture
def blog(runtime: Runtime, log: LogName) -> Runtime:
    """A blog whose day has refused hits of `/x`, and then admitted it."""
    site(runtime, log)
    hit(runtime, "/known", "n1")
    for number in range(20):
        hit(runtime, "/x", "n1", visitor=f"v{number % 4}")
    hit(runtime, "/x", "n1", kind="bot", visitor=None)
    hit(runtime, "/x", "n2")
    return runtime


def named(runtime: Runtime) -> dict[str, tuple[int, int, int]]:
    day = NOON.replace(hour=0)
    found = rows(runtime, day, day + DAY, group="path")
    return {row["key"]: (row["hits"], row["visitors"], row["bots"]) for row in found}


def wait(runtime: Runtime, seconds: int = 90) -> None:
    runtime.now.advance(seconds=seconds)  # type: ignore[attr-defined]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows of each answer of a log."""
    numbers: list[int] = []
    for kind in (ExpiringLog, CappedLog):
        monkeypatch.setattr(kind, "aggregate", _counting(kind.aggregate, numbers))
    return numbers


def _counting(aggregate: Any, numbers: list[int]) -> Any:
    def counted(*told: Any) -> Iterator[Any]:
        found = list(aggregate(*told))
        numbers.append(len(found))
        yield from found

    return counted


@pytest.mark.bounds(analytics=ROOM)
def test_hits_follow_a_name_that_is_counted_all_the_while(
    blog: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait(blog, 300)
    read = late._counts

    def meanwhile(*told: Any) -> Any:
        found = read(*told)
        hit(blog, "/x", "n3")
        return found

    monkeypatch.setattr(late, "_counts", meanwhile)

    assert late.follow(blog) == 1
    assert named(blog) == {"/known": (1, 1, 0), "/x": (22, 6, 1)}
    assert late.LATE.of(blog.database).count_documents({}) == 0


@pytest.mark.bounds(analytics=ROOM)
@pytest.mark.parametrize("log", ["expiring"], indirect=True)
def test_hits_of_a_minute_are_read_as_one_number(blog: Runtime, read: list[int]) -> None:
    wait(blog)

    assert late.follow(blog) == 1

    # The views and the bots; and the views again, for their visitors.
    assert read == [2, 21]


@pytest.mark.bounds(analytics=ROOM)
def test_a_log_with_receipts_is_read_some_hits_at_a_time(
    blog: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(late, "_HITS_AT_ONCE", 3)
    monkeypatch.setattr("chalicelib.analytics.reports.people._FOLLOWED_AT_ONCE", 2)
    wait(blog)

    assert late.follow(blog) == 1

    assert named(blog) == {"/known": (1, 1, 0), "/x": (21, 5, 1)}


@pytest.mark.bounds(analytics=ROOM)
def test_a_name_with_no_hit_in_other_reads_no_visitor(blog: Runtime, read: list[int]) -> None:
    hit(blog, "/junk", "n9")
    wait(blog)
    late.follow(blog)
    again = {"_id": f"{SITE}//x/20260301/0", "site": SITE, "day": NOON.replace(hour=0)}
    noted: Any = {**again, "value": "/x", "at": blog.now()}
    late.LATE.of(blog.database).insert_one(noted)
    wait(blog)
    read.clear()

    assert late.follow(blog) == 0

    assert len(read) == 1
    assert late.LATE.of(blog.database).count_documents({}) == 0
    assert named(blog)[OTHER][0] == 1


@pytest.mark.bounds(analytics=ROOM)
def test_a_day_whose_other_is_empty_reads_no_log(blog: Runtime, read: list[int]) -> None:
    DAYS.of(blog.database).delete_many({"site": SITE, "path": OTHER})
    wait(blog)

    assert late.follow(blog) == 0

    assert read == []
    assert late.LATE.of(blog.database).count_documents({}) == 0
