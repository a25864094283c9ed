"""Periods of every time zone of the world, the same wherever they are summed."""

import bisect
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from chalicelib import time_zones
from chalicelib.analytics.reports.report import Report
from chalicelib.runtime import Runtime
from chalicelib.time_zones import Period
from tests.analytics.support.hits import SITE, at, count, rows, site, view
from tests.support.http_client import Client

DAY, QUARTER = timedelta(days=1), timedelta(minutes=15)
ALL_ZONES = sorted(time_zones.names())
# A zone of each kind: the offset and the clocks of Almaty changed in 2024, Cairo has no midnight at
# a change, Havana two; Lord Howe's clocks change by half an hour, Casablanca's for Ramadan.
KINDS = (
    "UTC",
    "Asia/Almaty",
    "Africa/Cairo",
    "America/Havana",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "America/Santiago",
    "Asia/Kathmandu",
    "America/St_Johns",
    "Pacific/Chatham",
    "Antarctica/Troll",
    "Pacific/Kiritimati",
)


@cache
def changes(zone_name: str, year: int = 2026) -> tuple[datetime, ...]:
    """Return the instants at which a zone's offset changes in a year."""
    zone, found = ZoneInfo(zone_name), []
    at = datetime(year, 1, 1, tzinfo=UTC)
    while at.year == year:
        if at.astimezone(zone).utcoffset() != (at + DAY).astimezone(zone).utcoffset():
            quarters = (at + QUARTER * number for number in range(1, 97))
            before = at.astimezone(zone).utcoffset()
            found.append(next(t for t in quarters if t.astimezone(zone).utcoffset() != before))
        at += DAY
    return tuple(found)


def spans(zone: str) -> Iterator[tuple[datetime, datetime]]:
    """Yield three days around each change of a zone, or around a midday in March without any."""
    for change in changes(zone) or (at("2026-03-01 12:00"),):
        yield change - 1.5 * DAY, change + 1.5 * DAY


def evaluate(expression: Any, time: datetime) -> datetime:
    """Return the value of a search expression at an instant, as MongoDB does."""
    while not isinstance(expression, datetime):
        condition, before, after = expression["$cond"]
        assert condition["$lt"][0] == "$at"
        expression = before if time < condition["$lt"][1] else after
    return expression


def quarters(start: datetime, end: datetime) -> list[datetime]:
    return [start + QUARTER * number for number in range((end - start) // QUARTER)]


@pytest.mark.parametrize("by", ["hour", "day", "week", "month", "year"])
def test_the_database_finds_the_period_that_the_sum_finds_in_every_zone(by: Period) -> None:
    for zone in ALL_ZONES:
        for start, end in spans(zone):
            edges = time_zones.edges(by, start, end, zone)
            search = time_zones.start_of("$at", edges)
            assert edges == sorted(set(edges))
            assert edges[0] <= start
            for time in quarters(start, end):
                expected = edges[bisect.bisect_right(edges, time) - 1]
                assert evaluate(search, time) == expected, (zone, time)


def test_a_day_has_the_instants_of_its_date_in_every_zone() -> None:
    for zone in ALL_ZONES:
        for start, end in spans(zone):
            edges = time_zones.edges("day", start, end, zone)
            for edge, after in pairwise(edges):
                dates = {t.astimezone(ZoneInfo(zone)).date() for t in quarters(edge, after)}
                assert len(dates) == 1, (zone, edge)


def test_an_hour_is_of_one_hour_of_the_clock_in_every_zone() -> None:
    for zone in ALL_ZONES:
        for start, end in spans(zone):
            edges = time_zones.edges("hour", start, end, zone)
            for edge, after in pairwise(edges):
                local = [t.astimezone(ZoneInfo(zone)) for t in quarters(edge, after)]
                assert len({(t.date(), t.hour, t.utcoffset()) for t in local}) == 1, (zone, edge)
                assert after - edge <= timedelta(hours=1)


def test_every_edge_is_at_a_quarter_that_reports_count_by() -> None:
    for zone in ALL_ZONES:
        for edge in time_zones.edges("day", at("2024-01-01"), at("2027-01-01"), zone):
            assert (edge.minute % 15, edge.second) == (0, 0), (zone, edge)


@pytest.mark.parametrize("zone", KINDS)
def test_reports_by_group_and_of_one_have_the_same_rows(runtime: Runtime, zone: str) -> None:
    """A report of one path is summed here, one by path in the database."""
    site(runtime)
    for start, end in spans(zone):
        runtime.now.time = end + DAY  # type: ignore[attr-defined]
        day = f"{start:%m%d}"
        count(runtime, *(view(f"{day}{n}", t) for n, t in enumerate(quarters(start, end)[::2])))
        for by in ("hour", "day", "week", "month", "year"):
            span: Any = {"start": start, "end": end, "by": by, "tz": zone}
            edges = Report(site=SITE, **span).edges
            grouped = rows(runtime, **span, group="path")
            whole = rows(runtime, **span)
            assert [(row["period"], row["hits"]) for row in whole] == [
                (row["period"], row["hits"]) for row in grouped
            ]
            assert sum(row["hits"] for row in whole) == 144
            assert {row["period"] for row in whole} <= set(edges)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_a_day_whose_only_page_was_removed_has_no_row(
    runtime: Runtime, publisher: Client, zone: str
) -> None:
    site(runtime)
    count(runtime, view(1, at("2026-02-28 12:00"), path="/gone", kind="bot"))
    span: Any = {"start": at("2026-02-28"), "end": at("2026-03-01"), "by": "day", "tz": zone}
    assert publisher.delete(f"/stats/{SITE}?path=/gone").status == 204

    assert rows(runtime, **span) == []


@pytest.mark.parametrize("group", ["", "&group=path", "&group=device"])
def test_a_zone_is_known_or_not_whatever_the_group(
    runtime: Runtime, publisher: Client, group: str
) -> None:
    site(runtime)
    target = f"/stats/{SITE}?from=2026-03-01&to=2026-03-02{group}&tz="

    for zone in ALL_ZONES:
        assert publisher.get(target + zone.replace("+", "%2B")).status == 200, zone
    for zone in ("localtime", "Factory", "Mars/Olympus", "posix/UTC", "right/UTC"):
        assert publisher.get(target + zone).code == "invalid_request", zone


def test_the_second_pass_of_an_hour_is_an_hour_of_its_own(runtime: Runtime) -> None:
    site(runtime)
    runtime.now.time = at("2026-10-26")  # type: ignore[attr-defined]
    twice = (at("2026-10-25 00:30"), at("2026-10-25 01:30"))
    count(runtime, *(view(number, time) for number, time in enumerate(twice)))

    for group in (None, "path"):
        found = rows(
            runtime, at("2026-10-25"), at("2026-10-26"), by="hour", tz="Europe/Berlin", group=group
        )
        assert [(row["period"], row["hits"]) for row in found] == [
            (at("2026-10-25 00:00"), 1),
            (at("2026-10-25 01:00"), 1),
        ]
